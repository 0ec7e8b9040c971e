// Benchmark results as CSV with Liger-Kernel's fifteen columns: v0_baseline.csv, vN_results.csv, and the file that Liger's own
// benchmark scripts write. Fields are quoted as RFC 4180 says.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/profile.hpp"
#include "model/variant.hpp"

namespace hone::model {

// One line of the file, columns in their order. Quantiles are in `metric_unit`.
struct BenchmarkRow {
  std::string kernel_name, kernel_provider, kernel_operation_mode;
  std::string metric_name, metric_unit;
  std::string x_name, x_label, x_value;  // x_value: a number as written, or a name ("llama_3_8b")
  double y_value_50 = 0, y_value_20 = 0, y_value_80 = 0;
  std::string extra_benchmark_config_str;  // JSON text
  std::string gpu_name, timestamp, liger_version;
  bool operator==(const BenchmarkRow&) const = default;
};

std::string write_benchmark_csv(const std::vector<BenchmarkRow>& rows);

// Rows of the file, as they stand: other kernels, other devices and repeated measurements are for the caller to tell apart
// (rows_of_device). A header in another order or with more columns is read by name. A line that can not be a row costs itself
// and is told: too few or too many fields, a quantile that is no finite number, an unclosed quote (with what it swallows).
// Errors: no header, a missing column.
struct BenchmarkRows {
  std::vector<BenchmarkRow> rows;
  std::vector<std::string> left_out;  // "all.csv:4, y_value_50: 'nan' is no finite number"
};
base::Result<BenchmarkRows> read_benchmark_csv(const std::string& text, const std::string& where);

// The lines that were left out as one sentence, at most three of them by name; empty where there are none.
std::string left_out_text(const BenchmarkRows& read);

// Rows of one kernel measured on one device; of rows for the same point the last, which Liger's scripts append.
std::vector<BenchmarkRow> rows_of_device(const std::vector<BenchmarkRow>& rows, const std::string& kernel_name,
                                         const std::string& gpu_name);

// v0_baseline.csv: every row of the profile's tables.
std::vector<BenchmarkRow> baseline_rows(const Profile& profile);
// vN_results.csv: what was measured for a variant, its provider the variant's id, beside v0 from the same session.
std::vector<BenchmarkRow> result_rows(const Profile& profile, const std::string& variant, const std::string& timestamp,
                                      const std::vector<ResultRow>& results);

}  // namespace hone::model

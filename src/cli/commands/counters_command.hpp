// hone counters FILE.csv: a recorded Nsight Compute capture as a summary, class and evidence for each kernel.
#pragma once

#include <iosfwd>
#include <string>

#include "base/result.hpp"
#include "model/device_info.hpp"
#include "render/terminal/style.hpp"

namespace hone::cli {

struct CountersOptions {
  std::string file;
  std::string ceilings_file;  // --ceilings; empty: kernels are held against nominal peaks only
  std::string svg_folder;     // --svg; empty: no pictures
  bool json = false;
  render::Style style;
};

inline constexpr const char* kCountersSchema = "hone.counters/1";

// Prints the table, or the document {schema, kernels[...]} with --json, to `out`; errors to `err`. Returns the exit code.
int run_counters(const CountersOptions& options, std::ostream& out, std::ostream& err);

// Measured ceilings from a document: a saved profile.json, {"ceilings": {...}}, or the ceilings alone. Names the fault: those
// of a CPU are none of a GPU's capture. `device`: whose they are; empty where the document does not tell,
// as is `compute_capability`.
struct ReadCeilings {
  model::Ceilings ceilings;
  std::string device, compute_capability;
};
base::Result<ReadCeilings> read_ceilings(const std::string& json, const std::string& where);

}  // namespace hone::cli

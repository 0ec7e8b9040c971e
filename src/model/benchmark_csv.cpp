#include "model/benchmark_csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>

#include "model/json_value.hpp"

namespace hone::model {

namespace {

struct Column {
  const char* name;
  std::string BenchmarkRow::*text;
  double BenchmarkRow::*number;  // one of the two
};

constexpr std::array columns{Column{"kernel_name", &BenchmarkRow::kernel_name, nullptr},
                             Column{"kernel_provider", &BenchmarkRow::kernel_provider, nullptr},
                             Column{"kernel_operation_mode", &BenchmarkRow::kernel_operation_mode, nullptr},
                             Column{"metric_name", &BenchmarkRow::metric_name, nullptr},
                             Column{"metric_unit", &BenchmarkRow::metric_unit, nullptr},
                             Column{"x_name", &BenchmarkRow::x_name, nullptr},
                             Column{"x_label", &BenchmarkRow::x_label, nullptr},
                             Column{"x_value", &BenchmarkRow::x_value, nullptr},
                             Column{"y_value_50", nullptr, &BenchmarkRow::y_value_50},
                             Column{"y_value_20", nullptr, &BenchmarkRow::y_value_20},
                             Column{"y_value_80", nullptr, &BenchmarkRow::y_value_80},
                             Column{"extra_benchmark_config_str", &BenchmarkRow::extra_benchmark_config_str, nullptr},
                             Column{"gpu_name", &BenchmarkRow::gpu_name, nullptr},
                             Column{"timestamp", &BenchmarkRow::timestamp, nullptr},
                             Column{"liger_version", &BenchmarkRow::liger_version, nullptr}};

std::string csv_field(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

struct Record {
  std::vector<std::string> fields;
  std::size_t line = 0;  // where it begins, 1-based
};

struct Records {
  std::vector<Record> all;
  std::optional<std::size_t> unclosed;  // the line of a quote that never ends
};

// RFC 4180: fields in quotes may hold separators and line ends; two quotes stand for one. Empty lines are no records.
Records split_records(const std::string& text) {
  Records records;
  Record record{{""}, 1};
  std::size_t line = 1, quote_line = 0;
  bool in_quotes = false, was_quoted = false;
  const auto finish = [&] {
    if (record.fields.size() > 1 || !record.fields.front().empty() || was_quoted) records.all.push_back(record);
    record = {{""}, line};
    was_quoted = false;
  };
  for (std::size_t i = text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (in_quotes) {
      if (c != '"')
        record.fields.back() += c;
      else if (i + 1 < text.size() && text[i + 1] == '"')
        record.fields.back() += text[++i];
      else
        in_quotes = false;
    } else if (c == '"' && record.fields.back().empty()) {
      in_quotes = was_quoted = true;
      quote_line = line;
    } else if (c == ',') {
      record.fields.emplace_back();
    } else if (c == '\n') {
      finish();
    } else if (c != '\r' || (i + 1 < text.size() && text[i + 1] != '\n')) {
      record.fields.back() += c;
    }
  }
  if (in_quotes) records.unclosed = quote_line;
  finish();
  return records;
}

std::optional<double> finite(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

base::Error refuse(const std::string& expected, const std::string& found, const std::string& where, std::size_t line) {
  return {base::ErrorKind::preflight, expected, found, where + ":" + std::to_string(line),
          "run the benchmark again, or remove the line"};
}

}  // namespace

std::string write_benchmark_csv(const std::vector<BenchmarkRow>& rows) {
  std::string text;
  for (const Column& column : columns) text += (text.empty() ? "" : ",") + std::string(column.name);
  text += '\n';
  for (const BenchmarkRow& row : rows) {
    std::string line;
    for (const Column& column : columns) {
      if (&column != &columns.front()) line += ',';
      line += column.text != nullptr ? csv_field(row.*column.text) : shortest(row.*column.number);
    }
    text += line + '\n';
  }
  return text;
}

base::Result<BenchmarkRows> read_benchmark_csv(const std::string& text, const std::string& where) {
  Records records = split_records(text);
  BenchmarkRows read;
  const auto leave_out = [&](std::size_t line, const std::string& why) {
    read.left_out.push_back(where + ":" + std::to_string(line) + why);
  };
  if (records.unclosed) {
    leave_out(*records.unclosed, ": a quote opens and never closes; nothing after it can be read");
    records.all.pop_back();
  }
  if (records.all.empty()) return refuse("a header with Liger's fifteen columns", "no lines", where, 1);
  const Record& header = records.all.front();
  std::array<std::size_t, columns.size()> place{};
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t at = 0;
    while (at < header.fields.size() && header.fields[at] != columns[c].name) ++at;
    if (at == header.fields.size())
      return refuse("the column " + std::string(columns[c].name), "a header without it", where, header.line);
    place[c] = at;
  }
  for (std::size_t r = 1; r < records.all.size(); ++r) {
    const Record& record = records.all[r];
    if (record.fields.size() != header.fields.size()) {
      leave_out(record.line, ": " + std::to_string(record.fields.size()) + " fields instead of " +
                                 std::to_string(header.fields.size()));
      continue;
    }
    BenchmarkRow row;
    bool whole = true;
    for (std::size_t c = 0; c < columns.size() && whole; ++c) {
      const std::string& field = record.fields[place[c]];
      if (columns[c].text != nullptr) {
        row.*columns[c].text = field;
        continue;
      }
      const auto value = finite(field);
      whole = value.has_value();
      if (whole)
        row.*columns[c].number = *value;
      else
        leave_out(record.line,
                  ", " + std::string(columns[c].name) + ": '" + field.substr(0, 80) + "' is no finite number");
    }
    if (whole) read.rows.push_back(std::move(row));
  }
  return read;
}

std::string left_out_text(const BenchmarkRows& read) {
  constexpr std::size_t kNamed = 3;
  if (read.left_out.empty()) return "";
  std::string text =
      std::to_string(read.left_out.size()) + (read.left_out.size() == 1 ? " line is" : " lines are") + " left out: ";
  for (std::size_t i = 0; i < std::min(kNamed, read.left_out.size()); ++i)
    text += (i == 0 ? "" : "; ") + read.left_out[i];
  return text + (read.left_out.size() > kNamed ? "; ..." : "");
}

std::vector<BenchmarkRow> rows_of_device(const std::vector<BenchmarkRow>& rows, const std::string& kernel_name,
                                         const std::string& gpu_name) {
  std::vector<BenchmarkRow> kept;
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>, std::size_t> seen;
  for (const BenchmarkRow& row : rows) {
    if (row.kernel_name != kernel_name || row.gpu_name != gpu_name) continue;
    const auto key = std::make_tuple(row.kernel_provider, row.kernel_operation_mode, row.metric_name, row.x_name,
                                     row.x_value, row.extra_benchmark_config_str);
    const auto [at, is_new] = seen.emplace(key, kept.size());
    if (is_new)
      kept.push_back(row);
    else
      kept[at->second] = row;
  }
  return kept;
}

namespace {

BenchmarkRow row_for(const Profile& profile, const std::string& timestamp) {
  BenchmarkRow row;
  row.kernel_name = profile.kernel;
  row.x_name = row.x_label = profile.baseline.x_name;
  Json extra = Json::object();
  if (!profile.request.dtype.empty()) extra.add("dtype", profile.request.dtype);
  for (const auto& [name, value] : profile.request.options)
    if (name != "dtype") extra.add(name, value);
  row.extra_benchmark_config_str = extra.dump_line();
  row.gpu_name = profile.device.name;
  row.timestamp = timestamp;
  row.liger_version = "hone " + profile.hone_version;
  return row;
}

void set_quantiles(BenchmarkRow& row, double p20, double p50, double p80) {
  row.y_value_20 = p20;
  row.y_value_50 = p50;
  row.y_value_80 = p80;
}

}  // namespace

std::vector<BenchmarkRow> baseline_rows(const Profile& profile) {
  std::vector<BenchmarkRow> rows;
  for (const BaselineRow& measured : profile.baseline.rows) {
    BenchmarkRow row = row_for(profile, profile.created);
    row.kernel_provider = measured.provider;
    if (!measured.origin.empty()) row.gpu_name = measured.origin;  // not of this device
    row.kernel_operation_mode = measured.mode;
    row.metric_name = measured.metric;
    row.metric_unit = measured.unit;
    row.x_value = measured.x_value;
    set_quantiles(row, measured.p20, measured.p50, measured.p80);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<BenchmarkRow> result_rows(const Profile& profile, const std::string& variant, const std::string& timestamp,
                                      const std::vector<ResultRow>& results) {
  std::vector<BenchmarkRow> rows;
  for (const ResultRow& result : results) {
    BenchmarkRow row = row_for(profile, timestamp);
    row.kernel_operation_mode = result.mode;
    row.metric_name = result.metric;
    row.metric_unit = result.unit;
    row.x_value = result.x_value;
    row.kernel_provider = "v0";
    set_quantiles(row, result.baseline.p20, result.baseline.p50, result.baseline.p80);
    rows.push_back(row);
    row.kernel_provider = variant;
    set_quantiles(row, result.candidate.p20, result.candidate.p50, result.candidate.p80);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace hone::model

// From a CSV text to launches: find the tables in it, agree on the decimal mark, read each row by its header's names.
#include "counters/ncu_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "counters/csv.hpp"
#include "counters/launch_record.hpp"
#include "counters/summary.hpp"
#include "counters/text_encoding.hpp"

namespace hone::counters {

namespace {

constexpr std::size_t kNotesKept = 6;
constexpr const char* kHowToExport =
    "export with: ncu --import report.ncu-rep --csv --page details > capture.csv (or --page raw)";

// The columns of one header, by name; rows after it belong to it until the next header.
struct Table {
  std::map<std::string, std::size_t> columns;
  std::vector<std::string> names;
  std::vector<std::string> units;  // raw page
  bool raw = false;
  std::vector<Record> rows;
  std::set<std::size_t>
      misaligned;  // numbers of fields of rows with more than the header: their columns can not be told

  const std::string& at(const Record& row, const std::string& column) const {
    static const std::string none;
    const auto found = columns.find(column);
    return found == columns.end() || found->second >= row.fields.size() ? none : row.fields[found->second];
  }
};

struct Text {
  std::vector<Table> tables;
  std::vector<std::string> messages;  // the profiler's own warnings and errors
  std::string first_line;
  bool truncated = false;
};

bool is_header(const Record& record) {
  const auto has = [&](std::string_view name) {
    return std::find(record.fields.begin(), record.fields.end(), name) != record.fields.end();
  };
  if (!has("Kernel Name")) return false;
  return has("Metric Name") || std::any_of(record.fields.begin(), record.fields.end(),
                                           [](const std::string& name) { return is_known_metric(name); });
}

Table table_of(const Record& header) {
  Table table;
  table.names = header.fields;
  for (std::size_t i = 0; i < header.fields.size(); ++i) table.columns.try_emplace(header.fields[i], i);
  table.raw = table.columns.find("Metric Name") == table.columns.end();
  // A summary per kernel has averages over its launches in place of values.
  if (const auto average = table.columns.find("Average"); average != table.columns.end())
    table.columns.try_emplace("Metric Value", average->second);
  return table;
}

bool fits_header(const Table& table, const Record& record) {
  return std::all_of(
      record.fields.begin() + static_cast<std::ptrdiff_t>(std::min(table.names.size(), record.fields.size())),
      record.fields.end(), [](const std::string& field) { return field.empty(); });
}

// The header tells how the file separates and whether it quotes.
void learn_dialect(const std::string& text, CsvWalk& walk) {
  constexpr std::string_view kColumn = "Kernel Name";
  const std::size_t column = text.find(kColumn);
  if (column == std::string::npos) return;
  const bool quoted = column > 0 && text[column - 1] == '"';
  const std::size_t after = column + kColumn.size() + (quoted ? 1 : 0);
  if (after < text.size() && (text[after] == ';' || text[after] == '\t')) walk.set_separator(text[after]);
  walk.accept_unquoted(!quoted);
}

Text read_tables(const std::string& text) {
  Text found;
  CsvWalk walk(text);
  learn_dialect(text, walk);
  bool expect_units = false;
  while (auto item = walk.next()) {
    if (!item->record) {
      found.truncated = found.truncated || item->truncated;
      const bool message = base::starts_with(item->noise, "==WARNING==") || base::starts_with(item->noise, "==ERROR==");
      if (message && found.messages.size() < kNotesKept) found.messages.push_back(base::trim(item->noise));
      if (found.first_line.empty()) found.first_line = base::trim(item->noise.substr(0, 80));
      continue;
    }
    if (is_header(*item->record)) {
      found.tables.push_back(table_of(*item->record));
      expect_units = found.tables.back().raw;
      continue;
    }
    if (found.tables.empty()) {
      if (found.first_line.empty() && !item->record->fields.empty())
        found.first_line = item->record->fields.front().substr(0, 80);
      continue;
    }
    Table& table = found.tables.back();
    if (!fits_header(table, *item->record)) {
      table.misaligned.insert(item->record->fields.size());
      continue;
    }
    if (table.at(*item->record, "Kernel Name").empty()) {
      if (expect_units) table.units = item->record->fields;
    } else {
      table.rows.push_back(std::move(*item->record));
    }
    expect_units = false;
  }
  return found;
}

DecimalMark decimal_mark(const std::vector<Table>& tables) {
  MarkVotes votes;
  for (const Table& table : tables) {
    for (const Record& row : table.rows) {
      if (!table.raw) {
        if (is_known_metric(table.at(row, "Metric Name"))) votes.see(table.at(row, "Metric Value"));
        continue;
      }
      for (std::size_t i = 0; i < std::min(table.names.size(), row.fields.size()); ++i)
        if (is_known_metric(table.names[i])) votes.see(row.fields[i]);
    }
  }
  return votes.winner();
}

LaunchRecord begin_launch(const Table& table, const Record& row) {
  LaunchRecord launch;
  launch.id = table.at(row, "ID");
  launch.process = table.at(row, "Process ID");
  launch.device = table.at(row, "Device");
  launch.name = table.at(row, "Kernel Name");
  launch.grid = table.at(row, "Grid Size");
  launch.block = table.at(row, "Block Size");
  launch.compute_capability = table.at(row, "CC");
  launch.launches = static_cast<int>(parse_number(table.at(row, "Invocations"), DecimalMark::point).value_or(1));
  return launch;
}

// "(132, 1, 1)" -> 132; nothing for another form.
std::optional<double> extent(const std::string& text) {
  if (text.size() < 3 || text.front() != '(' || text.back() != ')') return std::nullopt;
  double product = 1;
  for (const std::string& part : base::split(std::string_view(text).substr(1, text.size() - 2), ',')) {
    const std::optional<double> value = parse_number(base::trim(part), DecimalMark::point);
    if (!value || !(*value > 0)) return std::nullopt;
    product *= *value;
  }
  return product;
}

// What follows from other fields where the capture did not take it.
void complete(LaunchRecord& launch) {
  const auto fill = [&](Field field, const std::string& shape) {
    if (!launch[field]) launch[field] = extent(shape);
  };
  fill(Field::grid_size, launch.grid);
  fill(Field::block_size, launch.block);
  const auto shape = [](const std::optional<double>& size) {
    return size ? fmt::format("({:.0f}, 1, 1)", *size) : std::string();
  };
  if (launch.grid.empty()) launch.grid = shape(launch[Field::grid_size]);
  if (launch.block.empty()) launch.block = shape(launch[Field::block_size]);
  double room = 0;
  for (const Field limit :
       {Field::limit_registers, Field::limit_shared, Field::limit_warps, Field::limit_blocks, Field::limit_barriers})
    if (launch[limit] && *launch[limit] > 0) room = room == 0 ? *launch[limit] : std::min(room, *launch[limit]);
  if (!launch[Field::waves] && launch[Field::grid_size] && launch[Field::sm_count].value_or(0) > 0 && room > 0)
    launch[Field::waves] = *launch[Field::grid_size] / (*launch[Field::sm_count] * room);
}

void read_details(const Table& table, DecimalMark mark, std::vector<LaunchRecord>& launches) {
  const bool has_id = table.columns.find("ID") != table.columns.end();
  std::map<std::vector<std::string>, std::size_t> index;
  std::set<std::pair<std::size_t, std::string>> seen;  // metrics of a launch, where only a repeat tells a new one
  for (const Record& row : table.rows) {
    std::vector<std::string> key{table.at(row, "ID"), table.at(row, "Process ID"), table.at(row, "Kernel Name")};
    const std::string& metric = table.at(row, "Metric Name");
    auto found = index.find(key);
    const bool repeats = !has_id && found != index.end() && !metric.empty() &&
                         !seen.insert({found->second, metric + "\n" + table.at(row, "Section Name")}).second;
    if (found == index.end() || repeats) {
      index[key] = launches.size();
      launches.push_back(begin_launch(table, row));
      found = index.find(key);
      if (!has_id) seen.insert({found->second, metric + "\n" + table.at(row, "Section Name")});
    }
    LaunchRecord& launch = launches[found->second];
    if (!metric.empty())
      store_metric(launch, metric, table.at(row, "Metric Unit"), table.at(row, "Metric Value"), mark);
    if (!table.at(row, "Rule Name").empty())
      store_rule(launch, table.at(row, "Rule Name"), table.at(row, "Rule Description"));
  }
}

// Without a units row the values are taken to be in base units, as --print-units base exports them.
std::string_view base_unit(std::string_view metric) {
  const auto ends = [&](std::string_view end) {
    return metric.size() >= end.size() && metric.substr(metric.size() - end.size()) == end;
  };
  if (metric.find("pct") != std::string_view::npos) return "%";
  if (metric.find("time_duration") != std::string_view::npos) return "nsecond";
  if (metric.find("cycles_elapsed") != std::string_view::npos) return "hz";
  if (metric.find("bytes") != std::string_view::npos && ends("per_second")) return "byte/s";
  if (metric.find("bytes") != std::string_view::npos || metric.find("shared_mem") != std::string_view::npos)
    return "byte";
  return "";
}

// Whether the clock shows that a capture without units is in base units: SMs run at 100 MHz to 10 GHz.
bool in_base_units(const LaunchRecord& launch) {
  const std::optional<double>& clock = launch[Field::sm_hz];
  return !clock || (*clock >= 1e8 && *clock <= 1e10);
}

// Values whose size depends on their unit; counts and percentages stay.
void drop_scaled_values(LaunchRecord& launch) {
  for (const Field field : {Field::duration_s, Field::sm_hz, Field::dram_bytes_per_s, Field::dram_bytes,
                            Field::dram_bytes_read, Field::dram_bytes_written, Field::shared_per_block,
                            Field::shared_dynamic, Field::shared_static, Field::shared_driver})
    launch[field].reset();
  launch.units_unknown = true;
}

void read_raw(const Table& table, DecimalMark mark, std::vector<LaunchRecord>& launches) {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < table.names.size(); ++i)
    if (is_known_metric(table.names[i])) known.push_back(i);
  for (const Record& row : table.rows) {
    LaunchRecord launch = begin_launch(table, row);
    for (const std::size_t i : known) {
      if (i >= row.fields.size()) break;  // the row was cut
      const std::string_view unit = table.units.empty()      ? base_unit(table.names[i])
                                    : i < table.units.size() ? std::string_view(table.units[i])
                                                             : "";
      store_metric(launch, table.names[i], unit, row.fields[i], mark);
    }
    if (table.units.empty() && !in_base_units(launch)) drop_scaled_values(launch);
    launches.push_back(std::move(launch));
  }
}

bool has_values(const LaunchRecord& launch) {
  return std::any_of(launch.values.begin(), launch.values.end(), [](const auto& value) { return value.has_value(); });
}

base::Error no_table(const Text& text, const std::string& where) {
  base::Error error{base::ErrorKind::usage, "an Nsight Compute CSV (details or raw page)", "", where, kHowToExport};
  error.found = text.first_line.empty()
                    ? "an empty file"
                    : "no header with a kernel name; the file begins with '" + text.first_line + "'";
  for (const std::string& message : text.messages)
    if (message.find("ERR_NVGPUCTRPERM") != std::string::npos) {
      error.found = "only the profiler's message that reading counters is not permitted (ERR_NVGPUCTRPERM)";
      error.remedy =
          "run ncu as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0, and "
          "capture again";
    }
  return error;
}

// "rows of 19 or 20 fields where the header has 15, as without the quotes around fields with commas"; empty where none is so.
std::string misaligned_rows(const Text& text) {
  for (const Table& table : text.tables) {
    if (table.misaligned.empty()) continue;
    std::vector<std::string> counts;
    for (const std::size_t count : table.misaligned) counts.push_back(std::to_string(count));
    return fmt::format("rows of {} fields where the header has {}: the quotes around fields with commas are missing",
                       base::join_text(counts, " or "), table.names.size());
  }
  return "";
}

std::vector<std::string> notes_of(const Text& text, const std::vector<LaunchRecord>& launches, std::size_t empty) {
  std::vector<std::string> notes;
  std::set<std::string> processes;
  for (const LaunchRecord& launch : launches)
    if (!launch.process.empty()) processes.insert(launch.process);
  if (const std::string rows = misaligned_rows(text); !rows.empty()) notes.push_back(rows + "; they are left out");
  if (text.truncated) notes.push_back("the file ends inside a record: what began there is left out");
  if (empty > 0) notes.push_back(fmt::format("{} launches carry none of the metrics that are read here", empty));
  if (processes.size() > 1) notes.push_back(fmt::format("launches of {} processes", processes.size()));
  if (std::any_of(text.tables.begin(), text.tables.end(),
                  [](const Table& table) { return table.raw && table.units.empty(); }))
    notes.push_back(
        std::any_of(launches.begin(), launches.end(), [](const auto& launch) { return launch.units_unknown; })
            ? "no row of units, and the clocks show other units than base ones: durations, clocks and bytes "
              "are left out"
            : "no row of units: base units are assumed (ns, byte, hz)");
  notes.insert(notes.end(), text.messages.begin(), text.messages.end());
  return notes;
}

}  // namespace

base::Result<Capture> read_ncu_csv(const std::string& raw_text, const std::string& where) {
  if (raw_text.rfind("NVR", 0) == 0)
    return base::Error{base::ErrorKind::usage, "an Nsight Compute CSV (details or raw page)",
                       "a binary report (.ncu-rep)", where, kHowToExport};
  const Text text = read_tables(as_utf8(raw_text));
  if (text.tables.empty()) return no_table(text, where);
  const DecimalMark mark = decimal_mark(text.tables);
  std::vector<LaunchRecord> launches;
  for (const Table& table : text.tables) (table.raw ? read_raw : read_details)(table, mark, launches);

  const std::size_t all = launches.size();
  launches.erase(
      std::remove_if(launches.begin(), launches.end(), [](const auto& launch) { return !has_values(launch); }),
      launches.end());
  if (const std::string rows = misaligned_rows(text); launches.empty() && !rows.empty())
    return base::Error{base::ErrorKind::usage, "rows with as many fields as the header", rows, where, kHowToExport};
  if (launches.empty())
    return base::Error{base::ErrorKind::usage, "at least one profiled kernel with metrics",
                       all == 0 ? "a header without launches" : "launches without any metric that is read here", where,
                       "capture with at least --section SpeedOfLight --section Occupancy --section LaunchStats "
                       "--section WarpStateStats, or --set full"};
  Capture capture;
  capture.page = text.tables.front().raw ? "raw" : "details";
  for (LaunchRecord& launch : launches) {
    capture.launches += launch.launches;
    complete(launch);
    if (capture.device_name.empty()) capture.device_name = launch.device_name;
    if (capture.compute_capability.empty()) capture.compute_capability = launch.compute_capability;
  }
  capture.kernels = summarize(launches);
  capture.notes = notes_of(text, launches, all - launches.size());
  return capture;
}

}  // namespace hone::counters

#include "repository/liger/records.hpp"

#include <set>

#include <fmt/format.h>

#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "model/benchmark_csv.hpp"
#include "repository/liger/embedded.hpp"

namespace hone::repository::liger {

namespace {

constexpr const char* kRecords = "benchmark/data/all_benchmark_data.csv";

model::BaselineRow row_of(const model::BenchmarkRow& row, const std::string& provider, model::Source source) {
  model::BaselineRow made;
  made.x_value = row.x_value;
  made.mode = row.kernel_operation_mode;
  made.provider = provider;
  made.metric = row.metric_name;
  made.unit = row.metric_unit;
  made.p20 = row.y_value_20, made.p50 = row.y_value_50, made.p80 = row.y_value_80;
  made.source = source;
  return made;
}

}  // namespace

std::vector<model::BaselineRow> CheckoutRecords::recorded() {
  std::vector<model::BaselineRow> rows;
  auto text = base::read_regular(context_.files, base::join(root_, kRecords));
  if (!text) return rows;
  auto all = model::read_benchmark_csv(*text, kRecords);
  if (!all) {
    remarks_.push_back(std::string(kRecords) + " can not be read: " + all.error().found + " at " + all.error().where);
    return rows;
  }
  // Of each GPU the last measurement of each point; GPUs, days and versions stand in the provider's name, never mixed.
  std::set<std::string> gpus, sources;
  if (const std::string left_out = model::left_out_text(*all); !left_out.empty()) remarks_.push_back(left_out);
  for (const model::BenchmarkRow& row : all->rows)
    if (op_.preflight.csv_rows.count(row.kernel_name) && row.kernel_name == op_.op) gpus.insert(row.gpu_name);
  for (const std::string& gpu : gpus)
    for (const model::BenchmarkRow& row : model::rows_of_device(all->rows, op_.op, gpu)) {
      const std::string where =
          fmt::format("{}, {}, liger-kernel {}", row.gpu_name, row.timestamp.substr(0, 10), row.liger_version);
      const std::string origin = where + ", " + row.x_name + " on the x axis, " + row.extra_benchmark_config_str;
      sources.insert(origin);
      rows.push_back(row_of(row, row.kernel_provider + " (" + where + ")", model::Source::recorded));
      rows.back().origin = origin;
    }
  for (const std::string& source : sources) remarks_.push_back("recorded elsewhere, shown and not judged: " + source);
  return rows;
}

base::Result<std::vector<model::BaselineRow>> CheckoutRecords::benchmark(const std::string& folder) {
  std::vector<model::BaselineRow> rows;
  if (!op_.preflight.benchmark_exists) {
    remarks_.push_back("the checkout has no benchmark script for " + op_.op + ": hone's protocol stands alone");
    return rows;
  }
  HONE_PROPAGATE(python::unpack(context_.files, embedded(), context_.scripts()));
  const std::string copy = base::join(context_.scratch, "benchmark_script");
  base::Command command;
  command.arguments = {context_.python, "-u", base::join(context_.scripts(), "hone_benchmark.py"),
                       root_,           copy, base::file_name(op_.preflight.benchmark_script),
                       "--overwrite"};
  command.environment = {{"PYTHONDONTWRITEBYTECODE", "1"}};
  command.deadline_ms = 1000 * longest_s_;
  HONE_TRY(outcome, context_.processes.run(command));
  std::string ending;
  if (outcome->timed_out)
    ending = fmt::format("it was ended after {} s; what it had written by then is kept", longest_s_);
  else if (outcome->exit_status != 0) {
    const auto lines = base::split(base::trim(outcome->error), '\n');
    ending = fmt::format("it ended with exit status {}: {}", outcome->exit_status, lines.back().substr(0, 300));
  }
  auto text = context_.files.read(base::join(copy, kRecords));
  if (text) {
    if (auto all = model::read_benchmark_csv(*text, kRecords)) {
      ending += (ending.empty() || all->left_out.empty() ? "" : "; ") + model::left_out_text(*all);
      for (const model::BenchmarkRow& row : all->rows) {
        model::BaselineRow made = row_of(row, row.kernel_provider, model::Source::measured);
        made.x_value = row.x_name + "=" + row.x_value;
        made.metric = "script_" + row.metric_name;
        rows.push_back(std::move(made));
      }
      if (!all->rows.empty() && !folder.empty())
        HONE_PROPAGATE(context_.files.write_atomically(base::join(folder, "repository_benchmark.csv"), *text));
    }
  }
  remarks_.push_back(fmt::format("{} run as it stands: {} rows{}{}", op_.preflight.benchmark_script, rows.size(),
                                 ending.empty() ? "" : "; ", ending));
  double forward = 0, backward = 0, full = 0;
  for (const model::BaselineRow& row : rows) {
    if (row.metric != "script_speed" || row.provider != "liger") continue;
    if (row.mode == "forward") forward = row.p50;
    if (row.mode == "backward") backward = row.p50;
    if (row.mode == "full") full = row.p50;
  }
  if (full > 0) {
    remarks_.push_back(
        fmt::format("the script's last size: forward {:.4f} ms, backward {:.4f} ms, full {:.4f} ms; its times are of "
                    "the caller: they hold what autograd and Python take "
                    "where the kernels are shorter (host-bound), its 'full' draws a random gradient inside the timed "
                    "call, and its backward runs again on one graph, "
                    "whose saved inputs an operation that works in place has overwritten",
                    forward, backward, full));
  }
  return rows;
}

std::vector<std::string> CheckoutRecords::remarks() {
  std::vector<std::string> all = remarks_;
  if (environment_.problem.empty()) all.push_back("liger_kernel by " + import_route(environment_, root_));
  if (!git_.commit.empty())
    all.push_back("checkout at commit " + git_.commit +
                  (git_.changed.empty()
                       ? ""
                       : fmt::format(", work tree dirty: {}", base::join_text(git_.changed, ", ").substr(0, 200))));
  return all;
}

}  // namespace hone::repository::liger

#include "stages/finalize/reporting.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "base/text.hpp"
#include "model/version.hpp"
#include "stages/unified_diff.hpp"

namespace hone::stages {

namespace {

// Quoted for a shell.
std::string quoted(const std::string& path) {
  std::string text = "'";
  for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

namespace {

// "a/kernels/x.hpp"; an absolute path has its slash already.
std::string sided(const char* side, const std::string& path) {
  return base::starts_with(path, "/") ? side + path : std::string(side) + "/" + path;
}

}  // namespace

model::Report start_report(base::Clock& clock, const FinalizeInputs& inputs, const FinalizeOptions& options) {
  model::Report report;
  report.kernel = inputs.profile.kernel, report.created = clock.utc();
  report.hone_version = model::hone_version(), report.hone_commit = model::hone_commit();
  report.command = options.command;
  report.winner = "v0";
  report.profile = inputs.profile, report.comparison = inputs.comparison;
  // Commands alone: versions, device and source stand in the table after them.
  const std::string profiled =
      inputs.profile.command.empty() ? "hone profile " + report.kernel : inputs.profile.command;
  const std::string finalized = options.command.empty() ? "hone finalize " + report.kernel : options.command;
  report.reproduction = {profiled};
  if (finalized != profiled) {  // otherwise one command ran all stages
    report.reproduction.push_back(options.optimize_command.empty() ? "hone optimize " + report.kernel
                                                                   : options.optimize_command);
    report.reproduction.push_back(finalized);
  }
  return report;
}

model::GateCount count_of(const std::string& name, const std::string& variant, const repository::GateResult& result) {
  model::GateCount count{name, result.passed, result.failed, result.largest_error_over_bound, variant + ": "};
  if (result.passed + result.failed == 0)
    count.detail += "no case was run, which is a failure";
  else if (!result.first_failure.empty())
    count.detail += result.first_failure;
  else
    count.detail += result.detail.empty() ? "every case within its bound" : result.detail;
  return count;
}

std::string diff_of(const std::vector<repository::FileChange>& changes) {
  std::string diff;
  for (const repository::FileChange& change : changes)
    diff += unified_diff(change.before, change.after, change.existed ? sided("a", change.path) : "/dev/null",
                         sided("b", change.path));
  return diff;
}

std::vector<std::string> revert_commands(const Workspace& workspace, const Installation& installation) {
  std::vector<std::string> commands;
  for (const Installation::File& file : installation.files) {
    commands.push_back(file.existed ? "cp " + quoted(workspace.at(file.before_copy)) + " " + quoted(file.path)
                                    : "rm " + quoted(file.path));
  }
  return commands;
}

std::vector<std::string> recommendations_for(const model::Report& report, const std::vector<std::string>& warnings,
                                             const std::vector<std::string>& swept) {
  std::vector<std::string> list;
  double least = 1e9;
  model::ThreeWayRow worst;
  const std::string provider = report.applied ? "optimized" : "original";
  for (const model::ThreeWayRow& row : report.three_way) {
    if (row.provider == provider && row.metric == "speed" && row.share_of_ceiling_pct > 0 &&
        row.share_of_ceiling_pct < least)
      least = row.share_of_ceiling_pct, worst = row;
  }
  if (least < 97)
    list.push_back(fmt::format("Most is left in {} at {}: {:.0f} % of its ceiling.", worst.mode, worst.x_value, least));
  else if (least < 1e9)
    list.push_back("Every pass is at its ceiling: only less traffic, by fusing with neighbours, can bring more.");
  std::vector<std::string> tried, left;
  for (const model::VariantSummary& v : report.comparison.variants) {
    tried.push_back(v.strategy);
    // The sweep tries every knob, so the strategies that these knobs stand for are tried with it.
    if (v.strategy == "parameter-sweep") tried.insert(tried.end(), swept.begin(), swept.end());
  }
  for (const model::StrategyStep& step : report.profile.strategy_order) {
    if (std::find(tried.begin(), tried.end(), step.strategy) == tried.end()) left.push_back(step.title);
  }
  if (!left.empty()) list.push_back("Not tried yet: " + base::join_text(left, ", ") + "; profile.md has the reasons.");
  if (report.profile.bottleneck.cls == model::BottleneckClass::host_bound)
    list.push_back("The caller is limited by the host: a faster kernel does not show there before launches are fewer.");
  if (report.applied)
    list.push_back(fmt::format("The settings hold for {} and dtype {}: profile and optimize again for another device.",
                               report.profile.device.name, report.profile.request.dtype));
  list.insert(list.end(), warnings.begin(), warnings.end());
  return list;
}

}  // namespace hone::stages

#include "cli/commit.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/speedup.hpp"

namespace hone::cli {

namespace {

base::Result<std::string> run(base::Processes& processes, std::vector<std::string> words, const std::string& root) {
  base::Command command;
  command.arguments = std::move(words);
  command.directory = root;
  command.deadline_ms = 120'000;
  HONE_TRY(outcome, processes.run(command));
  if (outcome->exit_status != 0 || outcome->timed_out)
    return base::Error{base::ErrorKind::preflight,
                       "'" + base::join_text(command.arguments, " ").substr(0, 120) + "' to succeed",
                       base::trim(outcome->error.empty() ? outcome->output : outcome->error).substr(0, 400), root,
                       "the change is applied and not committed; commit it by hand"};
  return base::trim(outcome->output);
}

// The row with the largest gain: what the title names.
const model::ResultRow* best_row(const model::Report& report) {
  const model::ResultRow* best = nullptr;
  for (const model::ResultRow& row : report.speedups)
    if (row.metric == "speed" && row.verdict == model::Verdict::faster && row.ratio > 0 &&
        (!best || row.ratio < best->ratio))
      best = &row;
  return best;
}

}  // namespace

std::string commit_title(const model::Report& report) {
  const model::ResultRow* best = best_row(report);
  if (!best) return fmt::format("[Perf] Optimize {} kernel", report.kernel);
  return fmt::format("[Perf] Optimize {} kernel: {} up to {}", report.kernel, best->mode,
                     model::speed_factor(best->ratio));
}

std::string commit_body(const model::Report& report) {
  std::string text = fmt::format("Measured on {}; ratios are new over old kernel time with their intervals.\n\n",
                                 report.profile.device.name);
  for (const model::ResultRow& row : report.speedups)
    if (row.metric == "speed")
      text += fmt::format("- {} at {}: {}\n", row.mode, row.x_value,
                          model::speed_claim(row.ratio, row.ci_low, row.ci_high));
  for (const model::GateCount& gate : report.correctness)
    text += fmt::format("- {}: {} passed, {} failed\n", gate.name, gate.passed, gate.failed);
  return text;
}

base::Result<void> check_commit(base::Processes& processes, const CommitRequest& request) {
  if (request.push && !processes.find("gh"))
    return base::Error{base::ErrorKind::preflight, "gh, which opens the pull request", "it is not on PATH", "--push",
                       "install GitHub's gh, or use --commit and push by hand"};
  auto inside = run(processes, {"git", "rev-parse", "--show-toplevel"}, request.root);
  if (inside) return {};
  return base::Error{inside.error().kind, "a git repository, in which a commit can be made", inside.error().found,
                     request.root, "name one with --repo, or leave --commit and --push out"};
}

base::Result<std::string> commit_change(base::Processes& processes, const model::Report& report,
                                        const CommitRequest& request) {
  HONE_PROPAGATE(check_commit(processes, request));
  const std::string branch = fmt::format("hone/{}-{}-{}", report.kernel, report.winner, report.created.substr(0, 10));
  HONE_PROPAGATE(run(processes, {"git", "switch", "--create", branch}, request.root));
  std::vector<std::string> add = {"git", "add", "--"},
                           commit = {"git", "commit", "--quiet", "-m", commit_title(report), "-m", commit_body(report),
                                     "--"};
  add.insert(add.end(), report.changed_files.begin(), report.changed_files.end());
  commit.insert(commit.end(), report.changed_files.begin(), report.changed_files.end());
  HONE_PROPAGATE(run(processes, add, request.root));
  HONE_PROPAGATE(run(processes, commit, request.root));
  HONE_TRY(hash, run(processes, {"git", "rev-parse", "--short", "HEAD"}, request.root));
  std::string said = "commit " + *hash + " on branch " + branch;
  if (!request.push) return said;
  HONE_PROPAGATE(run(processes, {"git", "push", "--set-upstream", "origin", branch}, request.root));
  auto opened =
      run(processes, {"gh", "pr", "create", "--title", commit_title(report), "--body-file", request.description},
          request.root);
  if (!opened) return opened.error();
  return said + ", pull request " + *opened;
}

}  // namespace hone::cli

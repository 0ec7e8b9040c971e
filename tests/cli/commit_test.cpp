// The commit of an applied winner: only its files, on a branch of its own.
#include "cli/commit.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hone::cli {
namespace {

model::Report applied() {
  model::Report report;
  report.kernel = "rms_norm";
  report.winner = "v1";
  report.created = "2026-11-30T09:00:00Z";
  report.changed_files = {"/co/src/liger_kernel/ops/rms_norm.py"};
  model::ResultRow row;
  row.x_value = "4096", row.mode = "backward", row.metric = "speed", row.unit = "ms";
  row.ratio = 0.72, row.ci_low = 0.71, row.ci_high = 0.73, row.verdict = model::Verdict::faster;
  report.speedups = {row};
  return report;
}

base::Outcome said(const std::string& output, int status = 0) {
  base::Outcome outcome;
  outcome.output = output;
  outcome.exit_status = status;
  if (status != 0) outcome.error = output;
  return outcome;
}

TEST(Commit, NamesTheGainAndCommitsTheKernelAlone) {
  base::ScriptedProcesses processes;
  processes.answers = {said("/co"), said(""), said(""), said(""), said("abc1234")};
  auto made = commit_change(processes, applied(), {"/co", false, ""});
  ASSERT_TRUE(made) << made.error().found;
  EXPECT_EQ(*made, "commit abc1234 on branch hone/rms_norm-v1-2026-11-30");
  ASSERT_EQ(processes.commands.size(), 5u);
  EXPECT_EQ(processes.commands[2].arguments,
            (std::vector<std::string>{"git", "add", "--", "/co/src/liger_kernel/ops/rms_norm.py"}));
  const auto& commit = processes.commands[3].arguments;
  EXPECT_EQ(commit[4], "[Perf] Optimize rms_norm kernel: backward up to 1.39x faster");
  EXPECT_EQ(commit.back(), "/co/src/liger_kernel/ops/rms_norm.py");
  for (const base::Command& command : processes.commands) EXPECT_EQ(command.directory, "/co");
}

TEST(Commit, WhatGitSaysIsTheError) {
  base::ScriptedProcesses processes;
  processes.answers = {said("/co"), said("fatal: a branch named 'hone/rms_norm-v1-2026-11-30' already exists", 128)};
  auto made = commit_change(processes, applied(), {"/co", false, ""});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().found.find("already exists"), std::string::npos);
  EXPECT_NE(made.error().remedy.find("by hand"), std::string::npos);
}

TEST(Commit, PushingWithoutGhIsRefusedBeforeAnythingIsDone) {
  base::ScriptedProcesses processes;
  auto made = commit_change(processes, applied(), {"/co", true, "/ws/pr.md"});
  ASSERT_FALSE(made);
  EXPECT_TRUE(processes.commands.empty());
}

TEST(Commit, WhatItNeedsIsLookedForWithoutAChange) {
  base::ScriptedProcesses processes;
  processes.answers = {said("/co"), said("fatal: not a git repository", 128)};
  EXPECT_TRUE(check_commit(processes, {"/co", false, ""}));
  const auto none = check_commit(processes, {"/co", false, ""});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, base::ErrorKind::preflight);
  EXPECT_NE(none.error().found.find("not a git repository"), std::string::npos);
  EXPECT_FALSE(check_commit(processes, {"/co", true, ""})) << "no gh";
  for (const base::Command& command : processes.commands) EXPECT_EQ(command.arguments[1], "rev-parse");
}

TEST(Commit, PushOpensAPullRequestWithTheDescription) {
  base::ScriptedProcesses processes;
  processes.programs["gh"] = "/usr/bin/gh";
  processes.answers = {
      said("/co"), said(""), said(""), said(""), said("abc1234"), said(""), said("https://example.org/pull/1")};
  auto made = commit_change(processes, applied(), {"/co", true, "/ws/pr.md"});
  ASSERT_TRUE(made) << made.error().found;
  EXPECT_NE(made->find("pull request https://example.org/pull/1"), std::string::npos);
  const auto& words = processes.commands.back().arguments;
  EXPECT_NE(std::find(words.begin(), words.end(), "/ws/pr.md"), words.end());
}

}  // namespace
}  // namespace hone::cli

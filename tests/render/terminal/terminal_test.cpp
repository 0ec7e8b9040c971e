#include "render/terminal/terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "render/terminal/progress.hpp"
#include "tests/render/golden.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sample_documents.hpp"

namespace hone::render {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Terminal, SummariesOfProfileComparisonAndReport) {
  const std::string text = profile_summary(test::sample_profile(), Style{}) + "\n----\n\n" +
                           comparison_summary(test::sample_comparison(), Style{}) + "\n----\n\n" +
                           report_summary(test::sample_report_applied(), Style{}) + "\n----\n\n" +
                           report_summary(test::sample_report_reverted(), Style{}) + "\n----\n\n" +
                           report_summary(test::sample_report_nothing_to_gain(), Style{});
  test::expect_golden(golden("terminal.txt"), text);
}

TEST(Terminal, TheFirstLineOfAReportIsItsOutcome) {
  EXPECT_TRUE(base::starts_with(report_summary(test::sample_report_applied(), Style{}), "rms_norm: APPLIED\n"));
  EXPECT_TRUE(base::starts_with(report_summary(test::sample_report_reverted(), Style{}), "rms_norm: REVERTED\n"));
  EXPECT_TRUE(
      base::starts_with(report_summary(test::sample_report_nothing_to_gain(), Style{}), "rms_norm: NOTHING TO GAIN\n"));
}

TEST(Terminal, ColoursOnlyWhenAskedAndNeverFromTheDocument) {
  model::Report report = test::sample_report_reverted();
  report.reason += " \033[2J";
  EXPECT_THAT(report_summary(report, Style{}), Not(HasSubstr("\033")));
  const std::string colored = report_summary(report, Style{true, 100});
  EXPECT_TRUE(base::starts_with(colored, "\033[31mrms_norm: REVERTED\033[0m\n"));
  EXPECT_THAT(colored, Not(HasSubstr("\033[2J")));
}

// A command that undoes something stays whole, so that it can be pasted.
TEST(Terminal, LinesFitTheTerminal) {
  for (const std::size_t width : {std::size_t{60}, std::size_t{80}, std::size_t{120}}) {
    const Style style{false, width};
    for (const std::string& text :
         {profile_summary(test::sample_profile(), style), comparison_summary(test::sample_comparison(), style),
          report_summary(test::sample_report_applied(), style), report_summary(test::sample_report_reverted(), style)})
      for (const std::string& line : base::split(text, '\n')) {
        EXPECT_TRUE(base::starts_with(line, "undo") || display_width(line) <= width) << line;
      }
  }
}

TEST(Terminal, ACommandThatUndoesStaysWhole) {
  model::Report report = test::sample_report_applied();
  report.revert = {"git -C \"/a folder/with a long name\" checkout -- src/liger_kernel/ops/rms_norm.py  # and no more"};
  EXPECT_THAT(report_summary(report, Style{false, 60}), HasSubstr("undo      " + report.revert.front() + "\n"));
}

TEST(Terminal, APlanHasOneLineAStepHoweverLongItsReason) {
  model::Profile profile = test::sample_profile();
  for (model::StrategyStep& step : profile.strategy_order)
    step.reason = std::string(40, 'r') + " and more of it " + step.reason + std::string(300, ' ') + "end";
  const std::string text = profile_summary(profile, Style{false, 72});
  const std::string plan = text.substr(text.find("plan "));
  EXPECT_EQ(static_cast<std::size_t>(std::count(plan.begin(), plan.end(), '\n')), profile.strategy_order.size());
  EXPECT_THAT(plan, HasSubstr(" ...\n"));
}

TEST(Terminal, EmptyDocumentsSayWhatIsMissing) {
  EXPECT_THAT(profile_summary({}, Style{}), HasSubstr("no pass was timed"));
  EXPECT_THAT(comparison_summary({}, Style{}), HasSubstr("no variant is better than v0"));
  EXPECT_THAT(report_summary({}, Style{}), HasSubstr("none ran"));
}

TEST(Progress, SaysStageStepAndAnEstimateOfTheRest) {
  EXPECT_EQ(progress_text({"optimize 2/3", "sweep backward", 14, 32, 41.2, "hidden_size=4096"}, Style{}),
            "optimize 2/3 · sweep backward 14/32 · about 40 s left · hidden_size=4096");
  EXPECT_EQ(progress_text({"", "ceilings of the device", 0, 0, std::nullopt, ""}, Style{}), "ceilings of the device");
}

TEST(Progress, AnEstimateIsRoundedAsItDeserves) {
  for (const auto& [seconds, text] :
       std::vector<std::pair<double, std::string>>{{-3, "about 5 s left"},
                                                   {0.2, "about 5 s left"},
                                                   {12, "about 10 s left"},
                                                   {44, "about 40 s left"},
                                                   {86, "about 90 s left"},
                                                   {100, "about 2 min left"},
                                                   {260, "about 4 min left"},
                                                   {4 * 3600, "about 4 h left"},
                                                   {std::numeric_limits<double>::quiet_NaN(), "about 5 s left"},
                                                   {std::numeric_limits<double>::infinity(), "about 2778 h left"}})
    EXPECT_EQ(time_left(seconds), text) << seconds;
}

TEST(Progress, KeepsToTheWidthAndMovesNoCursor) {
  for (const std::size_t width : {0u, 1u, 20u, 50u, 200u}) {
    const std::string text =
        progress_text({"run", std::string(500, 'x') + "\n\033[2J", 3, 4, 9.0, "\033[2J"}, Style{false, width});
    EXPECT_LE(display_width(text), width);
    EXPECT_EQ(text.find('\033'), std::string::npos);
  }
}

}  // namespace
}  // namespace hone::render

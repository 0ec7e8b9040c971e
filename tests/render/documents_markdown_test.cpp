// Notes, comparison, report and pull request as Markdown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render/documents/comparison_markdown.hpp"
#include "render/documents/notes_markdown.hpp"
#include "render/documents/pull_request_markdown.hpp"
#include "render/documents/report_markdown.hpp"
#include "tests/render/golden.hpp"
#include "tests/render/markdown_checks.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sample_documents.hpp"

namespace hone::render {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(NotesMarkdown, OfAVariantThatWasAccepted) {
  const std::string text = notes_markdown(test::sample_notes());
  test::expect_golden(golden("notes_v3.md"), text);
  EXPECT_THAT(test::markdown_faults(text), IsEmpty());
}

TEST(NotesMarkdown, ThePartBeforeTheRunIsTheBeginningOfTheWhole) {
  const std::string before = notes_markdown(test::sample_notes_before_results());
  EXPECT_EQ(notes_markdown(test::sample_notes()).substr(0, before.size()), before);
  EXPECT_THAT(test::markdown_faults(before), IsEmpty());
  EXPECT_THAT(before, HasSubstr("## Expected Outcome"));
  EXPECT_THAT(before, Not(HasSubstr("## Actual Results")));
}

TEST(NotesMarkdown, ClaimsNoChangeThatTheIntervalDoesNotShow) {
  model::Notes notes = test::sample_notes();
  notes.results[0].ratio = 0.99;
  notes.results[0].verdict = model::Verdict::same;
  notes.results[1].ratio = 0.97;
  notes.results[1].verdict = model::Verdict::unresolved;
  const std::string text = notes_markdown(notes);
  EXPECT_THAT(text, testing::ContainsRegex("0\\.990.*none shown"));
  EXPECT_THAT(text, testing::ContainsRegex("0\\.970.*not resolved"));
}

TEST(NotesMarkdown, OfAVariantThatNeverRanSaysWhy) {
  model::Notes notes = test::sample_notes_before_results();
  notes.has_results = true;
  notes.status = model::VariantStatus::failed_to_compile;
  notes.reason = "rms_norm.hpp:44: error";
  const std::string text = notes_markdown(notes);
  EXPECT_THAT(test::markdown_faults(text), IsEmpty());
  EXPECT_THAT(text, HasSubstr("**REJECTED (failed to compile)**: rms_norm.hpp:44: error."));
  EXPECT_THAT(text, HasSubstr("Nothing was timed"));
}

TEST(NotesMarkdown, ChangesKeepTheirLists) {
  model::Notes notes = test::sample_notes();
  notes.changes = "Two knobs:\n\n- BLOCK_ROW, 3 values\n- UNROLL, 2 values\n\nNothing else\nchanges.";
  EXPECT_NE(
      notes_markdown(notes).find("Two knobs:\n\n- BLOCK_ROW, 3 values\n- UNROLL, 2 values\n\nNothing else changes.\n"),
      std::string::npos);
}

TEST(NotesMarkdown, EmptyNotesLeaveNoHole) {
  EXPECT_THAT(test::markdown_faults(notes_markdown(model::Notes{})), IsEmpty());
  model::Notes notes;
  notes.has_results = true;
  EXPECT_THAT(test::markdown_faults(notes_markdown(notes)), IsEmpty());
}

TEST(ComparisonMarkdown, ShowsRejectedVariantsToo) {
  const std::string text = comparison_markdown(test::sample_comparison());
  test::expect_golden(golden("comparison.md"), text);
  test::expect_golden(golden("comparison.json"), to_json(test::sample_comparison()));
  EXPECT_THAT(test::markdown_faults(text), IsEmpty());
  for (const char* id : {"v1", "v2", "v3 (winner)", "v4"}) EXPECT_THAT(text, HasSubstr(std::string("| ") + id));
  EXPECT_THAT(text, HasSubstr("24 configurations planned, 12 distinct binaries, 12 timed"));
}

TEST(ComparisonMarkdown, WithoutVariantsSaysWhyTheLoopStopped) {
  const std::string text = comparison_markdown(test::sample_report_nothing_to_gain().comparison);
  EXPECT_THAT(test::markdown_faults(text), IsEmpty());
  EXPECT_THAT(text, HasSubstr("No variant was tried: at 97.2 % of the ceiling: nothing to gain."));
}

TEST(ComparisonMarkdown, EmptyOneLeavesNoHole) {
  EXPECT_THAT(test::markdown_faults(comparison_markdown(model::ComparisonDocument{})), IsEmpty());
}

TEST(ReportMarkdown, HasItsNineSectionsInOrder) {
  const std::string text = report_markdown(test::sample_report_applied());
  std::size_t at = 0;
  for (const char* section : {"## 1. Summary", "## 2. Baseline profile", "## 3. Variant comparison",
                              "## 4. Winning changes", "## 5. Rejected approaches", "## 6. Plots", "## 7. Correctness",
                              "## 8. Recommendations", "## 9. Reproduction"}) {
    const std::size_t found = text.find(std::string("\n") + section + "\n", at);
    ASSERT_NE(found, std::string::npos) << section;
    at = found;
  }
}

TEST(ReportMarkdown, OfTheThreeEndsOfARun) {
  for (const auto& [name, report] : {std::pair{"applied", test::sample_report_applied()},
                                     {"reverted", test::sample_report_reverted()},
                                     {"nothing_to_gain", test::sample_report_nothing_to_gain()}}) {
    const std::string text = report_markdown(report);
    test::expect_golden(golden(std::string("report_") + name + ".md"), text);
    EXPECT_THAT(test::markdown_faults(text), IsEmpty()) << name;
  }
}

TEST(ReportMarkdown, SaysFirstThatAChangeWasTakenBack) {
  const std::string text = report_markdown(test::sample_report_reverted());
  EXPECT_LT(text.find("**REVERTED**: reverted: the full gate failed"), text.find("## 2."));
  EXPECT_THAT(text, HasSubstr("The change that was tried and taken back:"));
  EXPECT_THAT(text, HasSubstr("the production files are as they were"));
}

TEST(ReportMarkdown, AGateThatRanNothingIsAFailure) {
  model::Report report = test::sample_report_applied();
  report.correctness = {{"full", 0, 0, 0, ""}};
  EXPECT_THAT(report_markdown(report), HasSubstr("failed: none ran"));
}

TEST(ReportMarkdown, EmptyOneLeavesNoHole) {
  EXPECT_THAT(test::markdown_faults(report_markdown(model::Report{})), IsEmpty());
}

TEST(PullRequestMarkdown, IsReadyToBePasted) {
  const std::string text = pull_request_markdown(test::sample_report_applied());
  test::expect_golden(golden("pr.md"), text);
  EXPECT_THAT(test::markdown_faults(text), IsEmpty());
  EXPECT_TRUE(base::starts_with(text, "# rms_norm: Write past the caches\n"));
}

TEST(PullRequestMarkdown, HasTheSectionsOfTheRepositorysTemplate) {
  model::Report report = test::sample_report_applied();
  report.profile.identity.repository = "liger";
  report.three_way.push_back({"4096", "backward", "kernels", "ms", "optimized", {0.11, 0.11, 0.11, 15}, 0});
  const std::string text = pull_request_markdown(report);
  EXPECT_THAT(test::markdown_faults(text), IsEmpty());
  for (const std::string part : {"\n## Summary\n", "\n## Details\n", "The kernels alone", "\n## Testing Done\n",
                                 "- Hardware Type: ", "- [ ] run `make test-convergence`"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(PullRequestMarkdown, AsksForNothingWhenNothingWasApplied) {
  for (const auto& report : {test::sample_report_reverted(), test::sample_report_nothing_to_gain(), model::Report{}}) {
    const std::string text = pull_request_markdown(report);
    EXPECT_THAT(text, HasSubstr("no change to merge"));
    EXPECT_THAT(test::markdown_faults(text), IsEmpty());
  }
}

}  // namespace
}  // namespace hone::render

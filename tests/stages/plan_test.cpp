// The plan at the checkpoint of profile: what a person sees of it, and what becomes of a changed one.
#include "stages/plan.hpp"

#include <gmock/gmock.h>

#include "tests/stages/stage_fixture.hpp"

namespace hone::stages {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PlanTest : public test::StageTest {
 protected:
  PlanTest() {
    person.present = true;
    use_strategies({"less-traffic", "prefetch"});
  }
  Decision confirmed() {
    auto decision =
        confirm_plan(profile, workspace(), ports, session.clock(), {false, false, "hone optimize rms_norm"});
    EXPECT_TRUE(decision);
    return *decision;
  }
  std::vector<std::string> order(const model::Profile& of) const {
    std::vector<std::string> words;
    for (const auto& step : of.strategy_order) words.push_back(step.strategy);
    return words;
  }
};

TEST_F(PlanTest, AnOrderIsReadAndWhatIsNoneIsRefused) {
  EXPECT_THAT(*parse_order("3 1", 3), ElementsAre(2, 0));
  EXPECT_THAT(*parse_order(" 2, 1,3 ", 3), ElementsAre(1, 0, 2));
  EXPECT_THAT(*parse_order("drop 2", 3), ElementsAre(0, 2));
  EXPECT_THAT(*parse_order("drop 3 1", 3), ElementsAre(1));
  for (const char* wrong : {"", "0", "4", "1 1", "one", "1x", "-1", "drop", "drop 1 2 3", "99999999999999999999"}) {
    auto order = parse_order(wrong, 3);
    ASSERT_FALSE(order) << wrong;
    EXPECT_EQ(order.error().kind, base::ErrorKind::usage);
    EXPECT_THAT(order.error().expected, HasSubstr("from 1 to 3"));
  }
}

TEST_F(PlanTest, AStepOfThePlanTellsReasonEvidenceBoundAndRisk) {
  profile.strategy_order[1].bound = "at most 12 %", profile.strategy_order[1].risk = "more registers";
  profile.opportunities.push_back({"Loads twice", "x is read again", {{"rms_norm.hpp", 7}}, "less-traffic", 12, ""});
  const std::vector<Item> items = plan_items(profile);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[1].name, "2");
  EXPECT_THAT(items[1].details, ElementsAre(std::pair("reason", "as told"),
                                            std::pair("evidence", "Loads twice: x is read again (rms_norm.hpp:7)"),
                                            std::pair("bound", "at most 12 %"), std::pair("risk", "more registers")));
  // Where nothing was found for the step alone: what the class rests on.
  EXPECT_THAT(items[2].details, ::testing::Contains(std::pair("evidence", "bandwidth: as scripted")));
}

TEST_F(PlanTest, AnEditedPlanStandsInTheProfileAndTheJournalBeforeTheNextQuestion) {
  person.replies = {{Choice::edit, "", {2, 0}}, {Choice::edit, "", {1, 0}}, {Choice::accept, ""}};
  EXPECT_EQ(confirmed().choice, Choice::accept);
  ASSERT_EQ(person.questions.size(), 3u);
  EXPECT_EQ(person.questions[1].items[0].title, "prefetch");
  EXPECT_THAT(order(profile), ElementsAre("parameter-sweep", "prefetch"));
  const auto written = workspace().load_profile();
  ASSERT_TRUE(written) << base::describe(written.error());
  EXPECT_EQ(order(*written), order(profile));
  EXPECT_THAT(written->plan_note, HasSubstr("recommended was: Parameter sweep, less-traffic, prefetch"));
  EXPECT_TRUE(files.exists("optimization/rms_norm/profile.md"));
  const std::string journal = *files.read("optimization/rms_norm/journal.jsonl");
  EXPECT_THAT(journal, HasSubstr("\"steps\":\"prefetch, parameter-sweep\""));
  EXPECT_THAT(journal, HasSubstr("\"steps\":\"parameter-sweep, prefetch\""));

  // The same run again, as it is loaded after a kill.
  profile = *written;
  EXPECT_EQ(confirmed().choice, Choice::accept);
  EXPECT_EQ(person.questions.size(), 3u);
}

TEST_F(PlanTest, OptimizeFollowsTheEditedPlanAndKeepsWhatWasMeasured) {
  kernel.sources["changed\n"] = {0.9, 0.9};
  session.proposals["prefetch"] = {test::source_proposal(kernel, "changed\n")};
  ASSERT_TRUE(optimize(options()));
  reorder(profile, {2, 0}, "2026-01-02T03:04:05Z");
  const auto outcome = optimize(options());
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  const auto& variants = outcome->comparison.variants;
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0].strategy, "prefetch");
  EXPECT_EQ(variants[1].strategy, "parameter-sweep");
  EXPECT_EQ(variants[1].parent, "v1");
  EXPECT_THAT(progress.messages, ::testing::Contains(HasSubstr("results of an earlier run are kept")));

  reorder(profile, {0}, "2026-01-02T03:04:05Z");  // the sweep is dropped
  const auto without = optimize(options());
  ASSERT_TRUE(without);
  ASSERT_EQ(without->comparison.variants.size(), 1u);
  EXPECT_EQ(without->comparison.variants[0].strategy, "prefetch");
  EXPECT_TRUE(without->comparison.sweep.empty());
}

TEST_F(PlanTest, TheWinnerThatAPersonChoseIsChosenAgainWhenTheRunGoesOn) {
  kernel.sources["changed\n"] = {0.9, 0.9};
  session.proposals["prefetch"] = {test::source_proposal(kernel, "changed\n")};
  auto asking = options();
  asking.autonomous = false;
  person.replies = {{Choice::another, "v1"}};
  auto outcome = optimize(asking);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->comparison.winner, "v1");
  outcome = optimize(asking);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->comparison.winner, "v1");
  EXPECT_EQ(person.questions.size(), 1u);
  const Item& v1 = person.questions[0].items.at(0);
  EXPECT_EQ(v1.name, "v1");
  EXPECT_THAT(v1.details, ::testing::Contains(::testing::Pair("result", HasSubstr("x v0"))));
}

}  // namespace
}  // namespace hone::stages

// The loop of optimize over a scripted session: the order of its writes, its verdicts, and when it stops.
#include <gmock/gmock.h>

#include <map>

#include "base/text.hpp"
#include "stages/records.hpp"
#include "tests/stages/stage_fixture.hpp"

namespace hone::test {
namespace {

using model::VariantStatus;
using ::testing::HasSubstr;
using ::testing::Not;

class Optimize : public StageTest {
 protected:
  // Runs with one strategy that proposes `text` with `behaviour`; returns the summary of that variant (v2).
  model::VariantSummary try_source(const SourceBehaviour& behaviour,
                                   const std::vector<model::Prediction>& predictions = {}) {
    kernel.sources["changed text\n"] = behaviour;
    session.proposals["less-traffic"] = {source_proposal(kernel, "changed text\n", predictions)};
    use_strategies({"less-traffic"});
    auto outcome = optimize(options());
    EXPECT_TRUE(outcome) << (outcome ? "" : base::describe(outcome.error()));
    if (!outcome || outcome->comparison.variants.size() < 2) return {};
    comparison = outcome->comparison;
    return comparison.variants[1];
  }
  // Every settings takes the same time, and the floor is this share of it.
  void hold_at_share_of_floor(double share) {
    session.time_ms = [](const std::string&, std::int64_t x, const model::Settings&) {
      return 1e-3 * static_cast<double>(x);
    };
    session.floor_ms = [share](const std::string&, std::int64_t x) { return share * 1e-3 * static_cast<double>(x); };
  }
  model::ComparisonDocument comparison;
};

TEST_F(Optimize, TheSweepFindsSettingsBySizeAndIsAccepted) {
  use_strategies({});
  auto outcome = optimize(options());
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  const auto& document = outcome->comparison;
  ASSERT_EQ(document.variants.size(), 1u);
  EXPECT_EQ(document.variants[0].status, VariantStatus::accepted) << document.variants[0].reason;
  EXPECT_EQ(document.winner, "v1");
  const auto& forward = document.variants[0].settings.at("forward");
  EXPECT_EQ(forward.at(1024).at("STREAM"), 0);
  EXPECT_EQ(forward.at(4096).at("STREAM"), 1);
  EXPECT_EQ(forward.at(1024).at("WIDTH"), 8);
  for (const auto& rule : forward.rules) EXPECT_FALSE(rule.reason.empty());
  EXPECT_EQ(document.evaluations.planned, 2 * 3 * 48);
  EXPECT_EQ(document.evaluations.distinct_binaries, 2 * 3 * 24) << "the dead knob halves the space";
  EXPECT_LE(document.evaluations.timed, 0.35 * document.evaluations.distinct_binaries);
  EXPECT_EQ(document.stop_reason, "every strategy of the profile has been tried");
}

TEST_F(Optimize, AQuickRunTimesFewerConfigurations) {
  use_strategies({});
  const auto whole = optimize(options());
  files = {};
  profile.request.quick = true;
  const auto quick = optimize(options());
  ASSERT_TRUE(whole && quick);
  EXPECT_LT(quick->comparison.evaluations.timed, whole->comparison.evaluations.timed);
  EXPECT_EQ(quick->comparison.evaluations.planned, 2 * 3 * 32);
  EXPECT_EQ(quick->comparison.winner, "v1");
  EXPECT_THAT(quick->comparison.learnings,
              ::testing::Contains(HasSubstr("forward at 1024: a quick run considers 32 of 48 configurations")));
}

TEST_F(Optimize, WhatCouldNotBeJudgedHasNoRowAndSaysWhy) {
  use_strategies({});
  // Every other run beside other load: no comparison can be trusted.
  session.load = [this](int samples) {
    return kernel.events.back().find(" v1") != std::string::npos && samples % 2 == 0 ? 4.0 : 1.0;
  };
  auto outcome = optimize(options());
  ASSERT_TRUE(outcome);
  const auto& v1 = outcome->comparison.variants[0];
  for (const auto& row : v1.results) EXPECT_GT(row.ratio, 0);
  EXPECT_NE(v1.status, VariantStatus::accepted);
}

TEST_F(Optimize, AnUnresolvedComparisonIsLookedAtAgainWithMoreTime) {
  kernel.sources["changed text\n"] = {0.97, 0.97};
  session.proposals["less-traffic"] = {source_proposal(kernel, "changed text\n")};
  use_strategies({"less-traffic"});
  session.noise = 0.05;
  auto o = options();
  o.verdict.aim_ns = 30'000'000;
  auto outcome = optimize(o);
  ASSERT_TRUE(outcome);
  std::map<std::string, int> pairs;
  for (const std::string& line : base::split(*files.read("optimization/rms_norm/journal.jsonl"), '\n')) {
    const auto record = stages::parse_line(line);
    if (!record || record->event != "compared" || record->key.find("variants|full|1024") == std::string::npos) continue;
    // 0.7 ms a run and 30 ms allowed are at most ten blocks at the first look.
    EXPECT_TRUE(record->text_at("verdict") != "unresolved" || record->json.find("pairs")->number() > 20) << line;
    ++pairs[record->text_at("verdict")];
  }
  EXPECT_FALSE(pairs.empty());
}

TEST_F(Optimize, PredictionIsWrittenBeforeAnythingRunsAndNeverChangedAfterwards) {
  try_source({0.8, 0.8}, {{"4096", "forward", 0.85, "less traffic"}});
  EXPECT_LT(index_of("notes v1 prediction"), index_of("sample forward 1024 ROWS=1 STREAM=0 UNUSED=1 WIDTH=4 "));
  for (const char* id : {"v1", "v2"}) {
    const std::string name = id;
    EXPECT_LT(index_of("notes " + name + " prediction"), index_of("build " + name));
    EXPECT_LT(index_of("build " + name), index_of("gate smoke " + name));
    EXPECT_LT(index_of("gate smoke " + name), index_of("sample forward 1024 " + name));
    EXPECT_LT(index_of("sample forward 1024 " + name), index_of("notes " + name + " results"));
  }
  const auto& notes = documents.notes;
  ASSERT_EQ(notes.size(), 5u)
      << "v1 before the sweep, with the settings it chose, and with results; v2 before and after";
  EXPECT_FALSE(notes[0].predictions.empty());
  for (std::size_t i : {1u, 2u}) {
    EXPECT_EQ(notes[0].hypothesis, notes[i].hypothesis);
    ASSERT_EQ(notes[0].predictions.size(), notes[i].predictions.size());
    for (std::size_t p = 0; p < notes[0].predictions.size(); ++p)
      EXPECT_EQ(notes[0].predictions[p].ratio, notes[i].predictions[p].ratio);
  }
  ASSERT_EQ(notes[4].predictions.size(), 1u);
  EXPECT_EQ(notes[4].predictions[0].ratio, 0.85);
  EXPECT_THAT(notes[4].learnings, HasSubstr("forward at 4096: predicted 0.850, measured 0.8"));
  EXPECT_THAT(notes[4].learnings, HasSubstr("more than predicted"));
}

TEST_F(Optimize, AFasterVariantIsAcceptedAgainstTheBestSoFarAndReportedAgainstV0) {
  const auto v2 = try_source({0.9, 0.9});
  EXPECT_EQ(v2.status, VariantStatus::accepted) << v2.reason;
  EXPECT_EQ(v2.parent, "v1");
  EXPECT_EQ(comparison.winner, "v2");
  for (const auto& row : v2.results) {
    if (row.metric == "speed" && row.mode == "forward" && row.x_value == "4096") {
      EXPECT_LT(row.ci_high, 0.85) << "0.9 of what the sweep left";
    }
  }
}

TEST_F(Optimize, TwoSmallGainsInARowEndTheLoop) {
  for (int i = 0; i < 6; ++i) {
    const std::string text = "text " + std::to_string(i) + "\n";
    kernel.sources[text] = {1.0, 1.0};
    session.proposals["s" + std::to_string(i)] = {source_proposal(kernel, text)};
  }
  use_strategies({"s0", "s1", "s2", "s3", "s4", "s5"});
  auto outcome = optimize(options());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->comparison.variants.size(), 3u);
  EXPECT_THAT(outcome->comparison.stop_reason, HasSubstr("two variants in a row (v2 and v3) brought less than 1 %"));
}

TEST_F(Optimize, TheNoiseFloorStandsInForOnePercentWhereItIsLargerAndSaysSo) {
  for (const char* s : {"s0", "s1"})
    kernel.sources[std::string(s) + "\n"] = {0.985, 0.985},
                                    session.proposals[s] = {source_proposal(kernel, std::string(s) + "\n")};
  use_strategies({"s0", "s1"});
  for (auto& floor : profile.baseline.noise_floor) floor.smallest_effect_pct = 3;
  auto outcome = optimize(options());
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->comparison.stop_reason, HasSubstr("the noise floor here"));
}

// What is left may be too small to be seen. A noise floor of half the time sees nothing at all, which is no finding.
TEST_F(Optimize, WhatIsLeftBelowAFailedMeasurementIsNotNothingToGain) {
  hold_at_share_of_floor(0.9);
  use_strategies({"less-traffic"});
  for (auto& floor : profile.baseline.noise_floor) floor.smallest_effect_pct = 15;
  auto seen = optimize(options());
  ASSERT_TRUE(seen) << base::describe(seen.error());
  EXPECT_THAT(seen->comparison.stop_reason, HasSubstr("below the noise floor in every cell"));
  EXPECT_TRUE(seen->comparison.variants.empty());
  for (auto& floor : profile.baseline.noise_floor) floor.smallest_effect_pct = 46;
  auto blind = optimize(options());
  ASSERT_TRUE(blind) << base::describe(blind.error());
  EXPECT_THAT(blind->comparison.stop_reason, Not(HasSubstr("nothing to gain")));
  EXPECT_FALSE(blind->comparison.variants.empty());
}

TEST_F(Optimize, MaxVariantsEndsTheLoop) {
  for (int i = 0; i < 9; ++i) {
    const std::string text = "text " + std::to_string(i) + "\n";
    kernel.sources[text] = {1, 1, 1, false};
    session.proposals["s" + std::to_string(i)] = {source_proposal(kernel, text)};
  }
  use_strategies({"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"});
  auto o = options();
  o.max_variants = 4;
  auto outcome = optimize(o);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->comparison.variants.size(), 4u);
  EXPECT_THAT(outcome->comparison.stop_reason, HasSubstr("all 4 variants"));
}

// Ceilings that were measured beside other load are too low: what comes out faster than they allow is no fault of the variant.
TEST_F(Optimize, CeilingsMeasuredUnderLoadAreLookedAtAgainBeforeAVariantIsCalledTooFast) {
  session.floor_of_second_look = 0.5;
  const auto v2 = try_source({0.6, 0.6});
  EXPECT_EQ(v2.status, VariantStatus::accepted) << v2.reason;
  EXPECT_EQ(std::count(kernel.events.begin(), kernel.events.end(), "ceilings again"), 1);
  EXPECT_LT(index_of("take ceilings " + profile.created), index_of("ceilings again"))
      << "the first look is the profile's";
  EXPECT_THAT(comparison.learnings, ::testing::Contains(HasSubstr("measured again")));
}

TEST_F(Optimize, ACeilingMeasuredUnderLoadDoesNotEndTheSearchAtOnce) {
  use_strategies({});
  for (model::Headroom& row : profile.headroom) row.share_of_ceiling_pct = 99, row.ratio = 100.0 / 99;
  auto outcome = optimize(options());  // the second look finds floors that leave 30 %
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->comparison.winner, "v1") << outcome->comparison.stop_reason;
}

TEST_F(Optimize, AtTheCeilingNothingIsTriedAndThatIsAGoodOutcome) {
  hold_at_share_of_floor(0.975);
  use_strategies({"less-traffic"});
  auto outcome = optimize(options());
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->comparison.variants.empty());
  EXPECT_EQ(outcome->comparison.winner, "v0");
  EXPECT_THAT(outcome->comparison.stop_reason, HasSubstr("nothing to gain"));
  EXPECT_EQ(session.samples, 0);
  EXPECT_TRUE(happened("ceilings again")) << "what is at a ceiling that was measured under load is not at its ceiling";
  EXPECT_TRUE(files.exists("optimization/rms_norm/comparison.json"));
}

TEST_F(Optimize, RowsFarOverTheirCeilingAreNoReasonToStop) {
  use_strategies({"less-traffic"});
  for (auto& row : profile.headroom) row.ratio = 1 / 1.35, row.share_of_ceiling_pct = 135, row.physics_floor_ms = 0;
  auto outcome = optimize(options());
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->comparison.variants.empty());
  EXPECT_THAT(outcome->comparison.stop_reason, Not(HasSubstr("nothing to gain")));
}

TEST_F(Optimize, AMetTargetEndsTheLoop) {
  kernel.sources["changed text\n"] = {0.9, 0.9};
  session.proposals["less-traffic"] = {source_proposal(kernel, "changed text\n")};
  use_strategies({"less-traffic"});
  auto o = options();
  o.target_metric = "forward < 1.1 ms @ hidden_size=4096";
  auto outcome = optimize(o);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->comparison.variants.size(), 1u);
  EXPECT_THAT(outcome->comparison.stop_reason, HasSubstr("target met"));
}

TEST_F(Optimize, AnUnreadableTargetIsAUsageErrorBeforeAnythingRuns) {
  use_strategies({});
  auto o = options();
  o.target_metric = "forward < 0.92 parsecs";
  auto outcome = optimize(o);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, base::ErrorKind::usage);
  EXPECT_EQ(session.samples, 0);
}

TEST_F(Optimize, AMixedVariantLeavesItsWinningPartForACombination) {
  repository::Proposal proposal;
  proposal.variant.title = "a width for large rows";
  proposal.hypothesis = "wider", proposal.changes = "WIDTH";
  use_strategies({"access-width"});
  // Only the combination knows: SPECIAL is faster at 4096 and slower at 1024.
  const auto tuned = session.time_ms;
  session.time_ms = [tuned](const std::string& pass, std::int64_t x, const model::Settings& s) {
    return tuned(pass, x, s) * (s.at("UNUSED") == 7 && pass == "forward" ? (x >= 4096 ? 0.97 : 1.25) : 1);
  };
  session.dead_knobs.clear();
  for (auto& knob : session.tunable) {
    if (knob.name == "UNUSED") knob.values = {1};
  }
  model::SettingsFunction special;
  special.x_name = session.x_name();
  special.rules = {{0, {{"ROWS", 4}, {"WIDTH", 8}, {"STREAM", 1}, {"UNUSED", 7}}, ""}};
  proposal.variant = session.original();
  proposal.variant.settings["forward"] = special;
  session.proposals["access-width"] = {proposal};
  auto outcome = optimize(options());
  ASSERT_TRUE(outcome);
  const auto& variants = outcome->comparison.variants;
  ASSERT_GE(variants.size(), 3u);
  EXPECT_EQ(variants[1].status, VariantStatus::mixed) << variants[1].reason;
  EXPECT_EQ(variants[2].strategy, "combination");
  EXPECT_EQ(variants[2].status, VariantStatus::accepted) << variants[2].reason;
  EXPECT_EQ(variants[2].settings.at("forward").at(4096).at("UNUSED"), 7);
  EXPECT_NE(variants[2].settings.at("forward").at(1024).at("UNUSED"), 7);
}

TEST_F(Optimize, AProfileOfAnotherSourceKernelOrDeviceIsRefused) {
  use_strategies({});
  kernel.source = "edited since\n";
  auto changed = optimize(options());
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind, base::ErrorKind::preflight);
  EXPECT_THAT(changed.error().remedy, HasSubstr("hone profile rms_norm"));
  use_strategies({});
  session.device_name = "Another CPU";
  EXPECT_FALSE(optimize(options()));
  use_strategies({});
  profile.kernel = "swiglu";
  EXPECT_FALSE(optimize(options()));
  EXPECT_EQ(session.samples, 0);
}

TEST_F(Optimize, AScopeOfOnePassLeavesTheOtherAlone) {
  use_strategies({});
  profile.request.scope = "forward";
  auto outcome = optimize(options());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->comparison.variants[0].settings.at("backward").at(4096),
            session.original().settings.at("backward").at(4096));
  EXPECT_EQ(outcome->comparison.winner, "v1");
}

TEST_F(Optimize, WithoutATerminalTheStageEndsWithTheNextCommand) {
  use_strategies({});
  auto o = options();
  o.autonomous = false;
  auto outcome = optimize(o);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->decision.ended);
  EXPECT_EQ(outcome->decision.next_command, "hone finalize rms_norm");
}

TEST_F(Optimize, APersonMayChooseAnotherWinner) {
  try_source({0.9, 0.9});
  person.present = true;
  person.replies = {{stages::Choice::another, "v1"}};
  auto o = options();
  o.autonomous = false;
  auto outcome = optimize(o);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->comparison.winner, "v1");
  EXPECT_EQ(workspace().load_comparison()->winner, "v1");
  ASSERT_EQ(person.questions.size(), 1u);
  EXPECT_THAT(person.questions[0].headline, HasSubstr("v2 is the winner"));
}

TEST_F(Optimize, GoalMemoryAcceptsLessMemoryAndGuardsSpeed) {
  kernel.sources["small\n"] = {1.0, 1.0, 0.7};
  kernel.sources["small and slow\n"] = {1.2, 1.2, 0.5};
  session.proposals["a"] = {source_proposal(kernel, "small and slow\n")};
  session.proposals["b"] = {source_proposal(kernel, "small\n")};
  use_strategies({"a", "b"});
  profile.request.goal = "memory";
  auto outcome = optimize(options());
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->comparison.variants.size(), 3u);
  EXPECT_EQ(outcome->comparison.variants[1].status, VariantStatus::rejected) << outcome->comparison.variants[1].reason;
  EXPECT_EQ(outcome->comparison.variants[2].status, VariantStatus::accepted) << outcome->comparison.variants[2].reason;
}

}  // namespace
}  // namespace hone::test

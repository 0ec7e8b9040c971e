// A whole profile in, one class with its evidence, strategies and bounds out.
#include "diagnose/diagnose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "diagnose/advice.hpp"
#include "diagnose/classes.hpp"
#include "tests/diagnose/profiles.hpp"

namespace hone::diagnose {
namespace {

using model::BottleneckClass;
using test::add_ablations;
using test::add_pass;
using test::cpu_profile;
using test::one_size;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> words(const Diagnosis& diagnosis) {
  std::vector<std::string> list;
  for (const model::StrategyStep& step : diagnosis.strategy_order) list.push_back(step.strategy);
  return list;
}

const model::EvidenceRow* row_of(const Diagnosis& diagnosis, const std::string& signal) {
  for (const model::EvidenceRow& row : diagnosis.bottleneck.evidence)
    if (row.signal == signal) return &row;
  return nullptr;
}

TEST(Diagnose, ArithmeticThatHidesBehindMemoryIsMemoryBound) {
  const Diagnosis diagnosis = diagnose(one_size(88, 0.98, 0.25));
  EXPECT_EQ(diagnosis.bottleneck.cls, BottleneckClass::memory_bound);
  EXPECT_EQ(diagnosis.bottleneck.confidence, model::Confidence::high);
  EXPECT_EQ(diagnosis.bottleneck.by_pass.size(), 2u);
  EXPECT_EQ(words(diagnosis)[0], "parameter-sweep");
  EXPECT_EQ(words(diagnosis)[1], "access-width");
  EXPECT_THAT(diagnosis.bottleneck.refutation,
              HasSubstr("less than 60 % of its time with only its arithmetic taken out (98.0 % was measured)"));
}

TEST(Diagnose, ArithmeticAloneThatTakesTheWholeTimeIsComputeBound) {
  const Diagnosis diagnosis = diagnose(one_size(35, 0.36, 0.97));
  EXPECT_EQ(diagnosis.bottleneck.cls, BottleneckClass::compute_bound);
  EXPECT_EQ(words(diagnosis)[1], "algorithm");
}

TEST(Diagnose, EachAloneTakingTheWholeTimeIsBalanced) {
  const Diagnosis diagnosis = diagnose(one_size(88, 0.95, 0.93));
  EXPECT_EQ(diagnosis.bottleneck.cls, BottleneckClass::balanced);
  EXPECT_EQ(words(diagnosis)[1], "redundant-work");
  EXPECT_EQ(words(diagnosis)[2], "access-width");
}

TEST(Diagnose, NeitherAloneNearTheTimeIsLatencyBoundAndSaysTheyTakeTurns) {
  const Diagnosis diagnosis = diagnose(one_size(30, 0.54, 0.50));
  EXPECT_EQ(diagnosis.bottleneck.cls, BottleneckClass::latency_bound);
  EXPECT_THAT(diagnosis.bottleneck.limiter, HasSubstr("take turns"));
  EXPECT_EQ(words(diagnosis)[1], "prefetch");
}

// Seen on a shared processor: 65 % of the ceiling, 74 % with the arithmetic taken out, 26 % with the traffic taken out.
TEST(Diagnose, MemoryThatLeavesTheArithmeticUnhiddenIsSaidAndOverlapComesFirst) {
  const Diagnosis diagnosis = diagnose(one_size(65, 0.736, 0.255));
  EXPECT_EQ(diagnosis.bottleneck.cls, BottleneckClass::memory_bound);
  EXPECT_EQ(diagnosis.bottleneck.confidence, model::Confidence::medium) << "a quarter of the time is not memory's";
  EXPECT_THAT(diagnosis.bottleneck.limiter, HasSubstr("no overlap (memory alone 73.6 % and arithmetic alone 25.5 %"));
  EXPECT_EQ(words(diagnosis)[1], "prefetch");
  EXPECT_EQ(words(diagnosis)[2], "unrolling");
  EXPECT_THAT(diagnosis.summary, HasSubstr("memory-bound, limited by memory bandwidth, no overlap;"));
}

TEST(Diagnose, WiderAccessesAreNotAdvisedWhereThereAreNone) {
  model::Profile profile = one_size(80, 0.98, 0.25);
  profile.device.isa = {"avx", "avx2", "avx512f"};
  profile.configuration.parameters.push_back(
      {"VECTOR_BYTES (forward)", "64", model::HowSet::settings_function, "", model::Liveness::live, ""});
  const Diagnosis diagnosis = diagnose(profile);
  EXPECT_EQ(words(diagnosis).back(), "access-width");
  EXPECT_THAT(diagnosis.strategy_order.back().reason, HasSubstr("full width of this processor already"));
  ASSERT_FALSE(diagnosis.opportunities.empty());
  for (const model::Opportunity& opportunity : diagnosis.opportunities)
    EXPECT_NE(opportunity.strategy, "access-width") << opportunity.title << " is taken up by what is spent";
  profile.configuration.parameters.back().value = "32";
  EXPECT_EQ(words(diagnose(profile))[1], "access-width");
}

TEST(Diagnose, APointerChaseIsLatencyBoundThoughMemoryTakesAllOfItsTime) {
  const Diagnosis diagnosis = diagnose(one_size(1, 1.0, 0.02));
  EXPECT_EQ(diagnosis.bottleneck.cls, BottleneckClass::latency_bound);
  EXPECT_THAT(diagnosis.bottleneck.limiter, HasSubstr("memory latency"));
}

TEST(Diagnose, AShortKernelCalledFromASlowHostIsHostBound) {
  const Diagnosis diagnosis = diagnose(one_size(88, 0.98, 0.25, 95));
  EXPECT_EQ(diagnosis.bottleneck.cls, BottleneckClass::host_bound);
  EXPECT_EQ(words(diagnosis)[1], "launch-count");
  EXPECT_THAT(diagnosis.strategy_order[1].bound, HasSubstr("of the caller's time, which is host for 95.0 %"));
}

TEST(Diagnose, APassFarOverItsCeilingIsNoProofThatNothingIsLeft) {
  const Diagnosis diagnosis = diagnose(one_size(135, 0.99, 0.2));
  EXPECT_THAT(diagnosis.summary, Not(HasSubstr("nothing to gain")));
  EXPECT_THAT(diagnosis.summary,
              HasSubstr("what is left is not known, because a pass is faster than the measured ceiling"));
}

TEST(Diagnose, AtTheCeilingThereIsNothingToGainAndOnlyASweepToConfirm) {
  const Diagnosis diagnosis = diagnose(one_size(98.5, 0.99, 0.2));
  EXPECT_THAT(diagnosis.summary, HasSubstr("at the limit: nothing to gain"));
  EXPECT_THAT(words(diagnosis), ::testing::ElementsAre("parameter-sweep"));
  EXPECT_EQ(diagnosis.estimated_iterations.variants, 1);
}

TEST(Diagnose, TheWholeIsWhatMostOfItsTimeIsAndFullNamesThePass) {
  model::Profile profile = cpu_profile();
  add_pass(profile, "8192", "forward", 256e6, 95);
  add_pass(profile, "8192", "backward", 384e6, 30);
  add_pass(profile, "8192", "full", 640e6, 42);
  add_ablations(profile, "8192", "forward", 0.98, 0.2);
  add_ablations(profile, "8192", "backward", 0.3, 0.96);
  const Diagnosis diagnosis = diagnose(profile);
  EXPECT_EQ(diagnosis.bottleneck.cls, BottleneckClass::compute_bound);
  ASSERT_EQ(diagnosis.bottleneck.by_pass.size(), 3u);
  EXPECT_EQ(diagnosis.bottleneck.by_pass[0].cls, BottleneckClass::memory_bound);
  EXPECT_EQ(diagnosis.bottleneck.by_pass[1].cls, BottleneckClass::compute_bound);
  EXPECT_EQ(diagnosis.bottleneck.by_pass[2].mode, "full");
  EXPECT_EQ(diagnosis.bottleneck.by_pass[2].cls, BottleneckClass::compute_bound);
  EXPECT_THAT(diagnosis.bottleneck.by_pass[2].limiter, HasSubstr("backward"));
}

TEST(Diagnose, TheScopeOfTheRequestDecidesWhichPassCounts) {
  model::Profile profile = cpu_profile();
  add_pass(profile, "8192", "forward", 256e6, 95);
  add_pass(profile, "8192", "backward", 384e6, 30);
  add_ablations(profile, "8192", "backward", 0.3, 0.96);
  profile.request.scope = "forward";
  EXPECT_EQ(diagnose(profile).bottleneck.cls, BottleneckClass::memory_bound);
  profile.request.scope = "backward";
  EXPECT_EQ(diagnose(profile).bottleneck.cls, BottleneckClass::compute_bound);
}

TEST(Diagnose, RoutesThatDisagreeAreSaidAndLowerTheConfidence) {
  const Diagnosis diagnosis = diagnose(one_size(70, 0.72, 0.97));
  EXPECT_EQ(diagnosis.bottleneck.cls, BottleneckClass::compute_bound);
  EXPECT_EQ(diagnosis.bottleneck.confidence, model::Confidence::low);
  EXPECT_THAT(diagnosis.bottleneck.reasoning, HasSubstr("share of the measured ceiling alone would say memory-bound"));
}

TEST(Diagnose, ContradictingRowsStandInTheTable) {
  const Diagnosis diagnosis = diagnose(one_size(35, 0.36, 0.97));
  const model::EvidenceRow* share = row_of(diagnosis, "forward: share of bandwidth");
  ASSERT_NE(share, nullptr);
  EXPECT_EQ(share->supports, "against memory-bound");
  const model::EvidenceRow* intensity = row_of(diagnosis, "forward: arithmetic intensity");
  ASSERT_NE(intensity, nullptr);
  EXPECT_EQ(intensity->supports, "memory-bound") << "a row that contradicts the class is kept";
  EXPECT_EQ(intensity->source, model::Source::source_code);
}

TEST(Diagnose, BoundsFollowAmdahlOverPassesAblationsAndHost) {
  model::Profile profile = cpu_profile();
  add_pass(profile, "8192", "forward", 200e6, 80, 20);   // floor 20 ms of 25 ms: 20 % can go
  add_pass(profile, "8192", "backward", 375e6, 50, 20);  // floor 37.5 ms of 75 ms: 50 % can go
  const Diagnosis diagnosis = diagnose(profile);
  // (5 + 37.5) / 100 ms = 42.5 % of the passes, 34 % of a caller that is host for a fifth.
  EXPECT_THAT(diagnosis.strategy_order[0].bound,
              HasSubstr("20.0 % of forward's 25.0 ms, 50.0 % of backward's 75.0 ms"));
  EXPECT_THAT(diagnosis.strategy_order[0].bound, HasSubstr("42.5 % of all passes"));
  EXPECT_THAT(diagnosis.strategy_order[0].bound, HasSubstr("34.0 % of the caller's time"));
}

// The time over a floor is there once: two strategies that lead to it do not add up.
TEST(Diagnose, StrategiesWithTheSameBoundSayThatTheyShareIt) {
  const Diagnosis diagnosis = diagnose(one_size(80, 0.98, 0.25));
  std::vector<std::string> seen;
  for (const model::StrategyStep& step : diagnosis.strategy_order) {
    const std::size_t note = step.bound.find("; the same time as that of ");
    const std::string bare = step.bound.substr(0, note);
    const bool repeated = std::find(seen.begin(), seen.end(), bare) != seen.end();
    EXPECT_EQ(note != std::string::npos, repeated) << step.strategy << ": " << step.bound;
    seen.push_back(bare);
  }
  EXPECT_THAT(diagnosis.strategy_order[1].bound,
              HasSubstr("the same time as that of parameter-sweep, not in addition to it"));
}

TEST(Diagnose, AnAblationWhoseIntervalHoldsBothAnswersSupportsNothing) {
  model::Profile profile = one_size(80, 0.98, 0.25);
  EXPECT_EQ(row_of(diagnose(profile), "forward: no-compute ablation")->supports, "memory-bound");
  for (model::Experiment& each : profile.counters.experiments)
    if (each.name == "no-compute") each.ci_low = 0.7, each.ci_high = 1.3;
  EXPECT_EQ(row_of(diagnose(profile), "forward: no-compute ablation")->supports, "nothing");
  for (model::Experiment& each : profile.counters.experiments) each.ci_low = 0.5, each.ci_high = 0.7;
  EXPECT_EQ(row_of(diagnose(profile), "forward: no-compute ablation")->supports, "nothing");
  EXPECT_EQ(row_of(diagnose(profile), "forward: no-memory ablation")->supports, "nothing");
}

TEST(Diagnose, TimesThatTheirOwnCopyDoesNotReproduceGiveLittleConfidenceAndThatIsSaid) {
  model::Profile profile = one_size(80, 0.98, 0.25);
  EXPECT_NE(diagnose(profile).bottleneck.confidence, model::Confidence::low);
  for (const char* mode : {"forward", "backward"}) {
    model::NoiseFloor noise;
    noise.x_value = "8192", noise.mode = mode, noise.smallest_effect_pct = 55;
    profile.baseline.noise_floor.push_back(noise);
  }
  const Diagnosis diagnosis = diagnose(profile);
  EXPECT_EQ(diagnosis.bottleneck.confidence, model::Confidence::low);
  EXPECT_THAT(diagnosis.bottleneck.reasoning, HasSubstr("Identical code differs by up to 55.0 % here"));
}

TEST(Diagnose, AnAblationBoundsWhatAStrategyCanBring) {
  // Taking all arithmetic out saves 4 %: a cheaper algorithm can not bring more, though 12 % lie above the roofline bound.
  const Diagnosis diagnosis = diagnose(one_size(88, 0.96, 0.95));
  const auto step = std::find_if(diagnosis.strategy_order.begin(), diagnosis.strategy_order.end(),
                                 [](const auto& each) { return each.strategy == "algorithm"; });
  ASSERT_NE(step, diagnosis.strategy_order.end());
  EXPECT_THAT(step->bound, HasSubstr("4.0 % of all passes"));
}

TEST(Diagnose, AKnobProvenDeadSendsItsStrategyToTheEnd) {
  model::Profile profile = one_size(80, 0.98, 0.25);
  profile.configuration.parameters.push_back({"STREAMING_STORES", "1", model::HowSet::settings_function, "",
                                              model::Liveness::dead, "2 values, 1 machine code"});
  const Diagnosis diagnosis = diagnose(profile);
  EXPECT_EQ(words(diagnosis).back(), "streaming-stores");
  EXPECT_THAT(diagnosis.strategy_order.back().reason,
              HasSubstr("Its knobs do nothing here: STREAMING_STORES = 1 (dead: 2 values, 1 machine code)"));
  const auto opportunity = std::find_if(diagnosis.opportunities.begin(), diagnosis.opportunities.end(),
                                        [](const auto& each) { return each.title == "STREAMING_STORES is dead"; });
  EXPECT_NE(opportunity, diagnosis.opportunities.end());
}

TEST(Diagnose, AKnobDeadInSeveralLaunchesIsOneOpportunity) {
  model::Profile profile = one_size(80, 0.98, 0.25);
  const model::Parameter stages = {"num_stages",          "3",      model::HowSet::default_value, "first launch",
                                   model::Liveness::dead, "no loop"};
  model::Parameter elsewhere = stages, other = stages, live = stages;
  elsewhere.notes = "second launch", other.live_evidence = "no load in its loop", live.live = model::Liveness::live;
  profile.configuration.parameters = {live, stages, elsewhere, other};
  std::vector<std::string> costs;
  for (const auto& each : diagnose(profile).opportunities)
    if (each.title == "num_stages is dead") costs.push_back(each.detail);
  EXPECT_THAT(costs, testing::UnorderedElementsAre(HasSubstr("in 2 places (no loop)"),
                                                   HasSubstr("launch (no load in its loop)")));
}

TEST(Diagnose, AdviceOfTheArchitectureCarriesItsSource) {
  const Diagnosis diagnosis = diagnose(one_size(80, 0.98, 0.25));
  const auto step = std::find_if(diagnosis.strategy_order.begin(), diagnosis.strategy_order.end(),
                                 [](const auto& each) { return each.strategy == "streaming-stores"; });
  ASSERT_NE(step, diagnosis.strategy_order.end());
  EXPECT_THAT(step->reason, HasSubstr("x86:"));
  EXPECT_THAT(step->reason, HasSubstr("Optimization Reference Manual"));
}

TEST(Diagnose, MaskedLanesAreCountedFromTheTileAndTheRow) {
  model::Profile profile = cpu_profile();
  add_pass(profile, "5120", "forward", 256e6, 40);
  add_ablations(profile, "5120", "forward", 0.4, 0.97);
  profile.configuration.parameters.push_back(
      {"BLOCK_SIZE", "4096: 4096, 5120: 8192", model::HowSet::settings_function, "", model::Liveness::live, ""});
  const Diagnosis diagnosis = diagnose(profile);
  const auto found = std::find_if(diagnosis.opportunities.begin(), diagnosis.opportunities.end(),
                                  [](const auto& each) { return each.title == "37.5 % of the lanes are masked"; });
  ASSERT_NE(found, diagnosis.opportunities.end());
  EXPECT_EQ(found->strategy, "redundant-work");
}

TEST(Diagnose, AProviderThatIsFasterIsAnOpportunity) {
  model::Profile profile = one_size(80, 0.98, 0.25);
  profile.baseline.rows.push_back({"8192", "forward", "eager", "speed", "ms", 19, 20, 21, 50, model::Source::measured});
  const Diagnosis diagnosis = diagnose(profile);
  EXPECT_TRUE(std::any_of(diagnosis.opportunities.begin(), diagnosis.opportunities.end(),
                          [](const auto& each) { return each.title == "eager is faster at hidden_size=8192"; }));
}

TEST(Diagnose, CalculatedOccupancyIsEvidenceAndALimiterButNoRouteOfCounters) {
  model::Profile profile = test::gpu_profile(12, 0.97, 0.2);
  profile.counters.kernels = {test::calculated_launch()};
  const Diagnosis diagnosis = diagnose(profile);
  EXPECT_EQ(diagnosis.bottleneck.cls, BottleneckClass::latency_bound);
  EXPECT_THAT(diagnosis.bottleneck.plain_rule_class, HasSubstr("not applicable"));
  EXPECT_THAT(diagnosis.bottleneck.limiter, HasSubstr("grid (132 programs, one an SM; 2 would fit)"));
  EXPECT_THAT(diagnosis.bottleneck.limiter, HasSubstr("registers (128 a thread"));
  EXPECT_THAT(diagnosis.bottleneck.limiter, HasSubstr("memory latency"));
  const model::EvidenceRow* row = row_of(diagnosis, "forward: occupancy, calculated");
  ASSERT_NE(row, nullptr);
  EXPECT_THAT(row->observation, HasSubstr("at most 12.5 % of the warps in flight"));
  EXPECT_EQ(row->supports, "latency-bound");
  EXPECT_THAT(diagnosis.bottleneck.reasoning,
              HasSubstr("Route without hardware counters: shares of the measured ceilings, ablations, occupancy by"));
  EXPECT_THAT(diagnosis.bottleneck.reasoning, Not(HasSubstr("hardware counters alone")));
}

TEST(Diagnose, ARecordedPassGoesBeforeWhatAKernelsNameSuggests) {
  model::Profile profile = test::gpu_profile(12, 0.97, 0.2);
  model::CounterSummary first = test::calculated_launch(), named = first, other = first;
  first.name = "count_tokens", first.pass = "forward", first.theoretical_occupancy_pct = 100;
  named.name = "loss_forward", named.pass = "forward";
  other.name = "forward_of_another", other.pass = "backward", other.theoretical_occupancy_pct = 75;
  profile.counters.kernels = {other, first, named};
  EXPECT_THAT(row_of(diagnose(profile), "forward: occupancy, calculated")->observation, HasSubstr("at most 12.5 %"))
      << "the one that carries the pass's name is its main one";
  profile.counters.kernels = {other, first};
  EXPECT_THAT(row_of(diagnose(profile), "forward: occupancy, calculated")->observation, HasSubstr("at most 50"));
}

TEST(Diagnose, FewWarpsByCalculationRaiseTheShareFromWhichMemoryCounts) {
  for (const double share : {70.0, 90.0}) {
    model::Profile profile = test::gpu_profile(share, 0.5, 0.2);
    profile.counters.kernels = {test::calculated_launch()};
    EXPECT_EQ(diagnose(profile).bottleneck.cls,
              share < kBusyWhenStarved ? BottleneckClass::latency_bound : BottleneckClass::memory_bound);
  }
}

TEST(Diagnose, CountersBesideTheOtherRoutesAreSaidToAgreeOrToDiffer) {
  model::Profile profile = test::gpu_profile(92, 0.98, 0.3);
  model::CounterSummary kernel = test::calculated_launch(20);
  kernel.compute_throughput_pct = 20;
  kernel.memory_throughput_pct = 88;
  kernel.occupancy_pct = 85;
  kernel.theoretical_occupancy_pct = 100;
  kernel.duration_us = 60;
  profile.counters.status = "available";
  profile.counters.kernels = {kernel};
  const Diagnosis agreeing = diagnose(profile);
  EXPECT_EQ(agreeing.bottleneck.confidence, model::Confidence::high);
  ASSERT_NE(row_of(agreeing, "forward: routes"), nullptr);
  EXPECT_EQ(row_of(agreeing, "forward: routes")->observation,
            "shares of the ceilings: memory-bound, ablations: memory-bound, counters: memory-bound; they agree");
  EXPECT_THAT(agreeing.bottleneck.reasoning, HasSubstr("Route: hardware counters, shares of the measured ceilings"));
  profile.counters.kernels[0].memory_throughput_pct = 30;
  profile.counters.kernels[0].compute_throughput_pct = 85;
  const Diagnosis differing = diagnose(profile);
  EXPECT_THAT(row_of(differing, "forward: routes")->observation, HasSubstr("they differ"));
  EXPECT_EQ(row_of(differing, "forward: routes")->supports, "nothing");
  EXPECT_EQ(differing.bottleneck.confidence, model::Confidence::low);
}

TEST(Diagnose, WarpsThatHelpSpeakForLatencyAndWarpsThatAreNotMissedAgainstIt) {
  model::Profile profile = test::gpu_profile(92, 0.98, 0.3);
  profile.counters.experiments.push_back({"fewer-warps", "8192", "forward", "num_warps=4", 1.01, 1.0, 1.02, ""});
  ASSERT_NE(row_of(diagnose(profile), "forward: warps sweep"), nullptr);
  EXPECT_EQ(row_of(diagnose(profile), "forward: warps sweep")->supports, "against latency-bound");
  profile.counters.experiments.push_back({"more-warps", "8192", "forward", "num_warps=16", 0.7, 0.69, 0.71, ""});
  EXPECT_EQ(row_of(diagnose(profile), "forward: warps sweep")->supports, "latency-bound");
  profile.counters.experiments.clear();
  profile.counters.experiments.push_back({"fewer-warps", "8192", "forward", "num_warps=4", 1.4, 1.39, 1.41, ""});
  EXPECT_EQ(row_of(diagnose(profile), "forward: warps sweep")->supports, "nothing");
}

TEST(Diagnose, TimeThatDoesNotShrinkWithTheWorkIsFixedCost) {
  model::Profile profile = test::gpu_profile(92, 0.98, 0.3);
  profile.counters.experiments.push_back({"size-scaling", "8192", "forward", "hidden_size=4096", 0.51, 0.5, 0.52, ""});
  const Diagnosis linear = diagnose(profile);
  EXPECT_THAT(row_of(linear, "forward: size scaling")->observation, HasSubstr("2.0 % of the time does not shrink"));
  EXPECT_EQ(row_of(linear, "forward: size scaling")->supports, "against latency-bound");
  profile.counters.experiments.back().ratio = 0.9;
  const Diagnosis fixed = diagnose(profile);
  EXPECT_THAT(row_of(fixed, "forward: size scaling")->observation, HasSubstr("80.0 % of the time does not shrink"));
  EXPECT_EQ(row_of(fixed, "forward: size scaling")->supports, "latency-bound");
  profile.counters.experiments.back().parameter = "hidden_size=2048";  // of which no bytes are known
  EXPECT_EQ(row_of(diagnose(profile), "forward: size scaling"), nullptr);
}

TEST(Diagnose, AnEmptyProfileHasAClassOfItsTierAndNoOtherEvidence) {
  model::Profile profile;
  profile.kernel = "mystery";
  profile.identity.tier = 2;
  const Diagnosis diagnosis = diagnose(profile);
  EXPECT_EQ(diagnosis.bottleneck.cls, BottleneckClass::memory_bound);
  EXPECT_EQ(diagnosis.bottleneck.confidence, model::Confidence::low);
  ASSERT_EQ(diagnosis.bottleneck.evidence.size(), 1u);
  EXPECT_EQ(diagnosis.bottleneck.evidence.front().signal, "Tier");
  EXPECT_THAT(diagnosis.bottleneck.reasoning, HasSubstr("nothing was measured"));
}

// Any mixture of figures, missing and impossible ones included: one class with evidence, a sweep first, finite text.
TEST(Diagnose, IsTotalOverRandomProfiles) {
  std::mt19937_64 random(99);
  std::uniform_real_distribution<double> share(0.5, 130), ratio(-0.1, 1.5), host(0, 99);
  const auto coin = [&] { return random() % 2 == 0; };
  for (int i = 0; i < 5000; ++i) {
    model::Profile profile = cpu_profile();
    if (coin()) profile.device.ceilings.by_name.clear();
    for (const char* mode : {"forward", "backward", "full"}) {
      if (coin()) add_pass(profile, coin() ? "1024" : "llama", mode, 1e6 * share(random), share(random), host(random));
      if (coin()) add_ablations(profile, "1024", mode, ratio(random), ratio(random));
    }
    const Diagnosis diagnosis = diagnose(profile);
    ASSERT_FALSE(diagnosis.bottleneck.evidence.empty());
    ASSERT_FALSE(diagnosis.bottleneck.reasoning.empty());
    ASSERT_FALSE(diagnosis.bottleneck.refutation.empty());
    ASSERT_EQ(diagnosis.strategy_order.front().strategy, "parameter-sweep");
    ASSERT_GE(diagnosis.estimated_iterations.variants, 1);
    ASSERT_THAT(diagnosis.summary, Not(HasSubstr("nan")));
    for (const model::EvidenceRow& row : diagnosis.bottleneck.evidence)
      ASSERT_THAT(row.observation, Not(HasSubstr("unknown"))) << row.signal;
    for (const model::StrategyStep& step : diagnosis.strategy_order) {
      ASSERT_NE(find_strategy(step.strategy), nullptr);
      ASSERT_THAT(step.bound, Not(HasSubstr("unknown")));
      ASSERT_FALSE(step.risk.empty());
    }
    for (const model::Opportunity& each : diagnosis.opportunities)
      ASSERT_THAT(each.detail, Not(HasSubstr("unknown"))) << each.title;
  }
}

}  // namespace
}  // namespace hone::diagnose

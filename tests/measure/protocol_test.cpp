// The protocol with scripted subjects on a hand-moved clock: order, budgets, stopping, refusals.
#include "measure/protocol.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/measure/noise.hpp"
#include "tests/measure/scripted_subject.hpp"

namespace hone::measure {
namespace {

using base::ErrorKind;
using model::Verdict;

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

ScriptedSubject::Script constant(double device_ns) {
  return [device_ns](int) -> base::Result<model::Sample> { return run_of(device_ns); };
}

ScriptedSubject::Script noisy(double device_ns, double sigma, std::uint64_t seed) {
  return [=, random = Random(seed)](int) mutable -> base::Result<model::Sample> {
    return run_of(device_ns * lognormal(random, sigma));
  };
}

base::Error failure() { return {ErrorKind::gate, "a run", "a fault", "kernel", "look"}; }

class Protocol : public testing::Test {
 protected:
  base::ManualClock clock_;
};

TEST_F(Protocol, TimesOneSubjectWithRawSamplesAndQuantiles) {
  ScriptedSubject subject("kernel", clock_,
                          [](int run) -> base::Result<model::Sample> { return run_of(1e6 + 1e2 * (run * 37 % 401)); });
  const auto timing = time(subject, clock_, {.target_half_width_pct = 1e-9});
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->samples.size(), 400u);
  EXPECT_EQ(subject.runs(), 402);  // two to warm up
  EXPECT_NEAR(timing->device_ms.p50, 1.02, 1e-3);
  EXPECT_NEAR(timing->wall_ms.p50, 1.122, 1e-3);
  EXPECT_LT(timing->device_ms.p20, timing->device_ms.p80);
  EXPECT_EQ(timing->device_ms.samples, 400);
  EXPECT_EQ(timing->discarded, 0);
  EXPECT_EQ(timing->note, "");
}

TEST_F(Protocol, StopsTimingWhenTheIntervalIsNarrow) {
  ScriptedSubject subject("kernel", clock_, constant(1e6));
  const auto timing = time(subject, clock_, {});
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->samples.size(), 10u);
}

TEST_F(Protocol, KeepsToTheTimeBudgetWarmupIncluded) {
  ScriptedSubject subject("kernel", clock_, noisy(40e6, 0.2, 1));
  const auto timing = time(subject, clock_, {.aim_ns = 1'000'000'000});
  ASSERT_TRUE(timing);
  EXPECT_LE(clock_.now_ns(), 1'000'000'000);
  EXPECT_GE(timing->samples.size(), 15u);
  EXPECT_EQ(timing->note, "the time aimed at ended the sampling");
}

// The time is an aim: a kernel ten times slower gets its samples all the same.
TEST_F(Protocol, TakesTheSamplesAskedForHoweverSlowTheKernelIs) {
  ScriptedSubject subject("slow kernel", clock_, constant(700e6));
  const auto timing = time(subject, clock_, {.aim_ns = 2'000'000'000});
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->device_ms.samples, 10);
  EXPECT_FALSE(timing->few);
}

TEST_F(Protocol, ARowOfAKernelTooSlowForThatSaysHowFewSamplesItHas) {
  ScriptedSubject subject("slower kernel", clock_, constant(20e9));
  const auto timing = time(subject, clock_, {.aim_ns = 2'000'000'000});
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->device_ms.samples, kFewestRounds);
  EXPECT_TRUE(timing->few);
  EXPECT_TRUE(mentions(timing->note, "few samples: 3 of the 10 asked for")) << timing->note;
}

TEST_F(Protocol, SetsThrottledAndContendedSamplesAsideButKeepsThem) {
  ScriptedSubject subject("kernel", clock_, [](int run) -> base::Result<model::Sample> {
    if (run == 5) return run_of(1.3e6, 1000);
    if (run == 7) return run_of(4e6, 1900);
    return run_of(1e6, 1900);
  });
  const auto timing = time(subject, clock_, {});
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->discarded, 2);
  EXPECT_DOUBLE_EQ(timing->device_ms.p80, 1);
  EXPECT_EQ(timing->samples.size(), static_cast<std::size_t>(timing->device_ms.samples) + 2);
  EXPECT_EQ(timing->note, "set aside: 1 samples under a throttled clock, 1 samples beside other load");
}

TEST_F(Protocol, SetsSamplesAsideThatTheDeviceCallsSlowed) {
  ScriptedSubject subject("kernel", clock_, [](int run) -> base::Result<model::Sample> {
    model::Sample sample = run_of(1e6, 1900);
    sample.slowed = run == 5;
    return sample;
  });
  const auto timing = time(subject, clock_, {});
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->note, "set aside: 1 samples under a throttled clock");
}

TEST_F(Protocol, KeepsAllSamplesWhereTooManyAreDisturbedAndSaysSo) {
  ScriptedSubject subject("kernel", clock_,
                          [](int run) -> base::Result<model::Sample> { return run_of(1e6, run % 2 ? 1900 : 1200); });
  const auto timing = time(subject, clock_, {.max_samples = 40});
  ASSERT_TRUE(timing);
  EXPECT_TRUE(timing->kept_disturbed);
  EXPECT_TRUE(mentions(timing->note, "60 of 120 samples were disturbed (60 samples under a throttled clock)"))
      << timing->note;
}

TEST_F(Protocol, ABurstOfLoadAtTheStartIsOutlasted) {
  ScriptedSubject subject(
      "kernel", clock_, [](int run) -> base::Result<model::Sample> { return run_of(run < 20 && run % 2 ? 3e6 : 1e6); });
  const auto timing = time(subject, clock_, {.max_samples = 20});
  ASSERT_TRUE(timing);
  EXPECT_FALSE(timing->kept_disturbed);
  EXPECT_DOUBLE_EQ(timing->device_ms.p80, 1);
}

TEST_F(Protocol, RefusesTimesThatAreNone) {
  for (double bad : {0.0, -5.0, std::nan(""), HUGE_VAL}) {
    ScriptedSubject subject("kernel", clock_,
                            [=](int run) -> base::Result<model::Sample> { return run_of(run == 6 ? bad : 1e6); });
    const auto timing = time(subject, clock_, {});
    ASSERT_FALSE(timing) << bad;
    EXPECT_EQ(timing.error().kind, ErrorKind::untrusted);
  }
}

TEST_F(Protocol, HandsOnTheErrorOfAFailedRun) {
  ScriptedSubject good("good", clock_, constant(1e6));
  ScriptedSubject bad("bad", clock_, [](int run) -> base::Result<model::Sample> {
    if (run == 9) return failure();
    return run_of(1e6);
  });
  EXPECT_EQ(time(bad, clock_, {}).error().found, "a fault");
  ScriptedSubject bad_candidate("bad", clock_, [](int) -> base::Result<model::Sample> { return failure(); });
  EXPECT_EQ(compare(good, bad_candidate, clock_, {}).error().found, "a fault");
  EXPECT_EQ(interleave({&good, &bad_candidate}, clock_, {}).error().found, "a fault");
}

TEST_F(Protocol, InterleavesRoundByRoundThereAndBack) {
  std::string order;
  ScriptedSubject a("A", clock_, constant(1e6)), b("B", clock_, constant(2e6)), c("C", clock_, constant(3e6));
  for (ScriptedSubject* subject : {&a, &b, &c}) subject->log = &order;
  const auto timings = interleave({&a, &b, &c}, clock_, {.min_samples = 6, .warmup = 0});
  ASSERT_TRUE(timings);
  EXPECT_EQ(order.substr(0, 12), "ABCCBAABCCBA");
  ASSERT_EQ(timings->size(), 3u);
  EXPECT_DOUBLE_EQ((*timings)[1].device_ms.p50, 2);
  EXPECT_DOUBLE_EQ((*timings)[2].device_ms.p50, 3);
  EXPECT_TRUE(interleave({}, clock_, {})->empty());
}

// A baseline of half a second is looked at, not sampled as often as the kernel.
TEST_F(Protocol, ASlowReferenceTakesFewRunsAndAQuickOneAsManyAsTheSubjects) {
  ScriptedSubject own("own", clock_, noisy(10e6, 0.05, 1)), slow("slow", clock_, constant(500e6)),
      quick("quick", clock_, constant(9e6));
  const auto timings = interleave({&own}, clock_, {.min_samples = 8, .max_samples = 20, .warmup = 1}, {&slow, &quick});
  ASSERT_TRUE(timings);
  ASSERT_EQ(timings->size(), 3u);
  EXPECT_EQ((*timings)[0].device_ms.samples, 20);
  EXPECT_EQ(slow.runs(), kFewestRounds);
  EXPECT_EQ((*timings)[1].device_ms.samples, kFewestRounds);
  EXPECT_TRUE((*timings)[1].few);
  EXPECT_DOUBLE_EQ((*timings)[1].device_ms.p50, 500);
  EXPECT_GE((*timings)[2].device_ms.samples, 18);
}

TEST_F(Protocol, TheTimeOfReferencesIsNotTheSubjects) {
  ScriptedSubject own("own", clock_, noisy(10e6, 0.05, 1)), slow("slow", clock_, constant(3e9));
  const auto timings = interleave({&own}, clock_, {.max_samples = 40, .aim_ns = 1'000'000'000}, {&slow});
  ASSERT_TRUE(timings);
  EXPECT_EQ((*timings)[0].device_ms.samples, 40);
}

TEST_F(Protocol, ComparesInBlocksWithBothOrders) {
  std::string order;
  ScriptedSubject a("A", clock_, constant(1e6)), b("B", clock_, constant(1e6));
  a.log = b.log = &order;
  ASSERT_TRUE(compare(a, b, clock_, {.budget = {.warmup = 1}}));
  ASSERT_EQ(order.substr(0, 2), "AB");  // warm-up
  int candidate_first = 0;
  for (std::size_t block = 0; 4 * block + 2 < order.size(); ++block) {
    const std::string quad = order.substr(4 * block + 2, 4);
    EXPECT_TRUE(quad == "ABBA" || quad == "BAAB") << quad;
    candidate_first += quad == "BAAB";
  }
  EXPECT_EQ(static_cast<std::size_t>(candidate_first) * 8 + 2, order.size());
}

TEST_F(Protocol, EndsAComparisonEarlyWhenItIsDecidedAndNarrow) {
  ScriptedSubject a("A", clock_, noisy(5e6, 0.002, 1)), b("B", clock_, noisy(5.5e6, 0.002, 2));
  const auto comparison = compare(a, b, clock_, {});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->verdict, Verdict::slower);
  EXPECT_EQ(comparison->pairs, 24);
  EXPECT_TRUE(mentions(comparison->reason, "a narrow interval ended the sampling after 12 blocks"))
      << comparison->reason;
  EXPECT_NEAR(comparison->ratio, 1.1, 0.005);
  EXPECT_EQ(comparison->baseline_samples_ns.size(), 24u);
  EXPECT_EQ(comparison->candidate_samples_ns.size(), 24u);
}

TEST_F(Protocol, UsesTheWholeBudgetForAnUndecidedComparison) {
  ScriptedSubject a("A", clock_, noisy(5e6, 0.1, 1)), b("B", clock_, noisy(5e6, 0.1, 2));
  const auto comparison = compare(a, b, clock_, {});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->verdict, Verdict::unresolved);
  EXPECT_GT(clock_.now_ns(), 1'900'000'000);
  EXPECT_LE(clock_.now_ns(), 2'000'000'000);
  EXPECT_TRUE(mentions(comparison->reason, "the time aimed at ended the sampling")) << comparison->reason;
}

TEST_F(Protocol, AComparisonOfSlowKernelsHasTheBlocksAskedForAndAVerdict) {
  ScriptedSubject a("A", clock_, noisy(500e6, 0.01, 1)), b("B", clock_, noisy(105e6, 0.01, 2));
  const auto comparison = compare(a, b, clock_, {.budget = {.min_samples = 14, .aim_ns = 2'000'000'000}});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->verdict, Verdict::faster) << comparison->reason;
  EXPECT_LT(comparison->ci_high, 0.22);
}

TEST_F(Protocol, AComparisonEndsWithFewerBlocksWhereEvenThoseTakeTooLong) {
  ScriptedSubject a("A", clock_, constant(10e9)), b("B", clock_, noisy(10e9, 0.01, 2));
  const auto comparison = compare(a, b, clock_, {.budget = {.aim_ns = 1'000'000'000}});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->pairs, 2 * kFewestRounds);
  EXPECT_TRUE(mentions(comparison->reason, "after 3 blocks of the 5 asked for")) << comparison->reason;
}

// Noise of 4 % hides a gain of 1.5 % in one second, not in six: the comparison goes on instead of beginning anew.
TEST_F(Protocol, WhatMayHideAGainGetsMoreTime) {
  const auto compared = [&](double ratio, int patience) {
    ScriptedSubject a("A", clock_, noisy(5e6, 0.04, 1)), b("B", clock_, noisy(5e6 * ratio, 0.04, 2));
    const std::int64_t start = clock_.now_ns();
    const auto comparison =
        compare(a, b, clock_, {.budget = {.max_samples = 60, .aim_ns = 1'000'000'000}, .patience = patience});
    EXPECT_LE(clock_.now_ns() - start, 1'000'000'000 * static_cast<std::int64_t>(patience));
    return *comparison;
  };
  EXPECT_EQ(compared(0.985, 1).verdict, Verdict::unresolved);
  EXPECT_EQ(compared(0.985, 6).verdict, Verdict::faster);
  EXPECT_LT(compared(0.5, 6).pairs, 60) << "what is clear does not use up even the first of it";
  EXPECT_LE(compared(1.03, 1).pairs, 60);
}

TEST_F(Protocol, ACandidateBelowThePhysicsFloorIsAGateError) {
  ScriptedSubject a("A", clock_, constant(2e6)), b("B", clock_, constant(0.9e6));
  const auto comparison = compare(a, b, clock_, {.floor_ns = 1e6});
  ASSERT_FALSE(comparison);
  EXPECT_EQ(comparison.error().kind, ErrorKind::gate);
  EXPECT_TRUE(mentions(comparison.error().found, "faster than the physical bound"));
  EXPECT_EQ(comparison.error().where, "B");
  EXPECT_TRUE(mentions(comparison.error().remedy, "check its outputs"));
}

TEST_F(Protocol, ABaselineBelowThePhysicsFloorMeansThatTheCeilingsAreWrong) {
  ScriptedSubject a("A", clock_, constant(0.9e6)), slow("B", clock_, constant(2e6)), fast("C", clock_, constant(0.9e6));
  EXPECT_EQ(compare(a, slow, clock_, {.floor_ns = 1e6}).error().kind, ErrorKind::untrusted);
  const auto both = compare(a, fast, clock_, {.floor_ns = 1e6});
  EXPECT_EQ(both.error().kind, ErrorKind::gate);
  EXPECT_TRUE(mentions(both.error().remedy, "the baseline is below it too"));
}

TEST_F(Protocol, SingleShortSamplesAreNotBelowTheFloor) {
  ScriptedSubject a("A", clock_, constant(2e6));
  ScriptedSubject b("B", clock_, [](int run) -> base::Result<model::Sample> { return run_of(run % 10 ? 2e6 : 0.9e6); });
  EXPECT_TRUE(compare(a, b, clock_, {.floor_ns = 1e6}));
}

TEST_F(Protocol, NoiseFloorIsTheFarEndOfTheIntervalOfACopy) {
  ScriptedSubject a("A", clock_, noisy(5e6, 0.02, 1)), copy("A'", clock_, noisy(5e6, 0.02, 2));
  const auto floor = noise_floor(a, copy, clock_, {});
  ASSERT_TRUE(floor);
  const double low = 100 * std::abs(floor->comparison.ci_low - 1), high = 100 * std::abs(floor->comparison.ci_high - 1);
  EXPECT_DOUBLE_EQ(floor->smallest_effect_pct, std::max(low, high));
  EXPECT_GT(floor->smallest_effect_pct, 0.1);
  EXPECT_LT(floor->smallest_effect_pct, 3);
}

TEST_F(Protocol, RefusesSenselessBudgetsAndOptions) {
  ScriptedSubject a("A", clock_, constant(1e6));
  EXPECT_EQ(time(a, clock_, {.min_samples = 10, .max_samples = 5}).error().kind, ErrorKind::internal);
  EXPECT_EQ(time(a, clock_, {.aim_ns = 0}).error().kind, ErrorKind::internal);
  EXPECT_EQ(compare(a, a, clock_, {.smallest_effect_pct = 0}).error().kind, ErrorKind::internal);
  EXPECT_EQ(compare(a, a, clock_, {.confidence = 1}).error().kind, ErrorKind::internal);
  EXPECT_EQ(compare(a, a, clock_, {.floor_ns = std::nan("")}).error().kind, ErrorKind::internal);
}

// Whole comparisons of identical code through the protocol, each within its budget.
TEST_F(Protocol, IdenticalCodeIsRarelyCalledDifferentAndPlantedSlowdownsAreFound) {
  int wrong = 0, found = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto seed = static_cast<std::uint64_t>(trial);
    ScriptedSubject a("A", clock_, noisy(10e6, 0.01, 10 * seed)), b("B", clock_, noisy(10e6, 0.01, 10 * seed + 1)),
        slow("S", clock_, noisy(10.2e6, 0.01, 10 * seed + 2));
    const std::int64_t start = clock_.now_ns();
    const Verdict same = compare(a, b, clock_, {.seed = seed})->verdict;
    EXPECT_LE(clock_.now_ns() - start, 2'000'000'000);
    wrong += same == Verdict::faster || same == Verdict::slower;
    found += compare(a, slow, clock_, {.seed = seed})->verdict == Verdict::slower;
  }
  EXPECT_LE(wrong, 4);
  EXPECT_GE(found, kTrials * 95 / 100);
}

}  // namespace
}  // namespace hone::measure

// Statistics against known values, known distributions and the degenerate samples that measuring meets.
#include "measure/statistics.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "tests/measure/noise.hpp"

namespace hone::measure {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndless = std::numeric_limits<double>::infinity();

std::vector<Quad> equal_quads(std::size_t n, double baseline, double candidate) {
  return std::vector<Quad>(n, Quad{baseline, baseline, candidate, candidate});
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(quantile({40, 10, 30, 20}, 0.5).value(), 25);
  EXPECT_DOUBLE_EQ(quantile({40, 10, 30, 20}, 0.2).value(), 16);  // position 0.6 of 0..3
  EXPECT_DOUBLE_EQ(quantile({40, 10, 30, 20}, 0).value(), 10);
  EXPECT_DOUBLE_EQ(quantile({40, 10, 30, 20}, 1).value(), 40);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.8).value(), 7);
}

TEST(Quantile, IsUnavailableWithoutFiniteValuesOrAProbability) {
  EXPECT_FALSE(quantile({}, 0.5));
  EXPECT_FALSE(quantile({1, kNoNumber, 3}, 0.5));
  EXPECT_FALSE(quantile({1, kEndless}, 0.5));
  EXPECT_FALSE(quantile({1, 2}, -0.1));
  EXPECT_FALSE(quantile({1, 2}, 1.1));
  EXPECT_FALSE(quantile({1, 2}, kNoNumber));
}

TEST(MedianAbsoluteDeviation, IsTheMedianDistanceAndZeroForConstants) {
  EXPECT_DOUBLE_EQ(median_absolute_deviation({1, 1, 2, 2, 4, 6, 9}).value(), 1);
  EXPECT_DOUBLE_EQ(median_absolute_deviation({3, 3, 3}).value(), 0);
  EXPECT_FALSE(median_absolute_deviation({3}));
  EXPECT_FALSE(median_absolute_deviation({3, kNoNumber}));
}

TEST(MedianInterval, UsesTheRanksOfTheSignTest) {
  // n = 10, 95 %: ranks 2 and 9, because 2 * P(Binomial(10, 1/2) < 2) = 0.0215 and with rank 3 it is 0.109.
  const auto interval = median_interval({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.95);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->low, 2);
  EXPECT_DOUBLE_EQ(interval->high, 9);
}

TEST(MedianInterval, NeedsSixValuesFor95Percent) {
  EXPECT_FALSE(median_interval({1, 2, 3, 4, 5}, 0.95));
  ASSERT_TRUE(median_interval({1, 2, 3, 4, 5, 6}, 0.95));
  EXPECT_FALSE(median_interval({1, 2, 3, 4, 5, kNoNumber}, 0.95));
}

TEST(MedianInterval, CoversTheMedianOfASkewedDistribution) {
  Random random(3);
  int covered = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 25; ++i) values.push_back(lognormal(random, 1.0));
    const auto interval = median_interval(values, 0.95);
    covered += interval->low <= 1 && interval->high >= 1;
  }
  EXPECT_GE(covered, 1890);  // 95 % less 1 %, three standard errors
}

TEST(BlockedRatios, AreLogsOfTheSumsWithLessWeightWhereRunsDisagree) {
  const auto ratios = blocked_ratios({{10, 10, 11, 11}, {10, 20, 11, 11}, {10, 10.1, 10, 10}});
  ASSERT_TRUE(ratios);
  EXPECT_DOUBLE_EQ(ratios->log_ratios[0], std::log(1.1));
  EXPECT_GT(ratios->weights[0], 20 * ratios->weights[1]);
  EXPECT_GT(ratios->weights[2], ratios->weights[1]);
}

TEST(BlockedRatios, WeighConstantsEquallyAndRefuseTimesWithoutARatio) {
  EXPECT_EQ(blocked_ratios(equal_quads(3, 5, 5))->weights, std::vector<double>(3, 1.0));
  EXPECT_FALSE(blocked_ratios({{10, 10, 0, 10}}));
  EXPECT_FALSE(blocked_ratios({{10, -1, 10, 10}}));
  EXPECT_FALSE(blocked_ratios({{kNoNumber, 10, 10, 10}}));
  EXPECT_FALSE(blocked_ratios({{10, 10, 10, kEndless}}));
}

TEST(BlockedRatios, KeepFiniteWeightsWithAClockSoCoarseThatMostRunsAgree) {
  const auto ratios = blocked_ratios({{10, 10, 10, 10}, {10, 10, 10, 10}, {10, 10, 10, 10}, {10, 11, 10, 10}});
  for (double weight : ratios->weights) EXPECT_TRUE(std::isfinite(weight) && weight > 0);
  EXPECT_LT(ratios->weights[3], ratios->weights[0]);
}

TEST(TrimmedMean, IsTheMeanOfTheMiddleHalf) {
  EXPECT_DOUBLE_EQ(trimmed_mean({100, 2, 3, -50}, {1, 1, 1, 1}).value(), 2.5);
  EXPECT_DOUBLE_EQ(trimmed_mean({1, 2, 9}, {1, 1, 1}).value(), (0.25 * 1 + 1 * 2 + 0.25 * 9) / 1.5);
  EXPECT_DOUBLE_EQ(trimmed_mean({4}, {1}).value(), 4);
  EXPECT_FALSE(trimmed_mean({}, {}));
  EXPECT_FALSE(trimmed_mean({1, 2}, {1}));
  EXPECT_FALSE(trimmed_mean({1, 2}, {1, 0}));
  EXPECT_FALSE(trimmed_mean({1, kNoNumber}, {1, 1}));
}

TEST(TrimmedMean, OfAConstantIsExactlyThatConstant) {
  EXPECT_EQ(trimmed_mean(std::vector<double>(7, 0.1), {1, 2, 3, 0.3, 0.7, 9, 0.01}).value(), 0.1);
}

RC_GTEST_PROP(TrimmedMean, WholeWeightsAreRepeatedValues, ()) {
  const auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(-1000, 1000), rc::gen::inRange(1, 5))));
  std::vector<double> once, weights, repeated;
  for (const auto& [value, times] : values) {
    once.push_back(value);
    weights.push_back(times);
    repeated.insert(repeated.end(), static_cast<std::size_t>(times), value);
  }
  const double by_weight = trimmed_mean(once, weights).value();
  const double by_repetition = trimmed_mean(repeated, std::vector<double>(repeated.size(), 1.0)).value();
  RC_ASSERT(std::abs(by_weight - by_repetition) <= 1e-9 * (1 + std::abs(by_weight)));
}

TEST(SignedRank, MatchesPublishedValues) {
  EXPECT_DOUBLE_EQ(signed_rank_p({1, 2, 3, 4, 5}).value(), 2.0 / 32);
  // n = 10 with the negative ranks summing to 8: 25 of 1024 sign patterns reach 8 or less (critical value of the 5 % table).
  EXPECT_DOUBLE_EQ(signed_rank_p({1, 2, 3, 4, 5, 6, 7, -8, 9, 10}).value(), 2 * 25.0 / 1024);
  // All ties: a sign test. 7 of 8 positive: 2 * (1 + 8) / 256.
  EXPECT_DOUBLE_EQ(signed_rank_p({1, 1, 1, 1, 1, 1, 1, -1}).value(), 18.0 / 256);
}

TEST(SignedRank, OfZerosOrNothingIsOne) {
  EXPECT_EQ(signed_rank_p({}).value(), 1);
  EXPECT_EQ(signed_rank_p({0, 0, 0}).value(), 1);
  EXPECT_DOUBLE_EQ(signed_rank_p({0, 1, 2, 3, 4, 5}).value(), 2.0 / 32);
  EXPECT_FALSE(signed_rank_p({1, kNoNumber}));
}

TEST(SignedRank, NormalApproximationContinuesTheExactValues) {
  Random random(5);
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(standard_normal(random) + 0.15);
  const double exact = signed_rank_p(values).value();
  values.push_back(1e-9);  // the smallest rank changes next to nothing
  EXPECT_NEAR(signed_rank_p(values).value() / exact, 1, 0.1);
}

RC_GTEST_PROP(SignedRank, DoesNotKnowWhichSubjectIsWhich, (const std::vector<int>& whole)) {
  std::vector<double> values(whole.begin(), whole.end()), negated;
  for (double value : values) negated.push_back(-value);
  RC_ASSERT(signed_rank_p(values).value() == signed_rank_p(negated).value());
}

TEST(FairCoin, MatchesTheBinomial) {
  EXPECT_EQ(fair_coin_p(0, 0), 1);
  EXPECT_EQ(fair_coin_p(3, 3), 1);
  EXPECT_NEAR(fair_coin_p(0, 10), 2.0 / 1024, 1e-15);
  EXPECT_NEAR(fair_coin_p(8, 2), 2 * (1 + 10 + 45) / 1024.0, 1e-12);
}

TEST(ChanceEffect, IsZeroForConstantsWhateverTheirRatio) {
  EXPECT_EQ(chance_effect(*blocked_ratios(equal_quads(10, 5, 5)), 0.01, 1).value(), 0);
  EXPECT_EQ(chance_effect(*blocked_ratios(equal_quads(10, 100, 110)), 0.01, 1).value(), 0);
  EXPECT_FALSE(chance_effect({}, 0.01, 1));
}

TEST(ChanceEffect, IsPassedByIdenticalCodeAsOftenAsItsTailSays) {
  int above = 0;
  constexpr int kTrials = 1000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto seed = static_cast<std::uint64_t>(trial);
    const auto ratios = blocked_ratios(times_of(simulate(machine_noises()[0].noise, 20, 1.0, seed)));
    above += std::abs(*trimmed_mean(ratios->log_ratios, ratios->weights)) > *chance_effect(*ratios, 0.05, seed);
  }
  EXPECT_GT(above, 20);
  EXPECT_LT(above, 110);
}

TEST(RatioOfQuads, OfConstantsHasNoWidth) {
  const auto same = ratio_of_quads(equal_quads(8, 5e6, 5e6), 0.95, 1);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->ratio, 1);
  EXPECT_EQ(same->interval.low, 1);
  EXPECT_EQ(same->interval.high, 1);
  const auto slower = ratio_of_quads(equal_quads(8, 100, 105), 0.95, 1);
  EXPECT_DOUBLE_EQ(slower->ratio, 1.05);
  EXPECT_DOUBLE_EQ(slower->interval.low, 1.05);
  EXPECT_DOUBLE_EQ(slower->interval.high, 1.05);
}

TEST(RatioOfQuads, IsUnavailableBelowItsPreconditions) {
  EXPECT_FALSE(ratio_of_quads({}, 0.95, 1));
  EXPECT_FALSE(ratio_of_quads(equal_quads(1, 5, 5), 0.95, 1));
  EXPECT_FALSE(ratio_of_quads(equal_quads(kMinimumQuads - 1, 5, 5), 0.95, 1));
  EXPECT_FALSE(ratio_of_quads(equal_quads(8, 0, 5), 0.95, 1));
  EXPECT_FALSE(ratio_of_quads(equal_quads(8, 5, -5), 0.95, 1));
  EXPECT_FALSE(ratio_of_quads(equal_quads(8, 5, kNoNumber), 0.95, 1));
  EXPECT_FALSE(ratio_of_quads(equal_quads(8, kEndless, 5), 0.95, 1));
  EXPECT_FALSE(ratio_of_quads(equal_quads(8, 5, 5), 1.0, 1));
}

TEST(RatioOfQuads, IsTheSameForTheSameSeed) {
  const std::vector<Quad> quads = times_of(simulate(machine_noises()[0].noise, 30, 1.02, 9));
  const auto first = ratio_of_quads(quads, 0.95, 4), again = ratio_of_quads(quads, 0.95, 4),
             other = ratio_of_quads(quads, 0.95, 5);
  EXPECT_EQ(first->interval.low, again->interval.low);
  EXPECT_EQ(first->interval.high, again->interval.high);
  EXPECT_EQ(first->ratio, other->ratio);
  EXPECT_NE(first->interval.low, other->interval.low);
}

// What few blocks say is held against what many say: less, never more.
TEST(RatioOfQuads, FewerBlocksWidenTheInterval) {
  const auto width = [](int quads) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const std::vector<Quad> times = times_of(simulate(machine_noises()[0].noise, quads, 1.03, seed));
      const auto estimate = ratio_of_quads(times, 0.95, seed);
      sum += estimate->interval.high - estimate->interval.low;
    }
    return sum;
  };
  EXPECT_GT(width(3), 1.8 * width(5));
  EXPECT_GT(width(5), 1.2 * width(9));
  EXPECT_GT(width(9), 1.5 * width(24));
}

TEST(RankSum, IsExactForSmallSamples) {
  // Of C(4, 2) = 6 ways two are as far apart; of C(8, 4) = 70.
  EXPECT_DOUBLE_EQ(rank_sum_p({1, 2}, {3, 4}).value(), 2.0 / 6);
  EXPECT_DOUBLE_EQ(rank_sum_p({5, 6, 7, 8}, {1, 2, 3, 4}).value(), 2.0 / 70);
  EXPECT_DOUBLE_EQ(rank_sum_p({1, 2, 3, 5}, {4, 6, 7, 8}).value(), 4.0 / 70);
  EXPECT_DOUBLE_EQ(rank_sum_p({1}, {2}).value(), 1);
  // Sizes that differ: only one of C(4, 1) choices is as far as the largest, and one as far on the other side.
  EXPECT_DOUBLE_EQ(rank_sum_p({9}, {1, 2, 3}).value(), 2.0 / 4);
}

TEST(RankSum, TiesShareTheirRank) {
  EXPECT_DOUBLE_EQ(rank_sum_p({1, 1}, {1, 1}).value(), 1);
  // Ranks 1.5 1.5 3.5 3.5: two of six choices are as far apart.
  EXPECT_DOUBLE_EQ(rank_sum_p({1, 1}, {2, 2}).value(), 2.0 / 6);
  // Ranks 1, 3, 3, 3: every choice of two sums to 4 or 6, as far from 5.
  EXPECT_DOUBLE_EQ(rank_sum_p({1, 2}, {2, 2}).value(), 1);
}

TEST(RankSum, IsUnavailableWithoutFiniteValuesOnBothSides) {
  EXPECT_FALSE(rank_sum_p({}, {1}));
  EXPECT_FALSE(rank_sum_p({1}, {}));
  EXPECT_FALSE(rank_sum_p({1, kNoNumber}, {2}));
  EXPECT_FALSE(rank_sum_p({1}, {kEndless}));
}

RC_GTEST_PROP(RankSum, IsTheSameForExchangedSidesAndRarelySmall, (std::uint64_t seed)) {
  Random random(seed);
  std::vector<double> first, second;
  for (int i = 0; i < 8; ++i) first.push_back(random.uniform()), second.push_back(random.uniform());
  const double p = rank_sum_p(first, second).value();
  RC_ASSERT(p > 0 && p <= 1);
  RC_ASSERT(p == rank_sum_p(second, first).value());
}

RC_GTEST_PROP(RatioOfQuads, ExchangedSubjectsHaveTheInverseRatio, (std::uint64_t seed)) {
  std::vector<Quad> quads = times_of(simulate(machine_noises()[5].noise, 15, 1.1, seed)), exchanged;
  for (const Quad& quad : quads) {
    exchanged.push_back({quad.candidate_first, quad.candidate_second, quad.baseline_first, quad.baseline_second});
  }
  const double product = ratio_of_quads(quads, 0.9, seed)->ratio * ratio_of_quads(exchanged, 0.9, seed)->ratio;
  RC_ASSERT(std::abs(product - 1) < 1e-12);
}

TEST(RatioOfQuads, CancelsALinearDriftWithoutNoise) {
  const Noise drift = [](Random&, int run) { return 1 + 0.01 * run; };
  const auto estimate = ratio_of_quads(times_of(simulate(drift, 20, 1.0, 3)), 0.95, 1);
  EXPECT_NEAR(estimate->ratio, 1, 1e-12);
}

// The interval's promise, kept on every kind of noise, with the width that makes it useful.
TEST(RatioOfQuads, CoversTheTrueRatioOnEveryNoise) {
  for (const NamedNoise& named : machine_noises()) {
    for (int quads : {3, 4, 6, 9, 24}) {
      constexpr int kTrials = 300;
      int covered = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        const std::vector<SampledQuad> samples = simulate(named.noise, quads, 1.03, static_cast<std::uint64_t>(trial));
        const auto estimate = ratio_of_quads(times_of(samples), 0.95, static_cast<std::uint64_t>(trial));
        covered += estimate->interval.low <= 1.03 && estimate->interval.high >= 1.03;
      }
      EXPECT_GE(covered, kTrials * 92 / 100) << named.name << ", " << quads << " quads";
    }
  }
}

}  // namespace
}  // namespace hone::measure

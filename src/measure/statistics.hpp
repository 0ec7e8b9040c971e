// Statistics of the measuring protocol: quantiles, the ratio of blocked pairs with its bootstrap interval, and the exact
// signed-rank test that a verdict needs. Pure functions of numbers: no clock, no device, the same answer for the same seed.
//
// Every function states what it needs and answers "unavailable" (an empty optional) below it. A sample that is not finite is
// never dropped in silence: it makes the answer unavailable. Why these estimators: docs/measuring.md, with the numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hone::measure {

bool all_finite(const std::vector<double>& values);

// Quantile by linear interpolation between order statistics: position p * (n - 1), counted from 0 (Hyndman and Fan 1996,
// definition 7). Needs n >= 1, finite values and 0 <= p <= 1. One value is every quantile of itself.
std::optional<double> quantile(std::vector<double> values, double p);
std::optional<double> median(std::vector<double> values);

// Median of the absolute distances from the median, not scaled (times 1.4826 it estimates a normal's standard deviation).
// Needs n >= 2: one value says nothing of spread.
std::optional<double> median_absolute_deviation(const std::vector<double>& values);

struct Interval {
  double low = 0, high = 0;
};

// Distribution-free interval of the median from order statistics: the narrowest symmetric pair of ranks that covers at least
// `confidence` (binomial). Needs enough values for the extreme pair to cover it (6 for 95 %).
std::optional<Interval> median_interval(std::vector<double> values, double confidence);

// One block of a paired comparison: two runs of each subject taken together, in the order A B B A or B A A B, so that a
// drift that is linear over the block cancels. Times in any one unit.
struct Quad {
  double baseline_first = 0, baseline_second = 0, candidate_first = 0, candidate_second = 0;
};

// The quads as numbers: ln((candidate_first + candidate_second) / (baseline_first + baseline_second)), and a weight for each.
// The weight is 1 / (m/2 + d): d is the larger of |ln(first / second)| of the two subjects, m the median of d over the quads.
// Where two runs of the same code disagree, something else was running, so the quad says less. d does not know which subject
// is which and is the same when they are exchanged, so weighting favours neither. All weights are 1 when every d is 0.
struct BlockedRatios {
  std::vector<double> log_ratios, weights;
};
// Unavailable when a time is not finite or not above zero: it has no ratio.
std::optional<BlockedRatios> blocked_ratios(const std::vector<Quad>& quads);

// Weighted 25 % trimmed mean (midmean), with fractional weights at the cuts so that it is defined and smooth for every n >= 1.
// Needs finite values, and as many finite weights above zero.
std::optional<double> trimmed_mean(const std::vector<double>& values, const std::vector<double>& weights);

struct RatioEstimate {
  double ratio = 1;  // exp(weighted trimmed mean of the log ratios of the quads)
  Interval interval;
  int quads = 0;
};

// Candidate time over baseline time with its interval. From kManyQuads quads on: percentile bootstrap; quads are resampled,
// never single runs. The levels of the percentiles are widened for small n (expanded percentile interval, Hesterberg 2015,
// section 3.3), because the plain ones cover less than they say. Below, where a resample can not leave the range of the few
// quads there are: Student's t of their log ratios, which is wider. Needs at least kMinimumQuads quads, positive finite times,
// 0 < confidence < 1.
inline constexpr int kMinimumQuads = 3;
inline constexpr int kManyQuads = 10;
std::optional<RatioEstimate> ratio_of_quads(const std::vector<Quad>& quads, double confidence, std::uint64_t seed);

// Two-sided exact p value of Wilcoxon's signed-rank test that `values` are symmetric about 0. Exact also with ties (mid-ranks)
// and zeros (left out): the null distribution is counted for the very ranks at hand (above 200 values: normal approximation
// with their variance). When the order of each block was drawn at random, identical code makes the log ratios symmetric
// whatever the machine's noise looks like. Weighted log ratios (ratio times weight) may be given as well: a positive factor
// that does not depend on which subject is which keeps the symmetry. No values, or zeros alone: 1. Needs finite values.
std::optional<double> signed_rank_p(const std::vector<double>& values);

// Two-sided exact p value of the rank-sum test (Wilcoxon, Mann and Whitney) that `first` and `second` are draws of one
// distribution, counted for the very ranks at hand, mid-ranks for ties. For fewer quads than the signed-rank test can confirm
// anything with: runs are interleaved, so noise that lasts longer than a run mixes the ranks and makes the test say less, not
// more. Cost grows with the fourth power of the number of values: for a few dozen. Needs finite values on both sides.
std::optional<double> rank_sum_p(const std::vector<double>& first, const std::vector<double>& second);

// How large |trimmed mean| becomes by chance alone: its quantile at 1 - `tail` when the sign of every value's distance from
// the trimmed mean is drawn at random, which is what identical code with the noise of the measurement does. (Signs of the
// values themselves would not do: with few blocks a large effect would count as its own noise.) Preconditions of
// trimmed_mean, and 0 < tail < 1.
std::optional<double> chance_effect(const BlockedRatios& ratios, double tail, std::uint64_t seed);

// The z that a standard normal stays below with probability p, 0 < p < 1, to 1e-13.
double normal_quantile(double p);

// Two-sided exact binomial p value that `first` of `first + second` events is a fair coin's result. 1 when there are none.
double fair_coin_p(int first, int second);

}  // namespace hone::measure

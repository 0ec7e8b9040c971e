// Implementation of the protocol's statistics. See statistics.hpp for preconditions and docs/measuring.md for the choices.
#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "measure/random.hpp"

namespace hone::measure {

namespace {

// 2000 resamples place a 97.5 % percentile within about half a percent of its level, for 2 ms at 200 quads.
constexpr int kResamples = 2000;
constexpr double kTrim = 0.25;
// Above this many values the exact distribution costs more than 10 ms and its normal approximation errs below 0.1 %.
constexpr std::size_t kExactLimit = 200;

double normal_upper_tail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

// The weighted trimmed mean of quiet blocks varies this much more than their mean (docs/measuring.md).
constexpr double kTrimmedOverMean = 1.2;

// Quantile of Student's t, by the Cornish-Fisher expansion in 1/degrees (Abramowitz and Stegun 26.7.5); error below 1 % from 3
// degrees of freedom upwards at the levels used here. Exact for 2.
double student_quantile(double p, double degrees) {
  if (degrees == 2) return (2 * p - 1) / std::sqrt(2 * p * (1 - p));
  const double z = normal_quantile(p), z2 = z * z;
  const double g1 = z * (z2 + 1) / 4;
  const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return z + g1 / degrees + g2 / (degrees * degrees) + g3 / (degrees * degrees * degrees);
}

double sorted_quantile(const std::vector<double>& sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(below);
  // Written so that equal neighbours give exactly their value.
  return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

// A value with its weight; sorted by value before use.
struct Weighted {
  double value, weight;
};

// Trimmed mean of values in ascending order where value i stands `count(i)` times.
template <class Count>
double trimmed_mean_of_sorted(const std::vector<Weighted>& sorted, Count count) {
  double total = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) total += sorted[i].weight * count(i);
  const double cut_low = kTrim * total, cut_high = total - cut_low;
  // Sums are taken as distances from a value inside, so that constant values give exactly that value.
  const double origin = sorted[sorted.size() / 2].value;
  double position = 0, sum = 0;
  for (std::size_t i = 0; i < sorted.size() && position < cut_high; ++i) {
    const double end = position + sorted[i].weight * count(i);
    const double inside = std::min(end, cut_high) - std::max(position, cut_low);
    if (inside > 0) sum += inside * (sorted[i].value - origin);
    position = end;
  }
  return origin + sum / (cut_high - cut_low);
}

double trimmed_mean_of_sorted(const std::vector<Weighted>& sorted) {
  return trimmed_mean_of_sorted(sorted, [](std::size_t) { return 1.0; });
}

// Of values in ascending order, ranks from 1, equal values sharing their mean rank; doubled, so that all are integers.
std::vector<std::size_t> doubled_mid_ranks(const std::vector<double>& sorted) {
  std::vector<std::size_t> ranks(sorted.size());
  for (std::size_t start = 0; start < sorted.size();) {
    std::size_t end = start;
    while (end < sorted.size() && sorted[end] == sorted[start]) ++end;
    std::fill(ranks.begin() + static_cast<std::ptrdiff_t>(start), ranks.begin() + static_cast<std::ptrdiff_t>(end),
              start + 1 + end);
    start = end;
  }
  return ranks;
}

std::optional<std::vector<Weighted>> weighted(const std::vector<double>& values, const std::vector<double>& weights) {
  if (values.empty() || values.size() != weights.size() || !all_finite(values) || !all_finite(weights))
    return std::nullopt;
  std::vector<Weighted> pairs;
  pairs.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(weights[i] > 0)) return std::nullopt;
    pairs.push_back({values[i], weights[i]});
  }
  return pairs;
}

// About an estimate that need not be the mean, so that its distance from the mean counts as spread.
Interval student_interval(const std::vector<double>& log_ratios, double estimate, double confidence) {
  const auto n = static_cast<double>(log_ratios.size());
  double squares = 0;
  for (double log_ratio : log_ratios) squares += (log_ratio - estimate) * (log_ratio - estimate);
  const double deviation = kTrimmedOverMean * std::sqrt(squares / (n - 1) / n);
  const double half_width = student_quantile(0.5 + confidence / 2, n - 1) * deviation;
  return {std::exp(estimate - half_width), std::exp(estimate + half_width)};
}

Interval bootstrap_interval(const std::vector<Weighted>& sorted, double confidence, std::uint64_t seed) {
  const auto n = static_cast<std::uint32_t>(sorted.size());
  Random random(seed);
  std::vector<double> estimates(kResamples);
  std::vector<std::uint32_t> counts(n);
  for (double& estimate : estimates) {
    std::fill(counts.begin(), counts.end(), 0);
    for (std::uint32_t draw = 0; draw < n; ++draw) ++counts[random.below(n)];
    estimate = trimmed_mean_of_sorted(sorted, [&](std::size_t i) { return static_cast<double>(counts[i]); });
  }
  std::sort(estimates.begin(), estimates.end());
  const double student = student_quantile(0.5 + confidence / 2, n - 1.0);
  const double tail = normal_upper_tail(student * std::sqrt(n / (n - 1.0)));
  return {std::exp(sorted_quantile(estimates, tail)), std::exp(sorted_quantile(estimates, 1 - tail))};
}

}  // namespace

// Bisection of the distribution: called a few times for each interval, so it need not be quick. The tail is taken on the side
// where the probability is small and keeps its digits.
double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  double low = -40, high = 0;
  while (high - low > 1e-14 * (1 - low)) {
    const double middle = 0.5 * (low + high);
    (normal_upper_tail(-middle) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

std::optional<double> quantile(std::vector<double> values, double p) {
  if (values.empty() || !(p >= 0 && p <= 1) || !all_finite(values)) return std::nullopt;
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, p);
}

std::optional<double> median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

std::optional<double> median_absolute_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const std::optional<double> centre = median(values);
  if (!centre) return std::nullopt;
  std::vector<double> distances;
  distances.reserve(values.size());
  for (double value : values) distances.push_back(std::abs(value - *centre));
  return median(std::move(distances));
}

std::optional<Interval> median_interval(std::vector<double> values, double confidence) {
  if (values.empty() || !(confidence > 0 && confidence < 1) || !all_finite(values)) return std::nullopt;
  // Ranks r and n+1-r (from 1) miss the median with probability 2 P(Binomial(n, 1/2) < r).
  const std::size_t n = values.size();
  double log_term = -static_cast<double>(n) * std::log(2.0);  // of P(Binomial = 0)
  double missed = 0;
  std::size_t rank = 0;
  while (rank < n / 2) {
    const double with_next = missed + 2 * std::exp(log_term);
    if (with_next > 1 - confidence) break;
    missed = with_next;
    log_term += std::log(static_cast<double>(n - rank)) - std::log(static_cast<double>(rank + 1));
    ++rank;
  }
  if (rank == 0) return std::nullopt;
  std::sort(values.begin(), values.end());
  return Interval{values[rank - 1], values[n - rank]};
}

std::optional<BlockedRatios> blocked_ratios(const std::vector<Quad>& quads) {
  BlockedRatios result;
  std::vector<double> disagreements;
  for (const Quad& quad : quads) {
    for (double time : {quad.baseline_first, quad.baseline_second, quad.candidate_first, quad.candidate_second}) {
      if (!std::isfinite(time) || !(time > 0)) return std::nullopt;
    }
    result.log_ratios.push_back(
        std::log((quad.candidate_first + quad.candidate_second) / (quad.baseline_first + quad.baseline_second)));
    disagreements.push_back(std::max(std::abs(std::log(quad.baseline_first / quad.baseline_second)),
                                     std::abs(std::log(quad.candidate_first / quad.candidate_second))));
  }
  // A coarse clock can make most disagreements 0; then their mean is the scale.
  double scale = median(disagreements).value_or(0);
  if (scale == 0 && !disagreements.empty()) {
    scale =
        std::accumulate(disagreements.begin(), disagreements.end(), 0.0) / static_cast<double>(disagreements.size());
  }
  for (double disagreement : disagreements) {
    result.weights.push_back(scale > 0 ? scale / (scale / 2 + disagreement) : 1.0);
  }
  return result;
}

std::optional<double> trimmed_mean(const std::vector<double>& values, const std::vector<double>& weights) {
  std::optional<std::vector<Weighted>> sorted = weighted(values, weights);
  if (!sorted) return std::nullopt;
  std::sort(sorted->begin(), sorted->end(), [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  return trimmed_mean_of_sorted(*sorted);
}

std::optional<RatioEstimate> ratio_of_quads(const std::vector<Quad>& quads, double confidence, std::uint64_t seed) {
  if (quads.size() < static_cast<std::size_t>(kMinimumQuads) || !(confidence > 0 && confidence < 1))
    return std::nullopt;
  const std::optional<BlockedRatios> ratios = blocked_ratios(quads);
  if (!ratios) return std::nullopt;
  std::optional<std::vector<Weighted>> values = weighted(ratios->log_ratios, ratios->weights);
  if (!values) return std::nullopt;
  std::sort(values->begin(), values->end(), [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  const double estimate = trimmed_mean_of_sorted(*values);
  RatioEstimate result;
  result.ratio = std::exp(estimate);
  result.interval = quads.size() < static_cast<std::size_t>(kManyQuads)
                        ? student_interval(ratios->log_ratios, estimate, confidence)
                        : bootstrap_interval(*values, confidence, seed);
  result.quads = static_cast<int>(quads.size());
  return result;
}

std::optional<double> signed_rank_p(const std::vector<double>& values) {
  if (!all_finite(values)) return std::nullopt;
  std::vector<double> nonzero;
  for (double value : values) {
    if (value != 0) nonzero.push_back(value);
  }
  if (nonzero.empty()) return 1.0;
  std::sort(nonzero.begin(), nonzero.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });

  // Integers, so the distribution of their signed sums can be counted.
  const std::size_t n = nonzero.size();
  std::vector<double> magnitudes;
  for (double value : nonzero) magnitudes.push_back(std::abs(value));
  const std::vector<std::size_t> doubled_ranks = doubled_mid_ranks(magnitudes);
  std::size_t positive = 0, total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    total += doubled_ranks[i];
    if (nonzero[i] > 0) positive += doubled_ranks[i];
  }
  const std::size_t extreme = std::min(positive, total - positive);

  if (n > kExactLimit) {
    double variance = 0;
    for (std::size_t rank : doubled_ranks) variance += static_cast<double>(rank) * static_cast<double>(rank) / 4;
    const double distance = static_cast<double>(total) / 2 - static_cast<double>(extreme);
    return std::min(1.0, 2 * normal_upper_tail(std::max(0.0, distance - 1) / std::sqrt(variance)));
  }
  // probability[s]: that the ranks given a positive sign sum to s.
  std::vector<double> probability(extreme + 1, 0.0);
  probability[0] = 1;
  for (std::size_t rank : doubled_ranks) {
    for (std::size_t sum = extreme + 1; sum-- > 0;) {
      probability[sum] = 0.5 * (probability[sum] + (sum >= rank ? probability[sum - rank] : 0.0));
    }
  }
  return std::min(1.0, 2 * std::accumulate(probability.begin(), probability.end(), 0.0));
}

std::optional<double> rank_sum_p(const std::vector<double>& first, const std::vector<double>& second) {
  if (first.empty() || second.empty() || !all_finite(first) || !all_finite(second)) return std::nullopt;
  std::vector<std::pair<double, bool>> both;  // the value, and whether it is of `first`
  for (double value : first) both.emplace_back(value, true);
  for (double value : second) both.emplace_back(value, false);
  std::sort(both.begin(), both.end());
  std::vector<double> sorted;
  for (const auto& [value, of_first] : both) sorted.push_back(value);
  const std::vector<std::size_t> ranks = doubled_mid_ranks(sorted);
  std::size_t observed = 0;
  for (std::size_t i = 0; i < both.size(); ++i) observed += both[i].second ? ranks[i] : 0;

  // ways[k][s]: how many choices of k of the values have ranks that sum to s.
  const std::size_t total = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<std::vector<double>> ways(first.size() + 1, std::vector<double>(total + 1, 0.0));
  ways[0][0] = 1;
  for (std::size_t rank : ranks) {
    for (std::size_t k = first.size(); k > 0; --k) {
      for (std::size_t sum = total; sum >= rank; --sum) ways[k][sum] += ways[k - 1][sum - rank];
    }
  }
  const double expected = static_cast<double>(first.size()) * static_cast<double>(both.size() + 1);
  const double distance = std::abs(static_cast<double>(observed) - expected);
  double as_far = 0, all = 0;
  for (std::size_t sum = 0; sum <= total; ++sum) {
    all += ways[first.size()][sum];
    if (std::abs(static_cast<double>(sum) - expected) >= distance) as_far += ways[first.size()][sum];
  }
  return as_far / all;
}

std::optional<double> chance_effect(const BlockedRatios& ratios, double tail, std::uint64_t seed) {
  std::optional<std::vector<Weighted>> sizes = weighted(ratios.log_ratios, ratios.weights);
  if (!sizes || !(tail > 0 && tail < 1)) return std::nullopt;
  const double centre = *trimmed_mean(ratios.log_ratios, ratios.weights);
  for (Weighted& size : *sizes) size.value = std::abs(size.value - centre);
  std::sort(sizes->begin(), sizes->end(), [](const Weighted& a, const Weighted& b) { return a.value < b.value; });

  Random random(seed, 1);
  std::vector<double> effects(kResamples);
  std::vector<Weighted> flipped(sizes->size());
  for (double& effect : effects) {
    // In ascending order: the values that became negative, largest first, then the positive ones.
    std::size_t front = 0, back = sizes->size();
    for (std::size_t i = sizes->size(); i-- > 0;) {
      const Weighted& size = (*sizes)[i];
      if (random.coin()) {
        flipped[front++] = {-size.value, size.weight};
      } else {
        flipped[--back] = size;
      }
    }
    effect = std::abs(trimmed_mean_of_sorted(flipped));
  }
  std::sort(effects.begin(), effects.end());
  return sorted_quantile(effects, 1 - tail);
}

double fair_coin_p(int first, int second) {
  const int n = first + second, extreme = std::min(first, second);
  if (n <= 0) return 1;
  double log_term = -n * std::log(2.0), sum = 0;
  for (int k = 0; k <= extreme; ++k) {
    sum += std::exp(log_term);
    log_term += std::log(static_cast<double>(n - k)) - std::log(static_cast<double>(k + 1));
  }
  return std::min(1.0, 2 * sum);
}

}  // namespace hone::measure

// Judges the samples of a paired comparison. See judge.hpp for the rules and docs/measuring.md for their reasons.
#include "measure/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/disturbance.hpp"
#include "measure/random.hpp"
#include "measure/statistics.hpp"

namespace hone::measure {

namespace {

// An imbalance of disturbed blocks that a fair coin shows less often than this is the subject's own doing.
constexpr double kUnfairDisturbance = 0.001;
// Share of sessions of identical code whose effect may be larger than the chance effect.
constexpr double kChanceTail = 0.01;

struct Blocks {
  std::vector<SampledQuad> kept;
  DisturbanceCount disturbed;                   // samples in the blocks set aside, by cause
  int discarded = 0;                            // blocks
  int baseline_alone = 0, candidate_alone = 0;  // blocks in which one subject alone was disturbed
};

std::vector<model::Sample> samples_of(const std::vector<SampledQuad>& quads,
                                      std::array<model::Sample, 2> SampledQuad::*side) {
  std::vector<model::Sample> samples;
  samples.reserve(2 * quads.size());
  for (const SampledQuad& quad : quads) samples.insert(samples.end(), (quad.*side).begin(), (quad.*side).end());
  return samples;
}

// A throttled run spoils its block. One contended run alone does not: its block gets little weight. Two of one subject do,
// because they agree with each other.
bool spoils(Disturbance first, Disturbance second) {
  return first == Disturbance::throttled || second == Disturbance::throttled ||
         (first == Disturbance::contended && second == Disturbance::contended);
}

Blocks set_aside_disturbed(const std::vector<SampledQuad>& quads) {
  const std::vector<model::Sample> baseline = samples_of(quads, &SampledQuad::baseline);
  const std::vector<model::Sample> candidate = samples_of(quads, &SampledQuad::candidate);
  std::vector<model::Sample> all = baseline;
  all.insert(all.end(), candidate.begin(), candidate.end());
  const double clock = session_clock_mhz(all);
  const std::vector<Disturbance> of_baseline = find_disturbances(baseline, clock);
  const std::vector<Disturbance> of_candidate = find_disturbances(candidate, clock);

  Blocks blocks;
  for (std::size_t i = 0; i < quads.size(); ++i) {
    const bool baseline_spoilt = spoils(of_baseline[2 * i], of_baseline[2 * i + 1]);
    const bool candidate_spoilt = spoils(of_candidate[2 * i], of_candidate[2 * i + 1]);
    if (!baseline_spoilt && !candidate_spoilt) {
      blocks.kept.push_back(quads[i]);
      continue;
    }
    ++blocks.discarded;
    blocks.baseline_alone += baseline_spoilt && !candidate_spoilt;
    blocks.candidate_alone += candidate_spoilt && !baseline_spoilt;
    const DisturbanceCount in_block =
        count({of_baseline[2 * i], of_baseline[2 * i + 1], of_candidate[2 * i], of_candidate[2 * i + 1]});
    blocks.disturbed.throttled += in_block.throttled;
    blocks.disturbed.contended += in_block.contended;
  }
  return blocks;
}

std::vector<Quad> times_of(const std::vector<SampledQuad>& quads, double model::Sample::*time) {
  std::vector<Quad> times;
  times.reserve(quads.size());
  for (const SampledQuad& quad : quads) {
    times.push_back({quad.baseline[0].*time, quad.baseline[1].*time, quad.candidate[0].*time, quad.candidate[1].*time});
  }
  return times;
}

model::Quantiles device_quantiles_ms(const std::vector<model::Sample>& samples) {
  std::vector<double> milliseconds;
  milliseconds.reserve(samples.size());
  for (const model::Sample& sample : samples) milliseconds.push_back(sample.device_ns * 1e-6);
  model::Quantiles result;
  result.samples = static_cast<int>(samples.size());
  result.p20 = quantile(milliseconds, 0.2).value_or(0);
  result.p50 = quantile(milliseconds, 0.5).value_or(0);
  result.p80 = quantile(milliseconds, 0.8).value_or(0);
  return result;
}

double percent(double ratio) { return 100 * (ratio - 1); }

std::string interval_words(const model::Comparison& comparison) {
  return fmt::format("{:+.2f} % to {:+.2f} %", percent(comparison.ci_low), percent(comparison.ci_high));
}

// What stands against trusting the blocks at all; empty when nothing does.
std::string why_untrusted(const Blocks& blocks, std::size_t taken) {
  if (fair_coin_p(blocks.baseline_alone, blocks.candidate_alone) < kUnfairDisturbance) {
    const bool candidate = blocks.candidate_alone > blocks.baseline_alone;
    return fmt::format(
        "the {} alone was disturbed in {} blocks and the {} in {}: that is its own behaviour, not the machine's ({}); "
        "look at its "
        "raw samples",
        candidate ? "candidate" : "baseline", std::max(blocks.candidate_alone, blocks.baseline_alone),
        candidate ? "baseline" : "candidate", std::min(blocks.candidate_alone, blocks.baseline_alone),
        describe(blocks.disturbed));
  }
  const double share = static_cast<double>(blocks.discarded) / static_cast<double>(taken);
  if (share > kLargestDiscardedShare) {
    return fmt::format("{} of {} blocks were disturbed ({}), more than {:.0f} %: measure on a quieter machine",
                       blocks.discarded, taken, describe(blocks.disturbed), 100 * kLargestDiscardedShare);
  }
  return {};
}

std::vector<double> device_times_of(const std::vector<SampledQuad>& quads,
                                    std::array<model::Sample, 2> SampledQuad::*side) {
  std::vector<double> times;
  for (const model::Sample& sample : samples_of(quads, side)) times.push_back(sample.device_ns);
  return times;
}

// How often identical code differs as much as these blocks do.
double chance_of_identical(const std::vector<SampledQuad>& quads, const BlockedRatios& ratios) {
  if (quads.size() < static_cast<std::size_t>(kManyQuads)) {
    return rank_sum_p(device_times_of(quads, &SampledQuad::baseline), device_times_of(quads, &SampledQuad::candidate))
        .value_or(1);
  }
  std::vector<double> weighted_ratios;
  for (std::size_t i = 0; i < ratios.log_ratios.size(); ++i) {
    weighted_ratios.push_back(ratios.log_ratios[i] * ratios.weights[i]);
  }
  return signed_rank_p(weighted_ratios).value_or(1);
}

// Decides by the interval, the exact test and what chance alone does in the measurement; sets verdict and reason.
void decide(model::Comparison& comparison, const std::vector<SampledQuad>& quads, const BlockedRatios& ratios,
            const CompareOptions& options, double false_alarm) {
  const double smallest = options.smallest_effect_pct / 100;
  if (comparison.ci_low >= 1 - smallest && comparison.ci_high <= 1 + smallest) {
    comparison.verdict = model::Verdict::same;
    comparison.reason =
        fmt::format("the interval {} lies inside +-{:g} %", interval_words(comparison), options.smallest_effect_pct);
    return;
  }
  if (comparison.ci_low <= 1 && comparison.ci_high >= 1) {
    comparison.reason = fmt::format(
        "the interval {} holds no change and more than the smallest effect of {:g} %: more samples or a quieter "
        "machine are needed",
        interval_words(comparison), options.smallest_effect_pct);
    return;
  }
  const double p = chance_of_identical(quads, ratios);
  if (!(p <= false_alarm)) {
    comparison.reason = fmt::format(
        "the interval {} is clear of 1, but identical code looks like this with probability {:.2g}, above the {:g} a "
        "verdict "
        "may risk: more samples are needed",
        interval_words(comparison), p, false_alarm);
    return;
  }
  const double by_chance = percent(std::exp(chance_effect(ratios, kChanceTail, options.seed).value_or(1)));
  const double floor = std::max(by_chance, options.noise_floor_pct);
  if (!(std::abs(percent(comparison.ratio)) > floor)) {
    comparison.reason = fmt::format("the effect of {:+.2f} % is not above the {:.2f} % that identical code shows here",
                                    percent(comparison.ratio), floor);
    return;
  }
  comparison.verdict = comparison.ratio < 1 ? model::Verdict::faster : model::Verdict::slower;
  comparison.reason =
      fmt::format("the interval {} is clear of 1; identical code looks like this with probability {:.2g}",
                  interval_words(comparison), p);
}

}  // namespace

std::vector<bool> candidate_starts(int quads, std::uint64_t seed) {
  Random random(seed, 2);
  std::vector<bool> starts;
  for (int quad = 0; quad < quads; ++quad) starts.push_back(quad % 2 == 0 ? random.coin() : !starts.back());
  return starts;
}

model::Comparison judge(const std::vector<SampledQuad>& quads, const CompareOptions& options, double false_alarm) {
  model::Comparison comparison;
  Blocks blocks = set_aside_disturbed(quads);
  const std::string untrusted = quads.empty() ? "no samples" : why_untrusted(blocks, quads.size());
  // Without trust in the choice of blocks the numbers are shown over all of them.
  const std::vector<SampledQuad>& used = untrusted.empty() ? blocks.kept : quads;

  comparison.pairs = static_cast<int>(2 * used.size());
  comparison.discarded = 4 * blocks.discarded;
  comparison.baseline_ms = device_quantiles_ms(samples_of(used, &SampledQuad::baseline));
  comparison.candidate_ms = device_quantiles_ms(samples_of(used, &SampledQuad::candidate));

  const std::vector<Quad> device_times = times_of(used, &model::Sample::device_ns);
  const std::optional<RatioEstimate> device = ratio_of_quads(device_times, options.confidence, options.seed);
  if (!device) {
    comparison.reason =
        fmt::format("{} undisturbed blocks of positive, finite times; at least {} are needed for an interval",
                    used.size(), kMinimumQuads);
    return comparison;
  }
  comparison.ratio = device->ratio;
  comparison.ci_low = device->interval.low;
  comparison.ci_high = device->interval.high;
  if (const std::optional<BlockedRatios> wall = blocked_ratios(times_of(used, &model::Sample::wall_ns))) {
    comparison.wall_ratio = std::exp(trimmed_mean(wall->log_ratios, wall->weights).value_or(0));
  }
  if (!untrusted.empty()) {
    comparison.reason = untrusted;
    return comparison;
  }
  decide(comparison, used, *blocked_ratios(device_times), options, false_alarm);
  if (blocks.discarded > 0) comparison.reason += fmt::format("; set aside: {}", describe(blocks.disturbed));
  return comparison;
}

double half_width_pct(const model::Comparison& comparison) {
  if (!(comparison.ratio > 0)) return std::numeric_limits<double>::infinity();
  return 50 * (comparison.ci_high - comparison.ci_low) / comparison.ratio;
}

}  // namespace hone::measure

// Takes the samples of the measuring protocol and stops when they say enough or the budget is out. What they say is decided in
// judge.cpp and statistics.cpp. See protocol.hpp.
#include "measure/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "measure/disturbance.hpp"
#include "measure/judge.hpp"
#include "measure/statistics.hpp"

namespace hone::measure {

namespace {

// Share of the budget kept back for judging, so that a whole comparison keeps to it.
constexpr double kBudgetForJudging = 0.03;
// A large effect needs no fine interval: sampling also ends when the half width is this share of the effect.
constexpr double kEnoughOfTheEffect = 0.05;
constexpr double kTimingConfidence = 0.95;

base::Error untrusted(const std::string& expected, const std::string& found, const std::string& where,
                      const std::string& remedy) {
  return {base::ErrorKind::untrusted, expected, found, where, remedy};
}

// One run of a subject, refused when its times can not be times.
base::Result<model::Sample> take(Subject& subject) {
  base::Result<model::Sample> sample = subject.sample();
  if (!sample) return sample;
  if (!std::isfinite(sample->device_ns) || !(sample->device_ns > 0)) {
    return untrusted("a device time above 0 ns", fmt::format("{} ns", sample->device_ns), subject.name(),
                     "the run is shorter than the device's timer can tell, or its timer is broken: use a larger size");
  }
  if (!std::isfinite(sample->wall_ns) || sample->wall_ns < 0) {
    return untrusted("a wall time of 0 ns or more", fmt::format("{} ns", sample->wall_ns), subject.name(),
                     "the clock of this machine can not be used");
  }
  return sample;
}

base::Result<void> warm_up(const std::vector<Subject*>& subjects, int runs) {
  for (int run = 0; run < runs; ++run) {
    for (Subject* subject : subjects) {
      if (base::Result<model::Sample> sample = take(*subject); !sample) return sample.error();
    }
  }
  return {};
}

// Tells whether one more round fits into the budget, from the mean of the rounds so far.
class Deadline {
 public:
  Deadline(base::Clock& clock, std::int64_t max_ns)
      : clock_(clock), start_ns_(clock.now_ns()), usable_ns_(static_cast<double>(max_ns) * (1 - kBudgetForJudging)) {}

  void start_rounds() { rounds_start_ns_ = clock_.now_ns(); }
  bool allows_round_after(int rounds) {
    if (rounds == 0) return true;
    const std::int64_t now = clock_.now_ns();
    const double mean_round = static_cast<double>(now - rounds_start_ns_) / rounds;
    return static_cast<double>(now - start_ns_) + mean_round <= usable_ns_;
  }
  double elapsed_s() { return static_cast<double>(clock_.now_ns() - start_ns_) * 1e-9; }

 private:
  base::Clock& clock_;
  std::int64_t start_ns_, rounds_start_ns_ = 0;
  double usable_ns_;
};

base::Error too_few(int taken, int needed, double elapsed_s, const std::string& where) {
  return untrusted(fmt::format("at least {} samples of each subject within the budget", needed),
                   fmt::format("{} after {:.2g} s", taken, elapsed_s), where,
                   "give a larger time budget, or measure a smaller size");
}

model::Quantiles quantiles_ms(std::vector<double> times_ns) {
  model::Quantiles result;
  result.samples = static_cast<int>(times_ns.size());
  for (double& time : times_ns) time *= 1e-6;
  result.p20 = quantile(times_ns, 0.2).value_or(0);
  result.p50 = quantile(times_ns, 0.5).value_or(0);
  result.p80 = quantile(std::move(times_ns), 0.8).value_or(0);
  return result;
}

bool narrow_enough(const std::vector<model::Sample>& samples, const Budget& budget) {
  const std::vector<Disturbance> marks = find_disturbances(samples, session_clock_mhz(samples));
  std::vector<double> times;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (marks[i] == Disturbance::none) times.push_back(samples[i].device_ns);
  }
  // While too many are disturbed, sampling goes on: it may get quieter.
  const double kept_share = static_cast<double>(times.size()) / static_cast<double>(samples.size());
  if (static_cast<int>(times.size()) < budget.min_samples || kept_share < 1 - kLargestDiscardedShare) return false;
  const std::optional<Interval> interval = median_interval(times, kTimingConfidence);
  const std::optional<double> centre = median(times);
  return interval && centre && 50 * (interval->high - interval->low) <= budget.target_half_width_pct * *centre;
}

// Quantiles over the samples that nothing disturbed.
base::Result<Timing> summarize(std::vector<model::Sample> samples, const Budget& budget, const std::string& where) {
  std::vector<Disturbance> marks = find_disturbances(samples, session_clock_mhz(samples));
  const DisturbanceCount disturbed = count(marks);
  const double share = static_cast<double>(disturbed.total()) / static_cast<double>(samples.size());
  const int left = static_cast<int>(samples.size()) - disturbed.total();
  const bool too_many = share > kLargestDiscardedShare || left < budget.min_samples;
  if (too_many && budget.keep_disturbed) marks.assign(samples.size(), Disturbance::none);
  if (too_many && !budget.keep_disturbed) {
    return untrusted(fmt::format("at least {} undisturbed samples and at most {:.0f} % disturbed ones",
                                 budget.min_samples, 100 * kLargestDiscardedShare),
                     fmt::format("{} of {} ({})", left, samples.size(), describe(disturbed)), where,
                     "measure when the machine is quieter or cooler, or give a larger time budget");
  }
  Timing timing;
  std::vector<double> device, wall;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (marks[i] != Disturbance::none) continue;
    device.push_back(samples[i].device_ns);
    wall.push_back(samples[i].wall_ns);
  }
  timing.device_ms = quantiles_ms(std::move(device));
  timing.wall_ms = quantiles_ms(std::move(wall));
  if (too_many) {
    timing.kept_disturbed = true;
    timing.note = fmt::format("{} of {} samples were disturbed ({}) and are kept: the spread shows it",
                              disturbed.total(), samples.size(), describe(disturbed));
  } else {
    timing.discarded = disturbed.total();
    if (disturbed.total() > 0) timing.note = "set aside: " + describe(disturbed);
  }
  timing.samples = std::move(samples);
  return timing;
}

// The next number of rounds at which to ask whether the intervals are narrow: sorting at every round would cost more than
// short runs do.
int next_check(int rounds) { return rounds + std::max(1, rounds / 4); }

base::Result<SampledQuad> take_quad(Subject& baseline, Subject& candidate, bool candidate_first,
                                    model::Comparison& raw) {
  SampledQuad quad;
  const std::array<bool, 4> is_candidate = {candidate_first, !candidate_first, !candidate_first, candidate_first};
  std::array<std::size_t, 2> taken = {0, 0};
  for (bool of_candidate : is_candidate) {
    base::Result<model::Sample> sample = take(of_candidate ? candidate : baseline);
    if (!sample) return sample.error();
    (of_candidate ? quad.candidate : quad.baseline)[taken[of_candidate]++] = *sample;
    (of_candidate ? raw.candidate_samples_ns : raw.baseline_samples_ns).push_back(sample->device_ns);
  }
  return quad;
}

constexpr char kBelowFloor[] = "faster than the physics floor";

// Nothing can be faster than the physics floor: a fifth of the runs below it is no outlier of the timer.
std::optional<base::Error> below_floor(const model::Comparison& comparison, const std::string& baseline,
                                       const std::string& candidate, double floor_ns) {
  const double floor_ms = floor_ns * 1e-6;
  if (!(floor_ms > 0)) return std::nullopt;
  const bool baseline_below = comparison.baseline_ms.p20 < floor_ms;
  if (comparison.candidate_ms.p20 < floor_ms) {
    return base::Error{
        base::ErrorKind::gate, fmt::format("at least {:.6g} ms, the physics floor of the pass", floor_ms),
        fmt::format("{}: a fifth of the runs took less than {:.6g} ms", kBelowFloor, comparison.candidate_ms.p20),
        candidate,
        baseline_below
            ? "the baseline is below it too: the ceilings or the cold caches are wrong here; measure them again"
            : "the variant skips work or reads what it should not: check its outputs against the reference"};
  }
  if (baseline_below) {
    return untrusted(
        fmt::format("at least {:.6g} ms, the physics floor of the pass", floor_ms),
        fmt::format("{}: a fifth of the runs took less than {:.6g} ms", kBelowFloor, comparison.baseline_ms.p20),
        baseline, "the ceilings or the cold caches are wrong here; measure the ceilings again");
  }
  return std::nullopt;
}

bool says_enough(const model::Comparison& comparison, const Budget& budget) {
  if (comparison.verdict == model::Verdict::unresolved) return false;
  const double effect_pct = 100 * std::abs(comparison.ratio - 1);
  return half_width_pct(comparison) <= std::max(budget.target_half_width_pct, kEnoughOfTheEffect * effect_pct);
}

base::Result<void> check(const Budget& budget) {
  const bool counts_ok = budget.min_samples >= 1 && budget.max_samples >= budget.min_samples && budget.warmup >= 0;
  if (counts_ok && budget.max_ns > 0) return {};
  return base::Error{base::ErrorKind::internal, "1 <= min_samples <= max_samples, warmup >= 0 and a time above 0",
                     fmt::format("min_samples {}, max_samples {}, warmup {}, {} ns", budget.min_samples,
                                 budget.max_samples, budget.warmup, budget.max_ns),
                     "measuring budget", "correct the budget"};
}

base::Result<void> check(const CompareOptions& options) {
  if (base::Result<void> budget = check(options.budget); !budget) return budget;
  const bool effects_ok = options.smallest_effect_pct > 0 && options.noise_floor_pct >= 0 && options.floor_ns >= 0;
  if (effects_ok && options.confidence > 0 && options.confidence < 1) return {};
  return base::Error{
      base::ErrorKind::internal, "a smallest effect above 0, a confidence between 0 and 1, floors of 0 or more",
      fmt::format("smallest_effect_pct {}, confidence {}, noise_floor_pct {}, floor_ns {}", options.smallest_effect_pct,
                  options.confidence, options.noise_floor_pct, options.floor_ns),
      "options of a comparison", "correct the options"};
}

}  // namespace

bool is_below_floor(const base::Error& error) { return error.found.rfind(kBelowFloor, 0) == 0; }

base::Result<std::vector<Timing>> interleave(const std::vector<Subject*>& subjects, base::Clock& clock,
                                             const Budget& budget) {
  if (base::Result<void> valid = check(budget); !valid) return valid.error();
  Deadline deadline(clock, budget.max_ns);
  if (base::Result<void> warm = warm_up(subjects, budget.warmup); !warm) return warm.error();

  std::vector<std::vector<model::Sample>> samples(subjects.size());
  deadline.start_rounds();
  int rounds = 0, check_at = budget.min_samples;
  bool narrow = subjects.empty();
  while (!narrow && rounds < budget.max_samples && deadline.allows_round_after(rounds)) {
    for (std::size_t position = 0; position < subjects.size(); ++position) {
      // A B C, C B A, ...: a drift over two rounds cancels.
      const std::size_t subject = rounds % 2 == 0 ? position : subjects.size() - 1 - position;
      base::Result<model::Sample> sample = take(*subjects[subject]);
      if (!sample) return sample.error();
      samples[subject].push_back(*sample);
    }
    if (++rounds < check_at) continue;
    check_at = next_check(rounds);
    narrow =
        std::all_of(samples.begin(), samples.end(), [&](const auto& of_one) { return narrow_enough(of_one, budget); });
  }

  std::vector<Timing> timings;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (rounds < budget.min_samples)
      return too_few(rounds, budget.min_samples, deadline.elapsed_s(), subjects[i]->name());
    base::Result<Timing> timing = summarize(std::move(samples[i]), budget, subjects[i]->name());
    if (!timing) return timing.error();
    if (!narrow && rounds < budget.max_samples) {
      timing->note +=
          timing->note.empty() ? "the time budget ended the sampling" : "; the time budget ended the sampling";
    }
    timings.push_back(*std::move(timing));
  }
  return timings;
}

base::Result<std::vector<Timing>> interleave_for_table(const std::vector<Subject*>& subjects, base::Clock& clock,
                                                       Budget budget) {
  constexpr int kRepeats = 2;
  for (int repeat = 0;; ++repeat) {
    auto timings = interleave(subjects, clock, budget);
    if (timings || timings.error().kind != base::ErrorKind::untrusted || repeat == kRepeats) return timings;
    budget.max_samples *= 2;
    budget.max_ns *= 2;
    budget.keep_disturbed = repeat + 1 == kRepeats;
  }
}

base::Result<Timing> time(Subject& subject, base::Clock& clock, const Budget& budget) {
  base::Result<std::vector<Timing>> timings = interleave({&subject}, clock, budget);
  if (!timings) return timings.error();
  return std::move(timings->front());
}

base::Result<model::Comparison> compare(Subject& baseline, Subject& candidate, base::Clock& clock,
                                        const CompareOptions& options) {
  if (base::Result<void> valid = check(options); !valid) return valid.error();
  const Budget& budget = options.budget;
  Deadline deadline(clock, budget.max_ns);
  if (base::Result<void> warm = warm_up({&baseline, &candidate}, budget.warmup); !warm) return warm.error();

  const int needed_quads = std::max(kMinimumQuads, (budget.min_samples + 1) / 2);
  const int most_quads = std::max(needed_quads, budget.max_samples / 2);
  const std::vector<bool> starts = candidate_starts(most_quads, options.seed);
  model::Comparison raw;
  std::vector<SampledQuad> quads;
  std::optional<model::Comparison> judged;
  std::string ended = "the sample limit";
  deadline.start_rounds();
  for (int taken = 0; taken < most_quads && !judged;) {
    if (!deadline.allows_round_after(taken)) {
      ended = "the time budget";
      break;
    }
    base::Result<SampledQuad> quad = take_quad(baseline, candidate, starts[static_cast<std::size_t>(taken)], raw);
    if (!quad) return quad.error();
    quads.push_back(*quad);
    ++taken;
    // Only at the planned looks: asking after every block would find a difference by chance sooner or later.
    const bool planned = std::find(kInterimLooks.begin(), kInterimLooks.end(), taken) != kInterimLooks.end();
    if (!planned || taken < needed_quads || taken == most_quads) continue;
    model::Comparison interim = judge(quads, options, kInterimFalseAlarm);
    if (std::optional<base::Error> error = below_floor(interim, baseline.name(), candidate.name(), options.floor_ns))
      return *error;
    if (says_enough(interim, budget)) {
      judged = std::move(interim);
      ended = "a narrow interval";
    }
  }

  const int taken = static_cast<int>(quads.size());
  if (taken < needed_quads) {
    return too_few(2 * taken, 2 * needed_quads, deadline.elapsed_s(), baseline.name() + " against " + candidate.name());
  }
  if (!judged) judged = judge(quads, options, kFinalFalseAlarm);
  if (std::optional<base::Error> error = below_floor(*judged, baseline.name(), candidate.name(), options.floor_ns))
    return *error;
  judged->reason += fmt::format("; {} ended the sampling after {} blocks", ended, taken);
  judged->baseline_samples_ns = std::move(raw.baseline_samples_ns);
  judged->candidate_samples_ns = std::move(raw.candidate_samples_ns);
  return *std::move(judged);
}

base::Result<model::NoiseFloor> noise_floor(Subject& baseline, Subject& byte_copy, base::Clock& clock,
                                            const CompareOptions& options) {
  CompareOptions of_copy = options;
  of_copy.noise_floor_pct = 0;
  base::Result<model::Comparison> comparison = compare(baseline, byte_copy, clock, of_copy);
  if (!comparison) return comparison.error();
  model::NoiseFloor floor;
  if (comparison->ci_low > 0) {
    floor.smallest_effect_pct = 100 * std::max(std::abs(comparison->ci_low - 1), std::abs(comparison->ci_high - 1));
  } else {
    return untrusted("an interval for the baseline against its copy", comparison->reason, baseline.name(),
                     "measure when the machine is quieter, or give a larger time budget");
  }
  floor.comparison = *std::move(comparison);
  return floor;
}

}  // namespace hone::measure

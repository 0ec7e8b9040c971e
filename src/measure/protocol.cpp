// Takes the samples of a paired comparison and stops when they say enough or the budget is out. What they say is decided in
// judge.cpp and statistics.cpp. See protocol.hpp.
#include "measure/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "measure/judge.hpp"
#include "measure/sampling.hpp"
#include "measure/statistics.hpp"

namespace hone::measure {

namespace {

// A large effect needs no fine interval: sampling also ends when the half width is this share of the effect.
constexpr double kEnoughOfTheEffect = 0.05;

base::Error untrusted(const std::string& expected, const std::string& found, const std::string& where,
                      const std::string& remedy) {
  return {base::ErrorKind::untrusted, expected, found, where, remedy};
}

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

constexpr char kBelowFloor[] = "faster than the physical bound";

// Nothing can be faster than the physical bound: a fifth of the runs below it is no outlier of the timer.
std::optional<base::Error> below_floor(const model::Comparison& comparison, const std::string& baseline,
                                       const std::string& candidate, double floor_ns) {
  const double floor_ms = floor_ns * 1e-6;
  if (!(floor_ms > 0)) return std::nullopt;
  const bool baseline_below = comparison.baseline_ms.p20 < floor_ms;
  if (comparison.candidate_ms.p20 < floor_ms) {
    return base::Error{
        base::ErrorKind::gate, fmt::format("at least {:.6g} ms, the physical bound of the pass", floor_ms),
        fmt::format("{}: a fifth of the runs took less than {:.6g} ms", kBelowFloor, comparison.candidate_ms.p20),
        candidate,
        baseline_below
            ? "the baseline is below it too: the ceilings or the cold caches are wrong here; measure them again"
            : "the variant skips work or reads what it should not: check its outputs against the reference"};
  }
  if (baseline_below) {
    return untrusted(
        fmt::format("at least {:.6g} ms, the physical bound of the pass", floor_ms),
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

base::Result<void> check(const CompareOptions& options) {
  if (base::Result<void> budget = check(options.budget); !budget) return budget;
  const bool effects_ok = options.smallest_effect_pct > 0 && options.noise_floor_pct >= 0 && options.floor_ns >= 0;
  if (effects_ok && options.patience >= 1 && options.confidence > 0 && options.confidence < 1) return {};
  return base::Error{
      base::ErrorKind::internal,
      "a smallest effect above 0, a confidence between 0 and 1, floors of 0 or more, a patience of 1 or more",
      fmt::format("smallest_effect_pct {}, confidence {}, noise_floor_pct {}, floor_ns {}, patience {}",
                  options.smallest_effect_pct, options.confidence, options.noise_floor_pct, options.floor_ns,
                  options.patience),
      "options of a comparison", "correct the options"};
}

// Whether the subjects may differ for the better: worth more time. What is slower is not.
bool may_hide_a_gain(const model::Comparison& comparison) {
  return comparison.verdict == model::Verdict::unresolved && comparison.ci_low <= 1;
}

class Pairing {
 public:
  Pairing(Subject& baseline, Subject& candidate, base::Clock& clock, const CompareOptions& options)
      : baseline_(baseline),
        candidate_(candidate),
        options_(options),
        least_quads_(std::max(kMinimumQuads, (options.budget.min_samples + 1) / 2)),
        most_quads_(std::max(least_quads_, options.budget.max_samples / 2)),
        patience_(options.patience),
        starts_(candidate_starts(most_quads_ * options.patience, options.seed)),
        pace_(clock, options.budget.aim_ns, least_quads_) {}

  base::Result<model::Comparison> run() {
    HONE_PROPAGATE(warm_up({&baseline_, &candidate_}, options_.budget.warmup));
    pace_.start_rounds();
    while (true) {
      const int taken = static_cast<int>(quads_.size());
      if (taken == most_quads_ || !pace_.allows_round_after(taken)) {
        if (goes_on()) continue;
        return finish(judge(quads_, options_, kFinalFalseAlarm),
                      taken == most_quads_ ? "the sample limit" : "the time aimed at");
      }
      HONE_TRY(quad, take_quad(baseline_, candidate_, starts_[quads_.size()], raw_));
      quads_.push_back(*quad);
      // Only at the planned looks: asking after every block would find a difference by chance sooner or later.
      if (std::find(kInterimLooks.begin(), kInterimLooks.end(), taken + 1) == kInterimLooks.end()) continue;
      model::Comparison interim = judge(quads_, options_, kInterimFalseAlarm);
      // A fifth of a few runs may be below the floor by chance: more of them tell.
      const bool few = quads_.size() < static_cast<std::size_t>(kManyQuads);
      if (!says_enough(interim, options_.budget) || (few && is_below(interim))) continue;
      return finish(std::move(interim), "a narrow interval");
    }
  }

 private:
  // At the end of the time or of the samples: whether there is more of both, and a reason to take it.
  bool goes_on() {
    if (patience_ == 1 || !may_hide_a_gain(judge(quads_, options_, kInterimFalseAlarm))) return false;
    pace_.extend(patience_);
    most_quads_ *= std::exchange(patience_, 1);
    return true;
  }

  std::optional<base::Error> is_below(const model::Comparison& judged) const {
    return below_floor(judged, baseline_.name(), candidate_.name(), options_.floor_ns);
  }

  base::Result<model::Comparison> finish(model::Comparison judged, const std::string& ended) {
    if (auto error = is_below(judged)) return *error;
    const int taken = static_cast<int>(quads_.size());
    judged.reason += fmt::format("; {} ended the sampling after {} blocks", ended, taken);
    if (taken < least_quads_) judged.reason += fmt::format(" of the {} asked for", least_quads_);
    judged.baseline_samples_ns = std::move(raw_.baseline_samples_ns);
    judged.candidate_samples_ns = std::move(raw_.candidate_samples_ns);
    return judged;
  }

  Subject &baseline_, &candidate_;
  const CompareOptions& options_;
  int least_quads_, most_quads_, patience_;
  std::vector<bool> starts_;
  Pace pace_;
  std::vector<SampledQuad> quads_;
  model::Comparison raw_;
};

}  // namespace

bool is_below_floor(const base::Error& error) { return error.found.rfind(kBelowFloor, 0) == 0; }

base::Result<model::Comparison> compare(Subject& baseline, Subject& candidate, base::Clock& clock,
                                        const CompareOptions& options) {
  if (base::Result<void> valid = check(options); !valid) return valid.error();
  return Pairing(baseline, candidate, clock, options).run();
}

base::Result<model::NoiseFloor> noise_floor(Subject& baseline, Subject& byte_copy, base::Clock& clock,
                                            const CompareOptions& options) {
  CompareOptions of_copy = options;
  of_copy.noise_floor_pct = 0;
  base::Result<model::Comparison> comparison = compare(baseline, byte_copy, clock, of_copy);
  if (!comparison) return comparison.error();
  model::NoiseFloor floor;
  floor.smallest_effect_pct = 100 * std::max(std::abs(comparison->ci_low - 1), std::abs(comparison->ci_high - 1));
  floor.comparison = *std::move(comparison);
  return floor;
}

}  // namespace hone::measure

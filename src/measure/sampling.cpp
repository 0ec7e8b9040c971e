#include "measure/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hone::measure {

namespace {

// Share of the aim kept back for judging, so that a whole comparison keeps to it.
constexpr double kShareForJudging = 0.03;

base::Error no_time(const char* expected, double found_ns, const Subject& subject, const char* remedy) {
  return {base::ErrorKind::untrusted, expected, fmt::format("{} ns", found_ns), subject.name(), remedy};
}

}  // namespace

base::Result<model::Sample> take(Subject& subject) {
  base::Result<model::Sample> sample = subject.sample();
  if (!sample) return sample;
  if (!std::isfinite(sample->device_ns) || !(sample->device_ns > 0)) {
    return no_time("a device time above 0 ns", sample->device_ns, subject,
                   "the run is shorter than the device's timer can tell, or its timer is broken: use a larger size");
  }
  if (!std::isfinite(sample->wall_ns) || sample->wall_ns < 0) {
    return no_time("a wall time of 0 ns or more", sample->wall_ns, subject,
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

base::Result<void> check(const Budget& budget) {
  const bool counts_ok = budget.min_samples >= 1 && budget.max_samples >= budget.min_samples && budget.warmup >= 0;
  if (counts_ok && budget.aim_ns > 0) return {};
  return base::Error{base::ErrorKind::internal, "1 <= min_samples <= max_samples, warmup >= 0 and a time above 0",
                     fmt::format("min_samples {}, max_samples {}, warmup {}, {} ns", budget.min_samples,
                                 budget.max_samples, budget.warmup, budget.aim_ns),
                     "measuring budget", "correct the budget"};
}

Pace::Pace(base::Clock& clock, std::int64_t aim_ns, int least_rounds)
    : clock_(clock),
      start_ns_(clock.now_ns()),
      rounds_start_ns_(start_ns_),
      aim_ns_(static_cast<double>(aim_ns) * (1 - kShareForJudging)),
      stretched_ns_(aim_ns_ * kMostStretch),
      least_rounds_(least_rounds) {}

bool Pace::allows_round_after(int rounds) {
  if (rounds < kFewestRounds) return true;
  const std::int64_t now = clock_.now_ns();
  const double mean_round = static_cast<double>(now - rounds_start_ns_) / rounds;
  const double allowed_ns = rounds < least_rounds_ ? std::max(aim_ns_, stretched_ns_) : aim_ns_;
  return static_cast<double>(now - start_ns_) + mean_round <= allowed_ns;
}

}  // namespace hone::measure

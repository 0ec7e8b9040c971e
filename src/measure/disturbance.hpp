// Which samples other load or a lowered clock has spoiled. The samples themselves are the canary: a run that took twice as
// long as this subject's quick runs shared its cores, and a clock below the session's is throttled. How many may be set aside
// is bounded; beyond the bound there is no answer. Reasons for the numbers: docs/measuring.md.
#pragma once

#include <string>
#include <vector>

#include "model/timing.hpp"

namespace hone::measure {

enum class Disturbance { none, throttled, contended };

// A run on cores shared with one other busy program takes twice as long, whatever the kernel does.
inline constexpr double kContendedFactor = 2.0;
// Clocks wander by 1 to 2 % without a reason; a throttled one drops by whole steps.
inline constexpr double kThrottledClockShare = 0.95;
inline constexpr double kLargestDiscardedShare = 0.30;

// The clock the session reached: the 90 % quantile over every sample that tells one; 0 when none does.
double session_clock_mhz(const std::vector<model::Sample>& samples);

// One mark for each sample of one subject. Throttled: the device said so, or clock below
// kThrottledClockShare * session_clock. Contended: device time
// above kContendedFactor * the 20 % quantile of this subject's samples, so that a subject is judged by its own runs only.
std::vector<Disturbance> find_disturbances(const std::vector<model::Sample>& samples, double session_clock);

struct DisturbanceCount {
  int throttled = 0, contended = 0;
  int total() const { return throttled + contended; }
};
DisturbanceCount count(const std::vector<Disturbance>& marks);

// "3 samples under a throttled clock, 2 beside other load"; empty when there are none.
std::string describe(const DisturbanceCount& count);

}  // namespace hone::measure

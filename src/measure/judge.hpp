// The verdict on a paired comparison, as a pure function of its samples: the protocol takes them, this judges them. Tests and
// simulations call it without a device.
#pragma once

#include <array>
#include <vector>

#include "measure/protocol.hpp"
#include "model/timing.hpp"

namespace hone::measure {

// One block A B B A (or B A A B): two runs of each subject, in the order they were taken.
struct SampledQuad {
  std::array<model::Sample, 2> baseline, candidate;
};

// Chance that identical code gets the verdict faster or slower, 0.005 over a whole comparison. Spent over the planned looks: the
// interim ones may end the sampling early, so each has a small share; the last one has the rest.
inline constexpr double kInterimFalseAlarm = 0.0005;
inline constexpr double kFinalFalseAlarm = 0.0025;
inline constexpr std::array<int, 5> kInterimLooks = {4, 12, 24, 48, 96};  // after that many quads

// Order of the blocks: true where the candidate starts (B A A B). In each two consecutive blocks one starts with each, which
// of them comes first is drawn by the seed.
std::vector<bool> candidate_starts(int quads, std::uint64_t seed);

// Fills everything of a Comparison but the raw samples. `false_alarm` is the chance this look may spend. The verdict is
//   same        when the interval lies inside 1 +- smallest_effect_pct;
//   faster,
//   slower      when the interval is clear of 1, an exact test confirms it at `false_alarm` (of the ranks of the blocks; of the
//               single runs below kManyQuads blocks, whose signs are too few to confirm anything), and the effect is larger than what identical code shows by chance in the same measurement and than options.noise_floor_pct;
//   unresolved  otherwise, or when too many blocks were disturbed, or one subject alone was; `reason` says which.
// Needs at least kMinimumQuads quads with positive finite device times; the answer is unresolved below.
model::Comparison judge(const std::vector<SampledQuad>& quads, const CompareOptions& options, double false_alarm);

// Half of the interval's width in percent of the ratio.
double half_width_pct(const model::Comparison& comparison);

}  // namespace hone::measure

// One pass of a profile, judged: its place on the plane, its class by each route, and what limits it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/facts.hpp"
#include "diagnose/launch.hpp"

namespace hone::diagnose {

// Memory alone takes this share of the time of a pass (its arithmetic removed): the arithmetic is hidden behind it.
inline constexpr double kAblationWhole = 85;
// A pass whose time is all memory but which stays under this share of the bandwidth ceiling waits for single accesses: a
// pointer chase takes all its time in memory at 1 % of bandwidth. Between this and the ceiling it moves bytes nobody counted.
inline constexpr double kBandwidthBound = 50;
// Memory alone plus arithmetic alone stay under this sum: they hardly overlap, the pass does one after the other.
inline constexpr double kTakeTurns = 115;
// A pass shorter than this many launches of an empty kernel is mostly the fixed cost of launching.
inline constexpr double kLaunchesWorth = 3;
// More warps in flight take at least this share off the time: the pass waited. Within it, warps make no difference.
inline constexpr double kWarpsMatter = 5;
// This share of the time does not shrink with the work: fixed costs, not a unit, take it.
inline constexpr double kFixedCosts = 30;
// A pass over the physical bound by more than the floor's own tolerance ran from a cache.
inline constexpr double kOverTheCeiling = 102;
// Beyond it no spread of the ceiling explains the row: the data stayed in a cache, or the device was slower when its ceilings
// were measured. The built-in kernels on an H200 stay below 101 % (results/h200/providers.md).
inline constexpr double kContradiction = 105;

struct PassVerdict {
  PassFacts facts;
  Point point;
  model::BottleneckClass cls = model::BottleneckClass::latency_bound;
  std::vector<Limiter> limiters;
  bool known_at_all = false;  // some signal stands behind the class; otherwise it is the tier's prior

  // What each route says alone; empty where it can not tell.
  std::optional<model::BottleneckClass> by_ceiling, by_ablation, by_counters;
  double ablation_gain_pct(
      bool of_memory) const;  // the most that removing all memory time (or all arithmetic) took off
};

PassVerdict judge(const PassFacts& facts, const model::Profile& profile);

// The class of a pass about which nothing was measured: element-wise and reductions stream, fused kernels do both.
model::BottleneckClass prior_of_tier(int tier);

}  // namespace hone::diagnose

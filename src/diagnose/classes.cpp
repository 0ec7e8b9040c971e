// The plane and its borders. Every comparison is written so that NaN, "not known", falls on the side that claims less.
#include "diagnose/classes.hpp"

#include <algorithm>
#include <cmath>

namespace hone::diagnose {

namespace {

using model::BottleneckClass;

// Not known and negative count as idle; a unit can not be busier than always.
double as_share(double pct) { return pct > 0 ? std::min(pct, 100.0) : 0.0; }

bool is_short(const Point& point) { return point.duration_us > 0 && point.duration_us < kShortLaunchUs; }

}  // namespace

bool starved(const Point& point) { return point.occupancy_pct < kStarvedOccupancy; }

bool decided(const Point& point) {
  const double busy = starved(point) ? kBusyWhenStarved : kBusy;
  const bool both = !std::isnan(point.compute_pct) && !std::isnan(point.memory_pct);
  return both || point.compute_pct >= busy || point.memory_pct >= busy || point.host_share_pct >= kHostShareMajority;
}

BottleneckClass classify(const Point& point) {
  if (point.host_share_pct >= kHostShareMajority) return BottleneckClass::host_bound;

  const double compute = as_share(point.compute_pct), memory = as_share(point.memory_pct);
  const double higher = std::max(compute, memory), lower = std::min(compute, memory);
  const bool busy = higher >= (starved(point) ? kBusyWhenStarved : kBusy);
  const bool level = lower >= kBalancedFloor && higher - lower <= kBalancedGap;

  if (busy && level) return BottleneckClass::balanced;
  if (busy) return memory >= compute ? BottleneckClass::memory_bound : BottleneckClass::compute_bound;
  if (level && point.occupancy_pct >= kBalancedOccupancy && !is_short(point)) return BottleneckClass::balanced;
  return BottleneckClass::latency_bound;
}

bool stable_within(const Point& point, double points) {
  const BottleneckClass here = classify(point);
  for (const double compute : {-points, 0.0, points}) {
    for (const double memory : {-points, 0.0, points}) {
      Point moved = point;
      moved.compute_pct = as_share(point.compute_pct) + compute;
      moved.memory_pct = as_share(point.memory_pct) + memory;
      if (classify(moved) != here) return false;
    }
  }
  return true;
}

std::string plain_rule(double compute_pct, double memory_pct) {
  const auto within = [](double pct) { return pct >= 30 && pct <= 60; };
  if (memory_pct > 60 && compute_pct < 40) return "memory-bound";
  if (compute_pct > 60 && memory_pct < 40) return "compute-bound";
  if (within(compute_pct) && within(memory_pct)) return "balanced";
  return "unclassified";
}

}  // namespace hone::diagnose

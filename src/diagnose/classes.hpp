// The total classifier: every point of the plane has exactly one class. Pure arithmetic on five numbers; who fills them in
// (hardware counters, shares of a measured ceiling, ablations) is decided elsewhere. docs/diagnosis.md draws the plane.
#pragma once

#include <string>

#include "model/values.hpp"

namespace hone::diagnose {

// How busy each unit is. NaN: not known. Percentages are of what the unit was measured to reach where that is known, and of
// its nominal peak otherwise.
struct Point {
  double compute_pct = 0;
  double memory_pct = 0;
  double occupancy_pct = 0;   // warps in flight of those the device can hold; NaN on a CPU
  double duration_us = 0;     // of one launch; NaN or 0: not known
  double host_share_pct = 0;  // share of the caller's time in which the device is idle
};

// The device is idle for most of the caller's time: more than half.
inline constexpr double kHostShareMajority = 50;

// A unit is busy from here on. Nsight Compute itself calls less than 60 % of peak a sign of latency, and the plain rule
// draws the same line.
inline constexpr double kBusy = 60;

// With few warps in flight a unit counts as busy only from here on: a kernel that waits is not yet limited by the unit it
// waits for. (Liger's norm backwards at 16384 x 4096 on an H200: 12.5 % occupancy, 37 to 50 % of copy bandwidth. rms_norm's
// takes 0.182 ms with one program of 8 warps an SM, 0.111 ms with three of 4 warps: the memory could do 1.6 times as much.)
inline constexpr double kBusyWhenStarved = 80;

// Few warps in flight: under 30 % of what the device holds, 19 warps of 64. Bandwidth x latency of an H200 (4.3 TB/s x about
// 0.7 us = 3 MB, 23 KB an SM) asks of 19 warps that each lane keeps 37 bytes in flight all the time.
inline constexpr double kStarvedOccupancy = 30;

// Balanced: both units at half or more, and within 15 points of each other, so that relieving one alone gains at most what
// separates them. With neither busy, half the warps must be in flight: a small grid with idle units waits, it is not balanced.
inline constexpr double kBalancedFloor = 50;
inline constexpr double kBalancedGap = 15;
inline constexpr double kBalancedOccupancy = 50;

// A launch shorter than this is mostly ramp-up and tail (an empty kernel takes about 2 us in Nsight Compute), so percentages
// of its elapsed time show neither unit at its best: it is never called balanced for two half-busy units.
inline constexpr double kShortLaunchUs = 5;

// Total: defined for every value of every field, NaN and infinities included.
model::BottleneckClass classify(const Point& point);

// Whether the class rests on figures that are known: on a unit that is seen busy, or on two that are seen idle.
bool decided(const Point& point);

// Whether the point has few warps in flight, so that busy means kBusyWhenStarved.
bool starved(const Point& point);

// True when no change of compute or memory by up to `points` changes the class.
bool stable_within(const Point& point, double points);

// The common rule in its words: memory > 60 % and compute < 40 % is memory-bound, the mirror is compute-bound, both 30 to
// 60 % is balanced; "unclassified" elsewhere, which is most of the plane.
std::string plain_rule(double compute_pct, double memory_pct);

}  // namespace hone::diagnose

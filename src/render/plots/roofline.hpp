// Two pictures of what limits a kernel: its passes under the measured roofs, and the stalls of a captured launch.
#pragma once

#include <string>
#include <vector>

#include "model/counters.hpp"
#include "model/profile.hpp"
#include "render/plots/plots.hpp"

namespace hone::render {

// Operations for each byte against operations for each second, both logarithmic, from minimum traffic, counted operations and
// measured time of every headroom row that has them; the roofs are the device's measured ceilings. Empty where the profile
// has no such row or no measured bandwidth.
std::string roofline(const model::Profile& profile);

// A captured kernel on the plane of a roofline whose axes are shares of the device's peaks: counters give no counted
// operations for every kernel, but how busy both units were.
struct CapturedPlace {
  std::string name;
  double compute_pct = 0, memory_pct = 0;  // NaN or 0: not drawn
  bool measured_ceiling = false;           // memory_pct is of a measured ceiling, or of a cache busier than that
};

// Shares of the SMs' peak against how much busier compute is than memory, both logarithmic: the slope is memory at its peak,
// the flat roof the SMs at theirs, and a kernel stands under the roof by the share of its busier unit. Numbers are the
// kernels' places in `places`, from 1. Empty where none can be drawn.
std::string capture_roofline(const std::vector<CapturedPlace>& places);

// One bar of the cycles between two instructions of a warp, divided by stall reason, the rest grey. Empty without stalls.
std::string stall_bar(const model::CounterSummary& kernel);

inline constexpr const char* kRooflineName = "roofline.svg";
std::string stall_bar_name(int number);  // "stalls_1.svg"

// "roofline.svg", then "stalls_1.svg", ... for each captured kernel that is the user's own; only what has values.
std::vector<Plot> profile_plots(const model::Profile& profile);

}  // namespace hone::render

// Two pictures of what limits a kernel: its passes under the measured roofs, and the stalls of a captured launch.
#pragma once

#include <string>
#include <vector>

#include "model/counters.hpp"
#include "model/profile.hpp"
#include "render/plots.hpp"

namespace hone::render {

// Operations for each byte against operations for each second, both logarithmic, from least traffic, counted operations and
// measured time of every headroom row that has them; the roofs are the device's measured ceilings. Empty where the profile
// has no such row or no measured bandwidth.
std::string roofline(const model::Profile& profile);

// One bar of the cycles between two instructions of a warp, divided by stall reason, the rest grey. Empty without stalls.
std::string stall_bar(const model::CounterSummary& kernel);

// "roofline.svg", then "stalls_1.svg", ... for each captured kernel that is the user's own; only what has values.
std::vector<Plot> profile_plots(const model::Profile& profile);

}  // namespace hone::render

// From the finals of a pass to its settings function, and the check of that function on sizes held out of the sweep.
#pragma once

#include <string>
#include <vector>

#include "stages/optimize/sweep_space.hpp"

namespace hone::stages {

// Fewer distinct settings are worth this much: below what a paired comparison can tell here.
inline constexpr double kSettingsTolerance = 0.01;

inline constexpr char kHeldOut[] = ": held-out sizes";  // of the step's title

// At most `at_most` distinct settings over contiguous ranges of the sizes, with reasons.
model::SettingsFunction make_function(const std::string& x_name, const std::vector<SizeSpace>& sizes,
                                      std::size_t at_most);

// At a size nobody tuned for, the function must not lose to what the sizes beside it would choose: moves the start of a range
// where that helps, otherwise raises the bound on the worst slowdown. What it found goes to `findings`.
base::Result<void> check_held_out(Lab& lab, const std::string& pass, const std::vector<SizeSpace>& sizes,
                                  model::SettingsFunction& function, std::vector<std::string>& findings);

}  // namespace hone::stages

// What the configuration block says of the knobs a strategy turns, and of lanes that do nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/advice.hpp"
#include "model/profile.hpp"

namespace hone::diagnose {

std::vector<const model::Parameter*> knobs_of(const model::Configuration& configuration, const Strategy& strategy);

// "Knobs: BLOCK_ROW = 4 (live: 4 values, 4 distinct machine codes)"; empty where no parameter belongs to the strategy.
std::string knob_text(const model::Configuration& configuration, const Strategy& strategy);

// The strategy has knobs here, and none of them changes the machine code or the launch.
bool all_knobs_dead(const model::Configuration& configuration, const Strategy& strategy);

// The value in force at `x_value`: "1024: 4, 4096: 8" -> 8 at 4096; "8" -> 8. Nothing where the text holds no number for it.
std::optional<double> value_at(const model::Parameter& parameter, const std::string& x_value);

// Whether every vector-width knob stands at the widest vector of this processor, so that wider accesses do not exist.
bool at_full_width(const model::Profile& profile, const std::string& x_value);

// Share of the lanes that a tile of `tile` elements leaves masked over a row of `columns`, in percent.
double masked_lanes_pct(double columns, double tile);

}  // namespace hone::diagnose

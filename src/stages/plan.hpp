// The plan of optimize, which is the profile's strategy order: what a person sees of it at the checkpoint of profile, and how it is
// changed there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/profile.hpp"
#include "stages/checkpoint.hpp"
#include "stages/ports.hpp"
#include "stages/workspace.hpp"

namespace hone::stages {

// The steps as items "1", "2", ...: reason, evidence, bound on the gain, risk.
std::vector<Item> plan_items(const model::Profile& profile);

// "3 1": the indices of the steps kept, in their new order; what is not named is dropped. "drop 2" and "drop 2 4" keep the others as
// they are. Usage errors: no such step, a step named twice, nothing kept.
base::Result<std::vector<std::size_t>> parse_order(const std::string& text, std::size_t steps);

// Puts the plan into this order and says so in plan_note, with the order that was recommended.
void reorder(model::Profile& profile, const std::vector<std::size_t>& order, const std::string& at);

// The checkpoint after profile: the plan is accepted, changed until it is, or the run stops. A changed plan stands in profile.json,
// profile.md and the journal before the next question.
base::Result<Decision> confirm_plan(model::Profile& profile, const Workspace& workspace, const Ports& ports,
                                    base::Clock& clock, const Asking& asking);

}  // namespace hone::stages

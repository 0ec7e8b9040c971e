// The measured part of a profile: baseline tables, noise floors, headroom, memory, with the raw samples kept beside them.
#pragma once

#include <map>
#include <string>

#include "base/result.hpp"
#include "measure/paired_subject.hpp"
#include "model/profile.hpp"
#include "repository/described.hpp"
#include "repository/timed.hpp"
#include "stages/ports.hpp"
#include "stages/workspace.hpp"

namespace hone::stages {

// The steps of the two tables, as progress names them; a unit is a cell.
inline constexpr char kBaseline[] = "baseline", kNoiseFloor[] = "noise floor";

// The shares of v0 from pairs with the program of its ceiling, where there are some.
using CeilingShares = std::map<repository::Cell, measure::CeilingShare>;

// Adds speed, wall and memory rows of v0 and of every baseline provider, interleaved, for each size and mode.
base::Result<CeilingShares> measure_baseline(const repository::Described& kernel, repository::Timed& timed,
                                             const Workspace& workspace, const Ports& ports, model::Profile& profile);

// Adds the A/A floor of every size and mode: v0 against a byte copy of itself.
base::Result<void> measure_noise_floor(const repository::Described& kernel, repository::Timed& timed,
                                       const Workspace& workspace, const Ports& ports, model::Profile& profile);

// Adds the headroom rows from the floors of the session, the speed rows of v0 and its paired shares. Pure.
void add_headroom(const repository::Described& kernel, repository::Timed& timed, const CeilingShares& shares,
                  model::Profile& profile);

}  // namespace hone::stages

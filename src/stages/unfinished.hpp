// A run of all stages that a kill, a stop or a full disk ended early, and what of it still holds.
#pragma once

#include <optional>

#include "repository/described.hpp"
#include "stages/workspace.hpp"

namespace hone::stages {

// The profile of a run that did not come to its report, when it is of this source, device, program and request: a new run goes
// on with it, because the journal's results hold for this profile only. Nothing when there is no such run. `recovered`: an
// installation of the earlier run has just been taken back, so that a report that calls it applied is not the end either.
std::optional<model::Profile> unfinished_run(const repository::Described& session, const model::Request& asked,
                                             const Workspace& workspace, bool recovered);

}  // namespace hone::stages

// The grid of a launch, resolved through the last assignment of its name.
#pragma once

#include "model/source_facts.hpp"
#include "source/triton/module/module.hpp"

namespace hone::source {

// Fills the grid_* fields; `call` is `kernel[grid](...)` in function `scope`.
void read_grid(const Module& module, int scope, Node call, model::LaunchFact& fact);

// The grid expression itself: a tuple, a lambda or what the name was last assigned.
Node resolved_grid(const Module& module, int scope, Node call);

}  // namespace hone::source

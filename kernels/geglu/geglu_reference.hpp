// GEGLU in double precision.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::geglu {

// Forward: a, b -> c. Backward: dc, a, b -> da, db (or a, b, when in place).
void reference(Pass pass, const Problem& problem, Values& values);

}  // namespace kernels::geglu

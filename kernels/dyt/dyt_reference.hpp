// DyT in double precision.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::dyt {

// Forward: x, alpha, gamma, beta -> y. Backward: dy, x, alpha, gamma -> dx, dalpha, dgamma, dbeta.
void reference(Pass pass, const Problem& problem, Values& values);

}  // namespace kernels::dyt

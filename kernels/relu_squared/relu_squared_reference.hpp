// Squared ReLU in double precision.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::relu_squared {

// Forward: x -> y. Backward: dy, x -> dx (or dy, when in place).
void reference(Pass pass, const Problem& problem, Values& values);

}  // namespace kernels::relu_squared

// Softmax in double precision.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::softmax {

// Forward: x -> y. Backward: dy, y -> dx.
void reference(Pass pass, const Problem& problem, Values& values);

}  // namespace kernels::softmax

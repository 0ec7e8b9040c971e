// LayerNorm in double precision.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::layer_norm {

// Forward: x, weight, bias -> y, mean, rstd. Backward: dy, x, weight, mean, rstd -> dx, dweight, dbias.
void reference(Pass pass, const Problem& problem, Values& values);

}  // namespace kernels::layer_norm

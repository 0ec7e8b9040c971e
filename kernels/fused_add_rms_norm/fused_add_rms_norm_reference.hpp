// FusedAddRMSNorm in double precision.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::fused_add_rms_norm {

// Forward: x, r, weight -> s, y, rstd. Backward: dy, ds, s, weight, rstd -> dx (or dy, when in place), dweight.
void reference(Pass pass, const Problem& problem, Values& values);

}  // namespace kernels::fused_add_rms_norm

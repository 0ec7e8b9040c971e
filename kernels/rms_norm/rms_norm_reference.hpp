// RMSNorm in double precision.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::rms_norm {

// Forward: x, weight -> y, rstd. Backward: dy, x, weight, rstd -> dx (or dy, when in place), dweight.
void reference(Pass pass, const Problem& problem, Values& values);

// The root mean square of dx's first term, rstd * dy * (offset + w): dx is what remains of it orthogonal to x, which with one
// column is next to nothing.
double gradient_scale(const Problem& problem, const Values& inputs);

}  // namespace kernels::rms_norm

// The last linear layer and its cross entropy in double precision.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::fused_linear_cross_entropy {

// The logits of a row (columns values, bias added): products summed in double precision and rounded to the problem's type
// where that has 16 bits, as a layer's output is.
std::vector<double> logits_of_row(const Problem& problem, const Values& values, std::int64_t row);

// Forward: input, weight, bias, target, ce_weight -> the losses, and with a reduction dinput, dweight, dbias.
// Backward: with a reduction the gradients times dloss; without one the gradients, each row's times its dloss.
void reference(Pass pass, const Problem& problem, Values& values);

}  // namespace kernels::fused_linear_cross_entropy

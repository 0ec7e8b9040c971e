// Cross entropy in double precision.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::cross_entropy {

// Forward: logits, target, weight -> loss, z_loss, token_accuracy, predicted_tokens, and the gradient as logits.
// Backward: dloss, logits (the gradient) -> logits, scaled.
void reference(Pass pass, const Problem& problem, Values& values);

}  // namespace kernels::cross_entropy

// GRPO's loss in double precision.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::grpo_loss {

// Forward: logits, ids, advantages and what the options ask for -> loss, kl, is_clipped, lse, logp, rho.
// Backward: the same, lse, logp, rho, dloss -> dlogits (or logits, when in place).
void reference(Pass pass, const Problem& problem, Values& values);

}  // namespace kernels::grpo_loss

// The operations of GRPO's loss for each logit, an exponential counted as one: forward the product with 1 / temperature, a
// comparison, a difference, exp and a sum; backward the product, the difference, exp, the comparison with the token, the
// difference and the product. What is done for each token is left out.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::grpo_loss {

inline double operations(Pass pass, const Problem& problem) {
  return (pass == Pass::forward ? 5.0 : 6.0) * double(problem.rows) * double(problem.columns);
}

}  // namespace kernels::grpo_loss

// The least that fused_linear_cross_entropy computes. With gradients three matrix products, of 2 rows x classes x hidden size
// operations each; without, the one that gives the logits; a backward pass that multiplies the gradients does one operation
// for each of their elements. The losses' own operations are those of cross_entropy.
#pragma once

#include "kernels/cross_entropy/cross_entropy_traffic.hpp"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_config.hpp"

namespace kernels::fused_linear_cross_entropy {

inline double product_operations(Pass pass, const Problem& problem) {
  if (scales_gradients(pass, problem)) return 0;
  const double products = has_gradients(pass, problem) ? 3 : 1;
  return products * 2 * double(problem.rows) * double(problem.columns) * double(problem.depth);
}

inline double operations(Pass pass, const Problem& problem) {
  if (scales_gradients(pass, problem)) {
    const double rows = double(problem.rows), classes = double(problem.columns), hidden = double(problem.depth);
    return rows * hidden + classes * hidden + (flag_option(problem, "bias") ? classes : 0);
  }
  return cross_entropy::operations(Pass::forward, problem) + product_operations(pass, problem);
}

}  // namespace kernels::fused_linear_cross_entropy

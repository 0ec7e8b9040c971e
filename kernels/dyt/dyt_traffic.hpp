// The least that DyT's passes move and compute. Bytes: every input once, every output once. Operations for each element, tanh
// counted as one: forward the product, tanh, the product and the sum; backward the product, tanh, u (4), dx, dgamma (2),
// dalpha (2), dbeta.
#pragma once

#include "kernels/catalog/row_problem.hpp"

namespace kernels::dyt {

inline Traffic traffic(Pass pass, const Problem& problem) {
  const double elements = double(problem.rows) * double(problem.columns), element = size_of(problem.dtype);
  const double vector = double(problem.columns) * element;
  const int beta = flag_option(problem, "beta") ? 1 : 0;
  if (pass == Pass::forward) {
    return {elements * element + (1 + beta) * vector + element, elements * element, (3 + beta) * elements};
  }
  return {2 * elements * element + vector + element, elements * element + (1 + beta) * vector + element,
          (11 + beta) * elements};
}

}  // namespace kernels::dyt

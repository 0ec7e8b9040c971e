// The least that softmax's passes move and compute. Bytes: every input once, every output once. Operations for each element,
// an exponential counted as one: forward a comparison, a difference, exp, a sum, and again a difference, exp and the
// product; backward the dot product (2), the difference, the product.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::softmax {

inline Traffic traffic(Pass pass, const Problem& problem) {
  const double elements = double(problem.rows) * double(problem.columns), matrix = elements * size_of(problem.dtype);
  if (pass == Pass::forward) return {matrix, matrix, 7 * elements};
  return {2 * matrix, matrix, 4 * elements};
}

}  // namespace kernels::softmax

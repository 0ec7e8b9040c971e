// The least that LayerNorm's passes move and compute. Bytes: every input once, every output once. Operations, for each
// element: forward, a sum for the mean, a difference, a product and a sum for the variance, and x - mean, * rstd, * w, + b;
// backward, h (2), dy * w, its sum, its product with h and that sum, dx (5), dw (2), db (1).
#pragma once

#include "kernels/catalog/row_problem.hpp"

namespace kernels::layer_norm {

inline Traffic traffic(Pass pass, const Problem& problem) {
  const double elements = double(problem.rows) * double(problem.columns), matrix = elements * size_of(problem.dtype);
  const double vector = double(problem.columns) * size_of(problem.dtype);
  const double statistics = 2 * double(problem.rows) * size_of(DType::fp32);
  if (pass == Pass::forward) return {matrix + 2 * vector, matrix + statistics, 8 * elements};
  return {2 * matrix + vector + statistics, matrix + 2 * vector, 14 * elements};
}

}  // namespace kernels::layer_norm

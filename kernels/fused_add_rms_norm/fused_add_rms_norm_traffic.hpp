// The least that the residual addition and RMSNorm move and compute together. Bytes: every input once, every output once.
// Operations for each element: forward, the addition, a product and a sum for the mean square, the products with rstd and
// with the weight, the sum with the offset; backward, m (2), the dot product (2), dx (3), s * rstd and dw (3), + ds.
#pragma once

#include "kernels/catalog/row_problem.hpp"

namespace kernels::fused_add_rms_norm {

inline Traffic traffic(Pass pass, const Problem& problem, DType rstd_dtype) {
  const double elements = double(problem.rows) * double(problem.columns), matrix = elements * size_of(problem.dtype);
  const double vector = double(problem.columns) * size_of(problem.dtype);
  const double scalars = double(problem.rows) * size_of(rstd_dtype);
  if (pass == Pass::forward) return {2 * matrix + vector, 2 * matrix + scalars, 6 * elements};
  const int ds = flag_option(problem, "residual_gradient") ? 1 : 0;
  return {(2 + ds) * matrix + vector + scalars, matrix + vector, (10 + ds) * elements};
}

}  // namespace kernels::fused_add_rms_norm

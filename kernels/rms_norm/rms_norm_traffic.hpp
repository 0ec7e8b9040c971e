// The least that RMSNorm's passes move and compute. Bytes: every input once, every output once. Operations, for each
// element: forward, a product and a sum for the mean square, a product with rstd, a sum with the offset, a product with the
// weight; backward, the product m = dy * (offset + w) (2), the dot product (2), dx (3), x * rstd and dw (3).
#pragma once

#include "kernels/catalog/row_problem.hpp"

namespace kernels::rms_norm {

inline Traffic traffic(Pass pass, const Problem& problem, DType rstd_dtype) {
  const double matrix = double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  const double vector = double(problem.columns) * size_of(problem.dtype);
  const double scalars = double(problem.rows) * size_of(rstd_dtype);
  const double elements = double(problem.rows) * double(problem.columns);
  const bool weight = flag_option(problem, "weight");
  Traffic traffic;
  if (pass == Pass::forward) {
    traffic.bytes_read = matrix + (weight ? vector : 0);
    traffic.bytes_written = matrix + scalars;
    traffic.flops = elements * (weight ? 5 : 3);
  } else {
    traffic.bytes_read = 2 * matrix + scalars + (weight ? vector : 0);
    traffic.bytes_written = matrix + (weight ? vector : 0);
    traffic.flops = elements * (weight ? 10 : 5);
  }
  return traffic;
}

}  // namespace kernels::rms_norm

// The least that SwiGLU's passes move and compute. Bytes: every input once, every output once. Operations for each element,
// an exponential and a division counted as one each: forward s a, exp, + 1, division, silu, product; backward those five
// and 1 - sigmoid, silu * (), + sigmoid, dc * b, * s, the product for da, the product for db.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::swiglu {

inline Traffic traffic(Pass pass, const Problem& problem) {
  const double elements = double(problem.rows) * double(problem.columns), matrix = elements * size_of(problem.dtype);
  Traffic traffic;
  traffic.bytes_read = (pass == Pass::forward ? 2 : 3) * matrix;
  traffic.bytes_written = (pass == Pass::forward ? 1 : 2) * matrix;
  traffic.flops = (pass == Pass::forward ? 6 : 12) * elements;
  return traffic;
}

}  // namespace kernels::swiglu

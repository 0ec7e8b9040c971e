// The least that GEGLU's passes move and compute. Bytes: every input once, every output once. Operations for each element, an
// exponential and a division counted as one each: forward z (4), exp, + 1, division, gelu, product; backward z and sigmoid
// (7), gelu, its derivative (5), dc * b, the product for da, the product for db.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::geglu {

inline Traffic traffic(Pass pass, const Problem& problem) {
  const double elements = double(problem.rows) * double(problem.columns), matrix = elements * size_of(problem.dtype);
  if (pass == Pass::forward) return {2 * matrix, matrix, 9 * elements};
  return {3 * matrix, 2 * matrix, 16 * elements};
}

}  // namespace kernels::geglu

// The least that squared ReLU's passes move and compute. Bytes: every input once, every output once. Operations for each
// element: forward a maximum and a product; backward a maximum and two products.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace kernels::relu_squared {

inline Traffic traffic(Pass pass, const Problem& problem) {
  const double elements = double(problem.rows) * double(problem.columns), matrix = elements * size_of(problem.dtype);
  Traffic traffic;
  traffic.bytes_read = (pass == Pass::forward ? 1 : 2) * matrix;
  traffic.bytes_written = matrix;
  traffic.flops = (pass == Pass::forward ? 2 : 3) * elements;
  return traffic;
}

}  // namespace kernels::relu_squared

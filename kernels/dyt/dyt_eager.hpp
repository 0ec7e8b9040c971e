// DyT as an unfused framework runs it: the primitive operations that the plan of the eager provider strings together.
// Every operation takes and gives ELEMENT; sums are fp32.
#pragma once

#include "kernels/tile/eager.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace dyt_eager {

using T = tile::ELEMENT;

// out = tanh(alpha * a): the saved value, from a instead: as many bytes, one launch.
TILE_FN void tanh_of_scaled(tile::RowMachine& m, tile::Matrix<T> out, tile::Matrix<const T> a, const T* alpha) {
  const float factor = m.scalar(alpha);
  tile::eager::unary(m, out, a, [&](auto x) { return tile::tanh(tile::rounded<T>(x * factor)); });
}

// output[0] = the sum of a vector.
TILE_FN void sum_of_vector(tile::Machine& m, T* output, const float* values, std::int64_t length) {
  const auto block = m.one_row(length);
  const auto v = block.load(values, length);
  block.store_column(output, block.sum([&](auto e) { return v[e]; }));
}

}  // namespace dyt_eager

namespace eager = tile::eager;
using dyt_eager::T;

TILE_ENTRY(eager_scale_columns, eager::scale_columns<T, T, T>)
TILE_ENTRY(eager_scale, eager::scale_all<T, T, T>)
TILE_ENTRY(eager_tanh, dyt_eager::tanh_of_scaled)
#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(eager_tanh_plain, eager::hyperbolic_tangent<T>)
TILE_ENTRY(eager_add_columns, eager::add_columns<T, T, T>)
#else
TILE_ENTRY(eager_multiply, eager::multiply<T, T, T>)
TILE_ENTRY(eager_multiply_wide, eager::multiply<float, T, T>)
TILE_ENTRY(eager_tanh_backward, eager::tanh_backward<T, T, T>)
TILE_ENTRY(eager_sum, eager::sum_of_row<float, float>)
TILE_ENTRY(eager_sum_of_vector, dyt_eager::sum_of_vector)
TILE_ENTRY(eager_partial_column_sum, eager::partial_column_sum<T>)
TILE_ENTRY(eager_column_sum, tile::column_sum<T>)
#endif

// The residual addition and RMSNorm as an unfused framework runs them: the primitive operations that the plan of the eager
// provider strings together. ELEMENT is the type in memory, COMPUTE the type of the temporaries.
#pragma once

#include "kernels/tile/eager.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif
#ifndef COMPUTE
#define COMPUTE fp32
#endif

namespace fused_add_rms_norm_eager {

using T = tile::ELEMENT;
using C = tile::COMPUTE;

// out[row] = factor * rstd^3 * sum[row]: twice the gradient of the mean square, row by row.
TILE_FN void mean_square_gradient(tile::Machine& m, float* out, const float* sum, const C* rstd, std::int64_t rows,
                                  float factor) {
  tile::eager::binary(m, out, rows, sum, rows, rstd, rows, 1, 1, rows,
                      [&](auto s, auto r) { return s * (r * r * r * factor); });
}

// out = dy * s * rstd[row]: the terms of the weight's gradient. A framework has s * rstd from the forward pass and multiplies
// it with dy: as many bytes, one launch.
TILE_FN void weight_terms(tile::Machine& m, T* out, std::int64_t out_stride, const T* dy, std::int64_t dy_stride,
                          const T* s, std::int64_t s_stride, const C* rstd, std::int64_t rows,
                          std::int64_t rows_per_program, std::int64_t columns) {
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto g = block.load(dy, dy_stride);
    const auto v = block.load(s, s_stride);
    const auto r = block.load_column(rstd);
    block.map([&](auto e) { return g[e] * tile::rounded<T>(v[e] * r[e]); }, block.rows_of(out, out_stride));
  });
}

}  // namespace fused_add_rms_norm_eager

namespace eager = tile::eager;
using fused_add_rms_norm_eager::C;
using fused_add_rms_norm_eager::T;

TILE_ENTRY(eager_add, eager::add<T, T, T>)
TILE_ENTRY(eager_weight, eager::affine<C, T>)
TILE_ENTRY(eager_scale_rows, eager::scale_rows<C, C, C>)
#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(eager_upcast, eager::convert<C, T>)
TILE_ENTRY(eager_scale_columns, eager::scale_columns<T, C, C>)
TILE_ENTRY(eager_square, eager::square<C>)
TILE_ENTRY(eager_mean, eager::sum_of_row<C, C>)
TILE_ENTRY(eager_add_eps, eager::affine<C, C>)
TILE_ENTRY(eager_rsqrt, eager::reciprocal_root<C>)
#else
TILE_ENTRY(eager_scale_gradient, eager::scale_columns<C, T, C>)
TILE_ENTRY(eager_multiply, eager::multiply<C, C, T>)
TILE_ENTRY(eager_weight_terms, fused_add_rms_norm_eager::weight_terms)
TILE_ENTRY(eager_dot, eager::sum_of_row<float, C>)
TILE_ENTRY(eager_mean_square_gradient, fused_add_rms_norm_eager::mean_square_gradient)
TILE_ENTRY(eager_scale_by_gradient, eager::scale_rows<C, T, float>)
TILE_ENTRY(eager_add_gradients, eager::add<T, C, C>)
TILE_ENTRY(eager_partial_column_sum, eager::partial_column_sum<T>)
TILE_ENTRY(eager_column_sum, tile::column_sum<T>)
#endif

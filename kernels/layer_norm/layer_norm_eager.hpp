// LayerNorm as an unfused framework runs it: the primitive operations that the plan of the eager provider strings together.
// ELEMENT is the type in memory, temporaries are fp32.
#pragma once

#include "kernels/tile/eager.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace layer_norm_eager {

using T = tile::ELEMENT;

// out = (x - mean[row]) * rstd[row]: a framework has it from the forward pass; as many bytes, one launch.
TILE_FN void normalize(tile::RowMachine& m, tile::Matrix<float> out, tile::Matrix<const T> x, const float* mean,
                       const float* rstd) {
  m.for_rows([&](auto block) {
    const auto v = block.load(x);
    const auto center = block.load_column(mean);
    const auto r = block.load_column(rstd);
    block.map([&](auto e) { return (v[e] - center[e]) * r[e]; }, block.rows_of(out));
  });
}

}  // namespace layer_norm_eager

namespace eager = tile::eager;
using layer_norm_eager::T;

TILE_ENTRY(eager_mean, eager::sum_of_row<float, float>)
TILE_ENTRY(eager_scale_columns, eager::scale_columns<float, float, T>)
TILE_ENTRY(eager_scale_rows, eager::scale_rows<float, float, float>)
#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(eager_upcast, eager::convert<float, T>)
TILE_ENTRY(eager_subtract_rows, eager::subtract_rows<float, float, float>)
TILE_ENTRY(eager_square, eager::square<float>)
TILE_ENTRY(eager_add_eps, eager::affine<float, float>)
TILE_ENTRY(eager_rsqrt, eager::reciprocal_root<float>)
TILE_ENTRY(eager_add_columns, eager::add_columns<T, float, T>)
#else
TILE_ENTRY(eager_scale_gradient, eager::scale_columns<float, T, T>)
TILE_ENTRY(eager_normalize, layer_norm_eager::normalize)
TILE_ENTRY(eager_multiply, eager::multiply<float, float, float>)
TILE_ENTRY(eager_weight_terms, eager::multiply<float, T, float>)
TILE_ENTRY(eager_subtract, eager::subtract<float, float, float>)
TILE_ENTRY(eager_subtract_rows, eager::subtract_rows<float, float, float>)
TILE_ENTRY(eager_scale_rows_down, eager::scale_rows<T, float, float>)
TILE_ENTRY(eager_partial_column_sum, eager::partial_column_sum<float>)
TILE_ENTRY(eager_partial_column_sum_element, eager::partial_column_sum<T>)
TILE_ENTRY(eager_column_sum, tile::column_sum<T>)
#endif

// Squared ReLU as an unfused framework runs it: the primitive operations that the plan of the eager provider strings together.
#pragma once

#include "kernels/tile/eager.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace relu_squared_eager {

using T = tile::ELEMENT;

// out = gradient where a > 0, otherwise 0.
TILE_FN void relu_backward(tile::Machine& m, T* out, std::int64_t out_stride, const T* gradient,
                           std::int64_t gradient_stride, const T* a, std::int64_t a_stride, std::int64_t rows,
                           std::int64_t rows_per_program, std::int64_t columns) {
  tile::eager::binary(m, out, out_stride, gradient, gradient_stride, a, a_stride, rows, rows_per_program, columns,
                      [](auto g, auto x) { return tile::select(x > 0.0f, g, 0.0f); });
}

}  // namespace relu_squared_eager

using relu_squared_eager::T;

TILE_ENTRY(eager_relu, tile::eager::relu_of<T>)
TILE_ENTRY(eager_square, tile::eager::square<T>)
#if TILE_PASS == TILE_BACKWARD
TILE_ENTRY(eager_scale, tile::eager::affine<T, T>)
TILE_ENTRY(eager_multiply, tile::eager::multiply<T, T, T>)
TILE_ENTRY(eager_relu_backward, relu_squared_eager::relu_backward)
#endif

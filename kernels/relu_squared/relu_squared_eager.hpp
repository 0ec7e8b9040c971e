// Squared ReLU as an unfused framework runs it: the primitive operations that the plan of the eager provider strings together.
#pragma once

#include "kernels/tile/eager.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace relu_squared_eager {

using T = tile::ELEMENT;

// out = gradient where a > 0, otherwise 0.
TILE_FN void relu_backward(tile::RowMachine& m, tile::Matrix<T> out, tile::Matrix<const T> gradient,
                           tile::Matrix<const T> a) {
  tile::eager::binary(m, out, gradient, a, [](auto g, auto x) { return tile::select(x > 0.0f, g, 0.0f); });
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

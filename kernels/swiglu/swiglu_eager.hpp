// SwiGLU as an unfused framework runs it: the primitive operations that the plan of the eager provider strings together.
// Each takes and gives ELEMENT; a framework computes silu and its gradient in one operation each, so these do too.
#pragma once

#include "kernels/tile/eager.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace swiglu_eager {

using T = tile::ELEMENT;

TILE_FN void silu(tile::RowMachine& m, tile::Matrix<T> out, tile::Matrix<const T> a) {
  tile::eager::unary(m, out, a, [](auto x) { return tile::silu(x); });
}

// out = gradient * silu(a): the product with a saved silu(a), read from a instead: as many bytes, one launch.
TILE_FN void multiply_by_silu(tile::RowMachine& m, tile::Matrix<T> out, tile::Matrix<const T> gradient,
                              tile::Matrix<const T> a) {
  tile::eager::binary(m, out, gradient, a, [](auto g, auto x) { return g * tile::rounded<T>(tile::silu(x)); });
}

// out = gradient * silu'(a)
TILE_FN void silu_backward(tile::RowMachine& m, tile::Matrix<T> out, tile::Matrix<const T> gradient,
                           tile::Matrix<const T> a) {
  tile::eager::binary(m, out, gradient, a, [](auto g, auto x) {
    const auto s = tile::sigmoid(x);
    return g * (s * (1.0f + x * (1.0f - s)));
  });
}

}  // namespace swiglu_eager

using swiglu_eager::T;

TILE_ENTRY(eager_scale, tile::eager::affine<T, T>)
TILE_ENTRY(eager_multiply, tile::eager::multiply<T, T, T>)
#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(eager_activate, swiglu_eager::silu)
#else
TILE_ENTRY(eager_multiply_by_activation, swiglu_eager::multiply_by_silu)
TILE_ENTRY(eager_activation_backward, swiglu_eager::silu_backward)
#endif

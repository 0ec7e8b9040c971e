// GEGLU as an unfused framework runs it: the primitive operations that the plan of the eager provider strings together.
// Each takes and gives ELEMENT; a framework computes gelu and its gradient in one operation each, so these do too.
#pragma once

#include "kernels/tile/eager.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace geglu_eager {

using T = tile::ELEMENT;

// tanh(sqrt(2 / pi) * (a + 0.044715 a^3))
TILE_FN tile::Values inner_tanh(tile::Values a) {
  return tile::tanh((a + a * a * a * 0.044715f) * 0.7978845608028654f);
}

TILE_FN void gelu(tile::RowMachine& m, tile::Matrix<T> out, tile::Matrix<const T> a) {
  tile::eager::unary(m, out, a, [](auto x) { return x * 0.5f * (inner_tanh(x) + 1.0f); });
}

// out = gradient * gelu(a): the product with a saved gelu(a), read from a instead: as many bytes, one launch.
TILE_FN void multiply_by_gelu(tile::RowMachine& m, tile::Matrix<T> out, tile::Matrix<const T> gradient,
                              tile::Matrix<const T> a) {
  tile::eager::binary(m, out, gradient, a,
                      [](auto g, auto x) { return g * tile::rounded<T>(x * 0.5f * (inner_tanh(x) + 1.0f)); });
}

// out = gradient * gelu'(a)
TILE_FN void gelu_backward(tile::RowMachine& m, tile::Matrix<T> out, tile::Matrix<const T> gradient,
                           tile::Matrix<const T> a) {
  tile::eager::binary(m, out, gradient, a, [](auto g, auto x) {
    const auto t = inner_tanh(x);
    const auto slope = (x * x * (3 * 0.044715f) + 1.0f) * 0.7978845608028654f;
    return g * (0.5f * (t + 1.0f) + x * 0.5f * (1.0f - t * t) * slope);
  });
}

}  // namespace geglu_eager

using geglu_eager::T;

TILE_ENTRY(eager_multiply, tile::eager::multiply<T, T, T>)
#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(eager_activate, geglu_eager::gelu)
#else
TILE_ENTRY(eager_multiply_by_activation, geglu_eager::multiply_by_gelu)
TILE_ENTRY(eager_activation_backward, geglu_eager::gelu_backward)
#endif

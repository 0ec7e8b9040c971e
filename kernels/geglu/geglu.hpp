// GEGLU (Shazeer 2020, arXiv:2002.05202) with the tanh form of GELU (Hendrycks and Gimpel 2016, arXiv:1606.08415) as tile
// programs.
//   c = gelu(a) * b,  gelu(a) = a / 2 * (1 + tanh(z)) = a * sigmoid(2 z),  z = sqrt(2 / pi) * (a + 0.044715 a^3)
//   da = dc * b * (s + 2 a s (1 - s) z'),  s = sigmoid(2 z),  z' = sqrt(2 / pi) * (1 + 3 * 0.044715 a^2);  db = dc * gelu(a)
// The sigmoid form is the same function, without the cancellation of 1 + tanh(z) at negative z.
// ELEMENT is the type in memory; arithmetic is fp32; gelu(a) is rounded to ELEMENT before each product.
#pragma once

#include "kernels/tile/tile.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace geglu {

using T = tile::ELEMENT;

constexpr float slope = 1.5957691216057308f;  // 2 sqrt(2 / pi)
constexpr float cubic = 0.044715f;

// The program's rows of c.
TILE_FN void forward(tile::RowMachine& machine, tile::Matrix<T> c, tile::Matrix<const T> a, tile::Matrix<const T> b) {
  machine.for_rows([&](auto block) {
    const auto gate = block.load(a);
    const auto up = block.load(b);
    block.map(
        [&](auto e) {
          const auto x = gate[e];
          const auto twice_z = x * (x * x * (slope * cubic) + slope);
          return tile::rounded<T>(x * tile::sigmoid(twice_z)) * up[e];
        },
        block.rows_of(c));
  });
}

// The same rows of da and db, which may lie where a and b do.
TILE_FN void backward(tile::RowMachine& machine, tile::Matrix<T> da, tile::Matrix<T> db, tile::Matrix<const T> dc,
                      tile::Matrix<const T> a, tile::Matrix<const T> b) {
  machine.for_rows([&](auto block) {
    const auto gradient = block.load(dc);
    const auto gate = block.load(a);
    const auto up = block.load(b);
    block.map(
        [&](auto e) {
          const auto x = gate[e];
          const auto squared = x * x;
          const auto s = tile::sigmoid(x * (squared * (slope * cubic) + slope));
          const auto gelu = x * s;
          const auto derivative = gelu * (1.0f - s) * (squared * (3 * slope * cubic) + slope) + s;
          const auto g = gradient[e];
          return tile::results(g * up[e] * derivative, g * tile::rounded<T>(gelu));
        },
        block.rows_of(da), block.rows_of(db));
  });
}

}  // namespace geglu

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(geglu_forward, geglu::forward)
#else
TILE_ENTRY(geglu_backward, geglu::backward)
#endif

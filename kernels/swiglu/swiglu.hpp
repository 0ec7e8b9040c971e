// SwiGLU (Shazeer 2020, arXiv:2002.05202) as tile programs.
//   c = silu(s a) * b,  silu(x) = x * sigmoid(x),  s = gate_multiplier
//   da = dc * b * s * (sigmoid(s a) + silu(s a) * (1 - sigmoid(s a))),  db = dc * silu(s a)
// ELEMENT is the type in memory; arithmetic is fp32; silu(s a) is rounded to ELEMENT before the product forward.
#pragma once

#include "kernels/tile/tile.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace swiglu {

using T = tile::ELEMENT;

// The program's rows of c.
TILE_FN void forward(tile::RowMachine& machine, tile::Matrix<T> c, tile::Matrix<const T> a, tile::Matrix<const T> b,
                     float gate_multiplier) {
  machine.for_rows([&](auto block) {
    const auto gate = block.load(a);
    const auto up = block.load(b);
    block.map(
        [&](auto e) {
          const auto x = gate[e] * gate_multiplier;
          return tile::rounded<T>(tile::silu(x)) * up[e];
        },
        block.rows_of(c));
  });
}

// The same rows of da and db, which may lie where a and b do.
TILE_FN void backward(tile::RowMachine& machine, tile::Matrix<T> da, tile::Matrix<T> db, tile::Matrix<const T> dc,
                      tile::Matrix<const T> a, tile::Matrix<const T> b, float gate_multiplier) {
  machine.for_rows([&](auto block) {
    const auto gradient = block.load(dc);
    const auto gate = block.load(a);
    const auto up = block.load(b);
    block.map(
        [&](auto e) {
          const auto x = gate[e] * gate_multiplier;
          const auto s = tile::sigmoid(x);
          const auto silu = x * s;
          const auto g = gradient[e];
          return tile::results(g * up[e] * gate_multiplier * (silu * (1.0f - s) + s), g * silu);
        },
        block.rows_of(da), block.rows_of(db));
  });
}

}  // namespace swiglu

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(swiglu_forward, swiglu::forward)
#else
TILE_ENTRY(swiglu_backward, swiglu::backward)
#endif

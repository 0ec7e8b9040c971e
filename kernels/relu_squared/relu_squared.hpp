// Squared ReLU (So et al. 2021, arXiv:2109.08668) as tile programs.
//   y = max(x, 0)^2,  dx = 2 * max(x, 0) * dy
// ELEMENT is the type in memory; arithmetic is fp32. A NaN stays a NaN.
#pragma once

#include "kernels/tile/tile.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace relu_squared {

using T = tile::ELEMENT;

// The program's rows of y.
TILE_FN void forward(tile::RowMachine& machine, tile::Matrix<T> y, tile::Matrix<const T> x) {
  machine.for_rows([&](auto block) {
    const auto v = block.load(x);
    block.map(
        [&](auto e) {
          const auto positive = tile::relu(v[e]);
          return positive * positive;
        },
        block.rows_of(y));
  });
}

// The same rows of dx, which may lie where dy does.
TILE_FN void backward(tile::RowMachine& machine, tile::Matrix<T> dx, tile::Matrix<const T> dy,
                      tile::Matrix<const T> x) {
  machine.for_rows([&](auto block) {
    const auto g = block.load(dy);
    const auto v = block.load(x);
    block.map([&](auto e) { return 2.0f * tile::relu(v[e]) * g[e]; }, block.rows_of(dx));
  });
}

}  // namespace relu_squared

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(relu_squared_forward, relu_squared::forward)
#else
TILE_ENTRY(relu_squared_backward, relu_squared::backward)
#endif

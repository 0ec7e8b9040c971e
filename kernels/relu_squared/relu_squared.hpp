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

// Rows program * rows_per_program and on of y.
TILE_FN void forward(tile::Machine& machine, T* y, std::int64_t y_stride, const T* x, std::int64_t x_stride,
                     std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  machine.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto v = block.load(x, x_stride);
    block.map(
        [&](auto e) {
          const auto positive = tile::relu(v[e]);
          return positive * positive;
        },
        block.rows_of(y, y_stride));
  });
}

// The same rows of dx, which may lie where dy does.
TILE_FN void backward(tile::Machine& machine, T* dx, std::int64_t dx_stride, const T* dy, std::int64_t dy_stride,
                      const T* x, std::int64_t x_stride, std::int64_t rows, std::int64_t rows_per_program,
                      std::int64_t columns) {
  machine.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto g = block.load(dy, dy_stride);
    const auto v = block.load(x, x_stride);
    block.map([&](auto e) { return 2.0f * tile::relu(v[e]) * g[e]; }, block.rows_of(dx, dx_stride));
  });
}

}  // namespace relu_squared

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(relu_squared_forward, relu_squared::forward)
#else
TILE_ENTRY(relu_squared_backward, relu_squared::backward)
#endif

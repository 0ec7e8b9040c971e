// Softmax over the columns as tile programs; the maximum and the sum in one reading (Milakov and Gimelshein 2018,
// arXiv:1805.02867, section 3).
//   y = e^(x - m) / sum(e^(x - m)),  m = max(x)
//   dx = y * (dy - sum(dy * y))
// ELEMENT is the type in memory; arithmetic is fp32.
#pragma once

#include "kernels/tile/tile.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace softmax {

using T = tile::ELEMENT;

// The program's rows of y.
TILE_FN void forward(tile::RowMachine& machine, tile::Matrix<T> y, tile::Matrix<const T> x) {
  machine.for_rows([&](auto block) {
    const auto first = block.load(x);
    const auto total = block.exp_sum([&](auto e) { return first[e]; });
    const auto share = block.each_row([&](int row) { return 1.0f / total.sum[row]; });
    const auto kept = block.keep(first);
    block.map([&](auto e) { return tile::exp(kept[e] - total.maximum[e]) * share[e]; }, block.rows_of(y));
  });
}

// The same rows of dx.
TILE_FN void backward(tile::RowMachine& machine, tile::Matrix<T> dx, tile::Matrix<const T> dy,
                      tile::Matrix<const T> y) {
  machine.for_rows([&](auto block) {
    const auto first_g = block.load(dy);
    const auto first_y = block.load(y);
    const auto product = [&](auto e) { return first_g[e] * first_y[e]; };
    block.sum_then(product, [&](const auto& present, const auto& dot) {
      const auto g = present.keep(first_g);
      const auto p = present.keep(first_y);
      present.map([&](auto e) { return p[e] * (g[e] - dot[e]); }, present.rows_of(dx));
    });
  });
}

}  // namespace softmax

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(softmax_forward, softmax::forward)
#else
TILE_ENTRY(softmax_backward, softmax::backward)
#endif

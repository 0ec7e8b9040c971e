// LayerNorm (Ba, Kiros and Hinton 2016, arXiv:1607.06450) as tile programs.
//   y = h * w + b,  h = (x - mean) * rstd,  rstd = 1 / sqrt(mean((x - mean)^2) + eps)
//   dx = rstd * (g - h * mean(g * h) - mean(g)),  g = dy * w;  dw = sum over rows of dy * h;  db = sum over rows of dy
// ELEMENT is the type in memory; everything else is fp32, mean and rstd as they are saved too.
#pragma once

#include "kernels/tile/column_sum.hpp"
#include "kernels/tile/tile.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace layer_norm {

using T = tile::ELEMENT;

// The program's rows of y, mean and rstd.
TILE_FN void forward(tile::RowMachine& machine, tile::Matrix<T> y, tile::Matrix<const T> x, const T* weight,
                     const T* bias, float* mean, float* rstd, float eps) {
  const auto w = machine.row(weight, machine.columns());
  const auto b = machine.row(bias, machine.columns());
  const float share = 1.0f / tile::count(machine.columns());
  machine.for_rows([&](auto block) {
    const auto first = block.load(x);
    const auto value = [&](auto e) { return first[e]; };
    block.sum_then(value, [&](const auto& present, const auto& sum) {
      const auto kept = present.keep(first);
      const auto center = present.each_row([&](int row) { return sum[row] * share; });
      // The deviations are squared, not the values: where the mean is large the difference of squares has no digits left.
      const auto squares = present.sum([&](auto e) {
        const auto deviation = kept[e] - center[e];
        return deviation * deviation;
      });
      const auto r = present.each_row([&](int row) { return tile::rsqrt(squares[row] * share + eps); });
      present.store_column(mean, center);
      present.store_column(rstd, r);
      present.map([&](auto e) { return (kept[e] - center[e]) * r[e] * w[e] + b[e]; }, present.rows_of(y));
    });
  });
}

// The same rows of dx, and this program's row of dw_partial and db_partial (programs x columns each).
TILE_FN void backward(tile::RowMachine& machine, tile::Matrix<T> dx, tile::Matrix<const T> dy, tile::Matrix<const T> x,
                      const T* weight, const float* mean, const float* rstd, float* dw_partial, float* db_partial) {
  const auto w = machine.row(weight, machine.columns());
  const float share = 1.0f / tile::count(machine.columns());
  const auto dw = machine.own_sums(dw_partial);
  const auto db = machine.own_sums(db_partial);
  machine.for_rows([&](auto block) {
    const auto center = block.load_column(mean);  // first: on their way while the rows are waited for
    const auto r = block.load_column(rstd);
    const auto first_g = block.load(dy);
    const auto first_x = block.load(x);
    const auto sums = block.sums([&](auto e) {
      const auto g = first_g[e] * w[e];
      return tile::results(g * ((first_x[e] - center[e]) * r[e]), g);
    });
    const auto along = block.each_row([&](int row) { return sums.of[0][row] * share; });
    const auto level = block.each_row([&](int row) { return sums.of[1][row] * share; });
    const auto g = block.keep(first_g);
    const auto v = block.keep(first_x);
    block.map(
        [&](auto e) {
          const auto h = (v[e] - center[e]) * r[e];
          return tile::results((g[e] * w[e] - (h * along[e] + level[e])) * r[e], g[e] * h, g[e]);
        },
        block.rows_of(dx), block.sum_into(dw), block.sum_into(db));
  });
}

}  // namespace layer_norm

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(layer_norm_forward, layer_norm::forward)
#else
TILE_ENTRY(layer_norm_backward, layer_norm::backward)
TILE_ENTRY(layer_norm_column_sums, tile::column_sums<layer_norm::T>)
#endif

// RMSNorm (Zhang and Sennrich 2019, arXiv:1910.07467) as tile programs.
//   y = x * rstd * (offset + w),  rstd = 1 / sqrt(mean(x^2) + eps)
//   dx = rstd * m - x * rstd^3 / n * sum(m * x),  m = dy * (offset + w);  dw = sum over rows of dy * x * rstd
// ELEMENT is the type in memory; sums and rstd are fp32. CASTING_MODE (kernels/tile/casting.hpp) says where values are rounded.
// HAS_WEIGHT 0: no weight, offset and dw; their pointers are not read.
#pragma once

#include "kernels/tile/casting.hpp"
#include "kernels/tile/column_sum.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif
#ifndef HAS_WEIGHT
#define HAS_WEIGHT 1
#endif

namespace rms_norm {

using T = tile::ELEMENT;
using Rstd = tile::Rstd<T>;
constexpr bool has_weight = HAS_WEIGHT != 0;

// The program's rows of y and rstd.
TILE_FN void forward(tile::RowMachine& machine, tile::Matrix<T> y, tile::Matrix<const T> x, const T* weight, Rstd* rstd,
                     float eps, float offset) {
  const auto w = machine.row(weight, has_weight ? machine.columns() : 0);
  const float share = 1.0f / tile::count(machine.columns());
  machine.for_rows([&](auto block) {
    const auto first = block.load(x);
    const auto square = [&](auto e) {
      const auto v = first[e];
      return v * v;
    };
    block.sum_then(square, [&](const auto& present, const auto& squares) {
      const auto r =
          present.each_row([&](int row) { return tile::rounded<Rstd>(tile::rsqrt(squares[row] * share + eps)); });
      present.store_column(rstd, r);
      const auto kept = present.keep(first);
      present.map(
          [&](auto e) {
            const auto v = tile::normalized<T>(kept[e], r[e]);
            if constexpr (!has_weight) return v;
            return v * tile::scale<T>(w[e], offset);
          },
          present.rows_of(y));
    });
  });
}

// The same rows of dx, which may lie where dy does, and this program's row of dw_partial (programs x columns).
TILE_FN void backward(tile::RowMachine& machine, tile::Matrix<T> dx, tile::Matrix<const T> dy, tile::Matrix<const T> x,
                      const T* weight, const Rstd* rstd, float* dw_partial, float offset) {
  const auto w = machine.row(weight, has_weight ? machine.columns() : 0);
  const float share = 1.0f / tile::count(machine.columns());
  const auto dw = machine.own_sums(dw_partial, has_weight);
  machine.for_rows([&](auto block) {
    const auto r = block.load_column(rstd);  // first: on its way while the rows are waited for
    const auto first_g = block.load(dy);
    const auto first_x = block.load(x);
    const auto product = [&](auto e, auto g) {
      if constexpr (!has_weight) return g;
      return g * (w[e] + offset);
    };
    const auto term = [&](auto e) { return product(e, first_g[e]) * first_x[e]; };
    block.sum_then(term, [&](const auto& present, const auto& dot) {
      const auto k = present.each_row([&](int row) { return -dot[row] * r[row] * r[row] * r[row] * share; });
      const auto g = present.keep(first_g);
      const auto v = present.keep(first_x);
      const auto gradient = [&](auto e) { return product(e, g[e]) * r[e] + v[e] * k[e]; };
      if constexpr (has_weight) {
        present.map([&](auto e) { return tile::results(gradient(e), g[e] * tile::normalized<T>(v[e], r[e])); },
                    present.rows_of(dx), present.sum_into(dw));
      } else {
        present.map(gradient, present.rows_of(dx));
      }
    });
  });
}

}  // namespace rms_norm

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(rms_norm_forward, rms_norm::forward)
#else
TILE_ENTRY(rms_norm_backward, rms_norm::backward)
TILE_ENTRY(rms_norm_column_sum, tile::column_sum<rms_norm::T>)
#endif

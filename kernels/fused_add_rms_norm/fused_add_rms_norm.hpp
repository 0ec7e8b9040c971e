// The residual addition and RMSNorm (Zhang and Sennrich 2019, arXiv:1910.07467) of a decoder layer as one tile program.
//   s = x + r;  y = s * rstd * (offset + w),  rstd = 1 / sqrt(mean(s^2) + eps)
//   dx = dr = rstd * m - s * rstd^3 / n * sum(m * s) + ds,  m = dy * (offset + w);  dw = sum over rows of dy * s * rstd
// ELEMENT is the type in memory, and s is rounded to it before it is squared; sums and rstd are fp32. CASTING_MODE
// (kernels/tile/casting.hpp) says where values are rounded besides. HAS_DS 0: nothing used s but this operation, so there is no
// ds; its pointer is not read.
#pragma once

#include "kernels/tile/casting.hpp"
#include "kernels/tile/column_sum.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif
#ifndef HAS_DS
#define HAS_DS 1
#endif

namespace fused_add_rms_norm {

using T = tile::ELEMENT;
using Rstd = tile::Rstd<T>;
constexpr bool has_ds = HAS_DS != 0;

// The program's rows of y, s and rstd. s may lie where x or r does.
TILE_FN void forward(tile::RowMachine& machine, tile::Matrix<T> y, tile::Matrix<T> s, tile::Matrix<const T> x,
                     tile::Matrix<const T> r, const T* weight, Rstd* rstd, float eps, float offset) {
  const auto w = machine.row(weight, machine.columns());
  const float share = 1.0f / tile::count(machine.columns());
  machine.for_rows([&](auto block) {
    const auto first_x = block.load(x);
    const auto first_r = block.load(r);
    const auto square = [&](auto e) {
      const auto sum = tile::rounded<T>(first_x[e] + first_r[e]);
      return sum * sum;
    };
    block.sum_then(square, [&](const auto& present, const auto& squares) {
      const auto scale =
          present.each_row([&](int row) { return tile::rounded<Rstd>(tile::rsqrt(squares[row] * share + eps)); });
      present.store_column(rstd, scale);
      const auto kept_x = present.keep(first_x);
      const auto kept_r = present.keep(first_r);
      present.map(
          [&](auto e) {
            const auto sum = tile::rounded<T>(kept_x[e] + kept_r[e]);
            return tile::results(tile::normalized<T>(sum, scale[e]) * tile::scale<T>(w[e], offset), sum);
          },
          present.rows_of(y), present.rows_of(s));
    });
  });
}

// The same rows of dx, which may lie where dy does, and this program's row of dw_partial (programs x columns).
TILE_FN void backward(tile::RowMachine& machine, tile::Matrix<T> dx, tile::Matrix<const T> dy, tile::Matrix<const T> ds,
                      tile::Matrix<const T> s, const T* weight, const Rstd* rstd, float* dw_partial, float offset) {
  const auto w = machine.row(weight, machine.columns());
  const float share = 1.0f / tile::count(machine.columns());
  const auto dw = machine.own_sums(dw_partial);
  machine.for_rows([&](auto block) {
    const auto r = block.load_column(rstd);  // first: on its way while the rows are waited for
    const auto first_g = block.load(dy);
    const auto first_s = block.load(s);
    const auto through = block.load(ds);
    const auto term = [&](auto e) { return first_g[e] * (w[e] + offset) * first_s[e]; };
    block.sum_then(term, [&](const auto& present, const auto& dot) {
      const auto k = present.each_row([&](int row) { return -dot[row] * r[row] * r[row] * r[row] * share; });
      const auto g = present.keep(first_g);
      const auto v = present.keep(first_s);
      present.map(
          [&](auto e) {
            const auto gradient = g[e] * (w[e] + offset) * r[e] + v[e] * k[e];
            const auto weight_term = g[e] * tile::normalized<T>(v[e], r[e]);
            if constexpr (!has_ds) return tile::results(gradient, weight_term);
            return tile::results(gradient + through[e], weight_term);
          },
          present.rows_of(dx), present.sum_into(dw));
    });
  });
}

}  // namespace fused_add_rms_norm

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(fused_add_rms_norm_forward, fused_add_rms_norm::forward)
#else
TILE_ENTRY(fused_add_rms_norm_backward, fused_add_rms_norm::backward)
TILE_ENTRY(fused_add_rms_norm_column_sum, tile::column_sum<fused_add_rms_norm::T>)
#endif

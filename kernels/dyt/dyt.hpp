// DyT, dynamic tanh (Zhu, Chen, He, LeCun and Liu 2025, arXiv:2503.10622) as tile programs.
//   y = tanh(alpha x) * gamma + beta
//   dx = alpha u,  u = (1 - tanh(alpha x)^2) * dy * gamma;  dalpha = sum of x * u
//   dgamma = sum over rows of dy * tanh(alpha x);  dbeta = sum over rows of dy
// ELEMENT is the type in memory; arithmetic is fp32. HAS_BETA 0: no beta and dbeta; their pointers are not read.
#pragma once

#include "kernels/tile/column_sum.hpp"
#include "kernels/tile/tile.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif
#ifndef HAS_BETA
#define HAS_BETA 1
#endif

namespace dyt {

using T = tile::ELEMENT;
constexpr bool has_beta = HAS_BETA != 0;

// The program's rows of y.
TILE_FN void forward(tile::RowMachine& machine, tile::Matrix<T> y, tile::Matrix<const T> x, const T* alpha,
                     const T* gamma, const T* beta) {
  const float a = machine.scalar(alpha);
  const auto scale = machine.row(gamma, machine.columns());
  const auto shift = machine.row(beta, has_beta ? machine.columns() : 0);
  machine.for_rows([&](auto block) {
    const auto v = block.load(x);
    block.map(
        [&](auto e) {
          const auto scaled = tile::tanh(v[e] * a) * scale[e];
          if constexpr (!has_beta) return scaled;
          return scaled + shift[e];
        },
        block.rows_of(y));
  });
}

// The same rows of dx, and this program's part of dalpha (programs values), dgamma and dbeta (programs x columns).
TILE_FN void backward(tile::RowMachine& machine, tile::Matrix<T> dx, tile::Matrix<const T> dy, tile::Matrix<const T> x,
                      const T* alpha, const T* gamma, float* dalpha_partial, float* dgamma_partial,
                      float* dbeta_partial) {
  const float a = machine.scalar(alpha);
  const auto scale = machine.row(gamma, machine.columns());
  auto dalpha = machine.total();
  const auto dgamma = machine.own_sums(dgamma_partial);
  const auto dbeta = machine.own_sums(dbeta_partial, has_beta);
  machine.for_rows([&](auto block) {
    const auto gradient = block.load(dy);
    const auto v = block.load(x);
    const auto terms = [&](auto e, auto... others) {
      const auto t = tile::tanh(v[e] * a);
      const auto u = (1.0f - t * t) * gradient[e] * scale[e];
      return tile::results(u * a, gradient[e] * t, v[e] * u, others...);
    };
    if constexpr (has_beta) {
      block.map([&](auto e) { return terms(e, gradient[e]); }, block.rows_of(dx), block.sum_into(dgamma),
                block.sum_into(dalpha), block.sum_into(dbeta));
    } else {
      block.map([&](auto e) { return terms(e); }, block.rows_of(dx), block.sum_into(dgamma), block.sum_into(dalpha));
    }
  });
  machine.store_total(dalpha_partial + machine.program(), dalpha);
}

}  // namespace dyt

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(dyt_forward, dyt::forward)
#else
TILE_ENTRY(dyt_backward, dyt::backward)
TILE_ENTRY(dyt_column_sums, tile::column_sums<dyt::T>)
#endif

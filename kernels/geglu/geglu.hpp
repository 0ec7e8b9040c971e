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

// Rows program * rows_per_program and on of c.
TILE_FN void forward(tile::Machine& machine, T* c, std::int64_t c_stride, const T* a, std::int64_t a_stride, const T* b,
                     std::int64_t b_stride, std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  machine.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto gate = block.load(a, a_stride);
    const auto up = block.load(b, b_stride);
    block.map(
        [&](auto e) {
          const auto x = gate[e];
          const auto twice_z = x * (x * x * (slope * cubic) + slope);
          return tile::rounded<T>(x * tile::sigmoid(twice_z)) * up[e];
        },
        block.rows_of(c, c_stride));
  });
}

// The same rows of da and db, which may lie where a and b do.
TILE_FN void backward(tile::Machine& machine, T* da, std::int64_t da_stride, T* db, std::int64_t db_stride, const T* dc,
                      std::int64_t dc_stride, const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride,
                      std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  machine.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto gradient = block.load(dc, dc_stride);
    const auto gate = block.load(a, a_stride);
    const auto up = block.load(b, b_stride);
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
        block.rows_of(da, da_stride), block.rows_of(db, db_stride));
  });
}

}  // namespace geglu

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(geglu_forward, geglu::forward)
#else
TILE_ENTRY(geglu_backward, geglu::backward)
#endif

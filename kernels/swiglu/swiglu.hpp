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

// Rows program * rows_per_program and on of c.
TILE_FN void forward(tile::Machine& machine, T* c, std::int64_t c_stride, const T* a, std::int64_t a_stride, const T* b,
                     std::int64_t b_stride, std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns,
                     float gate_multiplier) {
  machine.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto gate = block.load(a, a_stride);
    const auto up = block.load(b, b_stride);
    block.map(
        [&](auto e) {
          const auto x = gate[e] * gate_multiplier;
          return tile::rounded<T>(tile::silu(x)) * up[e];
        },
        block.rows_of(c, c_stride));
  });
}

// The same rows of da and db, which may lie where a and b do.
TILE_FN void backward(tile::Machine& machine, T* da, std::int64_t da_stride, T* db, std::int64_t db_stride, const T* dc,
                      std::int64_t dc_stride, const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride,
                      std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns, float gate_multiplier) {
  machine.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto gradient = block.load(dc, dc_stride);
    const auto gate = block.load(a, a_stride);
    const auto up = block.load(b, b_stride);
    block.map(
        [&](auto e) {
          const auto x = gate[e] * gate_multiplier;
          const auto s = tile::sigmoid(x);
          const auto silu = x * s;
          const auto g = gradient[e];
          return tile::results(g * up[e] * gate_multiplier * (silu * (1.0f - s) + s), g * silu);
        },
        block.rows_of(da, da_stride), block.rows_of(db, db_stride));
  });
}

}  // namespace swiglu

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(swiglu_forward, swiglu::forward)
#else
TILE_ENTRY(swiglu_backward, swiglu::backward)
#endif

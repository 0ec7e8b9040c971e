// The last linear layer of a model and its cross entropy as tile programs, between matrix products of the device's library:
//   logits = input weight^T (+ bias), of a chunk of rows at a time;  loss and d loss / d logits as in cross_entropy_rows.hpp;
//   d input = G weight,  d weight = G^T input,  d bias = 1^T G,  G = d loss / d logits, written over the logits
// The products stand in the plan (fused_linear_cross_entropy_plan.cpp); here is what lies between them.
// Defines besides those of cross_entropy_rows.hpp:
//   SCALES_GRADIENTS   1: a backward pass that multiplies what forward left; 0: one that computes the gradients
#pragma once

#include "kernels/cross_entropy/cross_entropy_rows.hpp"

#ifndef SCALES_GRADIENTS
#define SCALES_GRADIENTS 1
#endif

namespace fused_linear_cross_entropy {

using T = tile::ELEMENT;

// out = 1 for this program's stretch of `count` elements: the row that sums a matrix's rows in a product.
TILE_FN void ones(tile::Machine& machine, T* out, std::int64_t count, std::int64_t per_program) {
  machine.for_stretch(count, per_program, [&](auto block, std::int64_t first) {
    block.map([](auto) { return tile::constant(1.0f); }, block.rows_of(out + first, count));
  });
}

// out = sum rounded to T, for this program's stretch of `count` elements.
TILE_FN void narrow(tile::Machine& machine, T* out, const float* sum, std::int64_t count, std::int64_t per_program) {
  machine.for_stretch(count, per_program, [&](auto block, std::int64_t first) {
    const auto values = block.load(sum + first, count);
    block.map([&](auto e) { return values[e]; }, block.rows_of(out + first, count));
  });
}

// x multiplied in place by a number, for this program's stretch of `count` elements; nothing is done for the number 1.
TILE_FN void scale_vector(tile::Machine& machine, T* x, const float* factor, std::int64_t count,
                          std::int64_t per_program) {
  const float number = machine.scalar(factor);
  if (number == 1.0f) return;
  machine.for_stretch(count, per_program, [&](auto block, std::int64_t first) {
    const auto values = block.load(x + first, count);
    block.map([&](auto e) { return values[e] * number; }, block.rows_of(x + first, count));
  });
}

}  // namespace fused_linear_cross_entropy

#if TILE_PASS == TILE_FORWARD || !SCALES_GRADIENTS
TILE_ENTRY(fused_linear_count, cross_entropy::count)
TILE_ENTRY(fused_linear_losses, cross_entropy::forward)
TILE_ENTRY(fused_linear_ones, fused_linear_cross_entropy::ones)
TILE_ENTRY(fused_linear_narrow, fused_linear_cross_entropy::narrow)
#endif
#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(fused_linear_reduce, cross_entropy::reduce)
#elif SCALES_GRADIENTS
TILE_ENTRY(fused_linear_scale, cross_entropy::scale)
TILE_ENTRY(fused_linear_scale_vector, fused_linear_cross_entropy::scale_vector)
#endif

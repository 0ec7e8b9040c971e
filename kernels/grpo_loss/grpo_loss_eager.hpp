// GRPO's loss as an unfused framework runs it: the primitive operations that the plan of the eager provider strings together.
#pragma once

#include "kernels/grpo_loss/grpo_loss_rows.hpp"
#include "kernels/tile/eager.hpp"

namespace grpo_loss_eager {

using T = tile::ELEMENT;

// out = logits * factor, tokens' rows alone.
TILE_FN void scale_logits(tile::RowMachine& m, tile::Matrix<float> out, tile::Matrix<const T> logits,
                          std::int64_t length, float factor) {
  m.for_rows([&](auto block) {
    const auto x = block.load(logits, [&](std::int64_t row) { return row + row / length; });
    block.map([&](auto e) { return x[e] * factor; }, block.rows_of(out));
  });
}

// lse = largest + log(sum) and logp = x[id] - lse, 0 without mask.
TILE_FN void gather(tile::RowMachine& m, float* lse, float* logp, tile::Matrix<const float> x, const float* sum,
                    const float* largest, const std::int64_t* ids, const float* mask) {
  m.for_rows([&](auto block) {
    const auto v = block.load(x);
    const auto at = block.gather(v, block.load_indices(ids));
    const auto s = block.load_column(sum);
    const auto top = block.load_column(largest);
    const auto one = block.each_row([](int) { return 1.0f; });
    const auto present = grpo_loss::has_mask ? block.load_column(mask) : one;
    const auto kept = [&](int row, float value) { return present[row] != 0.0f ? value : 0.0f; };
    block.store_column(lse, block.each_row([&](int row) { return kept(row, top[row] + tile::log(s[row])); }));
    block.store_column(logp,
                       block.each_row([&](int row) { return kept(row, at[row] - top[row] - tile::log(s[row])); }));
  });
}

// out = [column is the label] - p
TILE_FN void subtract_from_label(tile::RowMachine& m, tile::Matrix<float> out, tile::Matrix<const float> p,
                                 const std::int64_t* ids) {
  m.for_rows([&](auto block) {
    const auto v = block.load(p);
    const auto id = block.load_indices(ids);
    block.map([&](auto e) { return tile::select(id.marks(e), tile::constant(1.0f), 0.0f) - v[e]; }, block.rows_of(out));
  });
}

// gradient = change * dlogp[row] * factor in tokens' rows, 0 without mask.
TILE_FN void scale_gradient(tile::RowMachine& m, tile::Matrix<T> out, tile::Matrix<const float> change,
                            const float* dlogp, const float* mask, std::int64_t length, float factor) {
  m.for_rows([&](auto block) {
    const auto v = block.load(change);
    const auto scale = block.load_column(dlogp);
    const auto one = block.each_row([](int) { return 1.0f; });
    const auto present = grpo_loss::has_mask ? block.load_column(mask) : one;
    block.map([&](auto e) { return tile::select(present[e] != 0.0f, v[e] * (scale[e] * factor), 0.0f); },
              block.rows_of(out, [&](std::int64_t row) { return row + row / length; }));
  });
}

}  // namespace grpo_loss_eager

namespace eager = tile::eager;

TILE_ENTRY(eager_scale_logits, grpo_loss_eager::scale_logits)
TILE_ENTRY(eager_subtract_rows, eager::subtract_rows<float, float, float>)
TILE_ENTRY(eager_exponential, eager::exponential<float>)
#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(eager_maximum, eager::maximum_of_row<float, float>)
TILE_ENTRY(eager_sum, eager::sum_of_row<float, float>)
TILE_ENTRY(eager_gather, grpo_loss_eager::gather)
TILE_ENTRY(eager_sequence, grpo_loss::sequence)
TILE_ENTRY(eager_tokens, grpo_loss::tokens)
TILE_ENTRY(eager_sequence_sums, grpo_loss::sequence_sums)
TILE_ENTRY(eager_reduce, grpo_loss::reduce)
#else
TILE_ENTRY(eager_sequence_gradient, grpo_loss::sequence_gradient)
TILE_ENTRY(eager_token_gradients, grpo_loss::token_gradients)
TILE_ENTRY(eager_subtract_from_label, grpo_loss_eager::subtract_from_label)
TILE_ENTRY(eager_scale_gradient, grpo_loss_eager::scale_gradient)
TILE_ENTRY(eager_last_positions, grpo_loss::last_positions)
#endif

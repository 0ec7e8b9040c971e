// The primitive operations of cross entropy in an unfused framework, besides those of kernels/tile/eager.hpp.
#pragma once

#include "kernels/cross_entropy/cross_entropy_rows.hpp"
#include "kernels/tile/eager.hpp"

namespace cross_entropy_eager {

using T = tile::ELEMENT;
namespace eager = tile::eager;

// lse[row] = largest[row] + log(sum[row])
TILE_FN void log_sum(tile::Machine& m, float* lse, const float* sum, const float* largest, std::int64_t rows) {
  m.for_rows(rows, rows, 1, [&](auto block) {
    const auto s = block.load_column(sum);
    const auto top = block.load_column(largest);
    block.store_column(lse, block.each_row([&](int row) { return top[row] + tile::log(s[row]); }));
  });
}

// The losses of the rows and the factors of their gradients, from the label's logit of each.
TILE_FN void row_losses(tile::Machine& m, const float* x, std::int64_t x_stride, const float* lse,
                        const float* weighted_x, float* along, float* level, float* at_label,
                        const std::int64_t* target, const T* weight, const float* totals, float* losses,
                        float* z_losses, float* hits, std::int64_t* predictions, std::int64_t rows,
                        std::int64_t rows_per_program, std::int64_t columns, std::int64_t ignore_index, float smoothing,
                        float lse_square_scale, float) {
  namespace ce = cross_entropy;
  const ce::Totals all = ce::totals_of(m, totals, columns);
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto y = block.load_indices(target);
    const auto v = block.load(x, x_stride);
    const auto x_label = block.gather(v, y);
    const auto one = block.each_row([](int) { return 1.0f; });
    const auto w_label = [&] {
      if constexpr (ce::has_weight) {
        return block.gather(m.row(weight), y);
      } else {
        return one;
      }
    }();
    const auto sums = ce::has_smoothing ? block.load_column(weighted_x) : one;
    const auto log_sums = block.load_column(lse);
    const auto factors = [&](int row) {
      return ce::row_factors(log_sums[row], x_label[row], w_label[row], sums[row], all, columns, smoothing,
                             lse_square_scale);
    };
    const auto kept = [&](int row, float value) { return y[row] == ignore_index ? 0.0f : value; };
    block.store_column(along, block.each_row([&](int row) { return factors(row).along; }));
    block.store_column(level, block.each_row([&](int row) { return factors(row).level; }));
    block.store_column(at_label, block.each_row([&](int row) { return factors(row).at_label; }));
    block.store_column(losses, block.each_row([&](int row) { return kept(row, factors(row).loss); }));
    if constexpr (ce::return_z_loss) {
      block.store_column(z_losses, block.each_row([&](int row) { return kept(row, factors(row).z_loss); }));
    }
    if constexpr (ce::return_accuracy || ce::return_prediction) {
      const auto value = [&](auto e) { return v[e]; };
      const auto largest = block.first_column_of(block.max(value), value);
      if constexpr (ce::return_accuracy) {
        block.store_column(hits,
                           block.each_row([&](int row) { return kept(row, largest[row] == y[row] ? 1.0f : 0.0f); }));
      }
      if constexpr (ce::return_prediction) {
        block.store_indices(predictions, block.each_index([&](int row) {
          return y[row] == ignore_index ? std::int64_t(-1) : largest[row];
        }));
      }
    }
  });
}

// out = g - level[row] * weight[column], or g - level[row] without weights.
#if HAS_WEIGHT
TILE_FN void subtract_level(tile::Machine& m, float* out, std::int64_t out_stride, const float* g,
                            std::int64_t g_stride, const float* level, const T* weight, std::int64_t rows,
                            std::int64_t rows_per_program, std::int64_t columns) {
  const auto w = m.row(weight);
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto v = block.load(g, g_stride);
    const auto l = block.load_column(level);
    block.map([&](auto e) { return v[e] - w[e] * l[e]; }, block.rows_of(out, out_stride));
  });
}
#else
TILE_FN void subtract_level(tile::Machine& m, float* out, std::int64_t out_stride, const float* g,
                            std::int64_t g_stride, const float* level, std::int64_t rows, std::int64_t rows_per_program,
                            std::int64_t columns) {
  eager::subtract_rows(m, out, out_stride, g, g_stride, level, rows, rows_per_program, columns);
}
#endif

// out = g - at[row] in the label's column
TILE_FN void subtract_label(tile::Machine& m, float* out, std::int64_t out_stride, const float* g,
                            std::int64_t g_stride, const std::int64_t* target, const float* at, std::int64_t rows,
                            std::int64_t rows_per_program, std::int64_t columns) {
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto v = block.load(g, g_stride);
    const auto y = block.load_indices(target);
    const auto a = block.load_column(at);
    block.map([&](auto e) { return v[e] - tile::select(y.marks(e), tile::constant(a[e]), 0.0f); },
              block.rows_of(out, out_stride));
  });
}

// out = g, and zeros in rows whose label is to be ignored; rounded to T.
TILE_FN void keep_rows(tile::Machine& m, T* out, std::int64_t out_stride, const float* g, std::int64_t g_stride,
                       const std::int64_t* target, std::int64_t rows, std::int64_t rows_per_program,
                       std::int64_t columns, float ignore_index) {
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto v = block.load(g, g_stride);
    const auto y = block.load_indices(target);
    const auto kept = block.each_row([&](int row) { return y[row] == std::int64_t(ignore_index) ? 0.0f : 1.0f; });
    block.map([&](auto e) { return tile::select(kept[e] != 0.0f, v[e], 0.0f); }, block.rows_of(out, out_stride));
  });
}

}  // namespace cross_entropy_eager

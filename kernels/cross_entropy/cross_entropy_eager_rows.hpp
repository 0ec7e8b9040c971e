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
TILE_FN void row_losses(tile::RowMachine& m, const cross_entropy::RowLossArguments<tile::Value, T>& a) {
  namespace ce = cross_entropy;
  const ce::LossArguments<tile::Value, T>& l = a.loss;
  const ce::Totals all = ce::totals_of(m, l.totals, m.columns());
  m.for_rows([&](auto block) {
    const auto y = block.load_indices(l.target);
    const auto v = block.load(a.logits);
    const auto x_label = block.gather(v, y);
    const auto one = block.each_row([](int) { return 1.0f; });
    const auto w_label = [&] {
      if constexpr (ce::has_weight) {
        return block.gather(m.row(l.weight), y);
      } else {
        return one;
      }
    }();
    const auto sums = ce::has_smoothing ? block.load_column(a.weighted_x) : one;
    const auto log_sums = block.load_column(a.lse);
    const auto factors = [&](int row) {
      return ce::row_factors(log_sums[row], x_label[row], w_label[row], sums[row], all, m.columns(), l.smoothing,
                             l.lse_square_scale);
    };
    const auto kept = [&](int row, float value) { return y[row] == l.ignore_index ? 0.0f : value; };
    block.store_column(a.along, block.each_row([&](int row) { return factors(row).along; }));
    block.store_column(a.level, block.each_row([&](int row) { return factors(row).level; }));
    block.store_column(a.at_label, block.each_row([&](int row) { return factors(row).at_label; }));
    block.store_column(l.losses, block.each_row([&](int row) { return kept(row, factors(row).loss); }));
    if constexpr (ce::return_z_loss) {
      block.store_column(l.z_losses, block.each_row([&](int row) { return kept(row, factors(row).z_loss); }));
    }
    if constexpr (ce::return_accuracy || ce::return_prediction) {
      const auto value = [&](auto e) { return v[e]; };
      const auto largest = block.first_column_of(block.max(value), value);
      if constexpr (ce::return_accuracy) {
        block.store_column(l.hits,
                           block.each_row([&](int row) { return kept(row, largest[row] == y[row] ? 1.0f : 0.0f); }));
      }
      if constexpr (ce::return_prediction) {
        block.store_indices(l.predictions, block.each_index([&](int row) {
          return y[row] == l.ignore_index ? std::int64_t(-1) : largest[row];
        }));
      }
    }
  });
}

// out = g - level[row] * weight[column], or g - level[row] without weights.
#if HAS_WEIGHT
TILE_FN void subtract_level(tile::RowMachine& m, tile::Matrix<float> out, tile::Matrix<const float> g,
                            const float* level, const T* weight) {
  const auto w = m.row(weight);
  m.for_rows([&](auto block) {
    const auto v = block.load(g);
    const auto l = block.load_column(level);
    block.map([&](auto e) { return v[e] - w[e] * l[e]; }, block.rows_of(out));
  });
}
#else
TILE_FN void subtract_level(tile::RowMachine& m, tile::Matrix<float> out, tile::Matrix<const float> g,
                            const float* level) {
  eager::subtract_rows(m, out, g, level);
}
#endif

// out = g - at[row] in the label's column
TILE_FN void subtract_label(tile::RowMachine& m, tile::Matrix<float> out, tile::Matrix<const float> g,
                            const std::int64_t* target, const float* at) {
  m.for_rows([&](auto block) {
    const auto v = block.load(g);
    const auto y = block.load_indices(target);
    const auto a = block.load_column(at);
    block.map([&](auto e) { return v[e] - tile::select(y.marks(e), tile::constant(a[e]), 0.0f); }, block.rows_of(out));
  });
}

// out = g, and zeros in rows whose label is to be ignored; rounded to T.
TILE_FN void keep_rows(tile::RowMachine& m, tile::Matrix<T> out, tile::Matrix<const float> g,
                       const std::int64_t* target, float ignore_index) {
  m.for_rows([&](auto block) {
    const auto v = block.load(g);
    const auto y = block.load_indices(target);
    const auto kept = block.each_row([&](int row) { return y[row] == std::int64_t(ignore_index) ? 0.0f : 1.0f; });
    block.map([&](auto e) { return tile::select(kept[e] != 0.0f, v[e], 0.0f); }, block.rows_of(out));
  });
}

}  // namespace cross_entropy_eager

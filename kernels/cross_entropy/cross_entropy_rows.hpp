// Cross entropy over rows of logits: loss and gradient in one pass over memory, the gradient written where the logits lie.
// cross_entropy and fused_linear_cross_entropy are made of these programs.
//   x = softcap * tanh(logit / softcap), or the logit itself;  p = softmax(x);  lse = max + log(sum(e^(x - max)))
//   loss = (1 - s) w[y] (lse - x[y]) + s / V * sum(w (lse - x)) + z,  z = lse_square_scale * lse^2
// with s the label smoothing (Szegedy et al. 2016, arXiv:1512.00567, section 7), z the auxiliary loss of PaLM (Chowdhery et al.
// 2022, arXiv:2204.02311, section 5), w the class weights (1 without). "mean" divides the first two by the sum of w[y] and z by
// the number of rows that are not ignored. The gradient, d loss / d x = p A - B w - C [column is y], is multiplied by
// 1 - tanh^2 where there is a softcap. A row whose label is ignore_index has no loss and a gradient of zeros; a label that is no
// column makes its row's loss a NaN.
// ELEMENT is the type of logits, bias and weights; arithmetic and losses are fp32.
//   HAS_WEIGHT, HAS_SMOOTHING, HAS_Z_LOSS, HAS_SOFTCAP   1 where the option is in use
//   MEAN_REDUCTION                                       1: losses and gradients are divided as said above
//   RETURN_Z_LOSS, RETURN_ACCURACY, RETURN_PREDICTION    1: the row's z, whether y is the first largest column, that column
//   HAS_BIAS                                             1: a row added to every row of logits
//   TOKEN_SCALING                                        1: loss, z and gradient are multiplied by p[y], taken as a constant
//   HAS_GRADIENT                                         0: the logits stay as they are
//   HAS_UPSTREAM                                         1: each row's gradient is multiplied by the gradient of its loss
#pragma once

#include "kernels/cross_entropy/cross_entropy_arguments.hpp"
#include "kernels/tile/tile.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif
#ifndef HAS_WEIGHT
#define HAS_WEIGHT 0
#endif
#ifndef HAS_SMOOTHING
#define HAS_SMOOTHING 0
#endif
#ifndef HAS_Z_LOSS
#define HAS_Z_LOSS 0
#endif
#ifndef HAS_SOFTCAP
#define HAS_SOFTCAP 0
#endif
#ifndef MEAN_REDUCTION
#define MEAN_REDUCTION 1
#endif
#ifndef RETURN_Z_LOSS
#define RETURN_Z_LOSS 0
#endif
#ifndef RETURN_ACCURACY
#define RETURN_ACCURACY 0
#endif
#ifndef RETURN_PREDICTION
#define RETURN_PREDICTION 0
#endif
#ifndef HAS_BIAS
#define HAS_BIAS 0
#endif
#ifndef TOKEN_SCALING
#define TOKEN_SCALING 0
#endif
#ifndef HAS_GRADIENT
#define HAS_GRADIENT 1
#endif
#ifndef HAS_UPSTREAM
#define HAS_UPSTREAM 0
#endif

namespace cross_entropy {

using T = tile::ELEMENT;
constexpr bool has_weight = HAS_WEIGHT != 0, has_smoothing = HAS_SMOOTHING != 0, has_z_loss = HAS_Z_LOSS != 0;
constexpr bool has_softcap = HAS_SOFTCAP != 0, has_bias = HAS_BIAS != 0, mean_reduction = MEAN_REDUCTION != 0;
constexpr bool return_z_loss = RETURN_Z_LOSS != 0, return_accuracy = RETURN_ACCURACY != 0;
constexpr bool return_prediction = RETURN_PREDICTION != 0, token_scaling = TOKEN_SCALING != 0;
constexpr bool has_gradient = HAS_GRADIENT != 0, has_upstream = HAS_UPSTREAM != 0;

// totals[0]: rows that are not ignored; totals[1]: the sum of their labels' weights; totals[2]: the sum of all weights.
TILE_FN void count(tile::Machine& machine, float* totals, const std::int64_t* target, const T* weight,
                   std::int64_t rows, std::int64_t columns, std::int64_t ignore_index) {
  const auto y = machine.numbers(target);
  const auto w = machine.row(weight);
  const auto tokens = machine.one_row(rows);
  const auto sums = tokens.sums([&](auto e) {
    const auto ignored = y[e] == ignore_index;
    const auto counted = tile::select(ignored, 0.0f, 1.0f);
    if constexpr (!has_weight) return tile::results(counted, counted);
    return tile::results(counted, tile::select(ignored, tile::constant(0.0f), tile::gather(w, y[e], columns)));
  });
  tokens.store_column(totals, sums.of[0]);
  tokens.store_column(totals + 1, sums.of[1]);
  if constexpr (has_weight) {
    const auto classes = machine.one_row(columns);
    classes.store_column(totals + 2, classes.sum([&](auto e) { return w[e]; }));
  }
}

// What one row's numbers make of its loss and gradient.
struct RowFactors {
  float loss, z_loss, along, level, at_label;  // the last three: A, B and C
};

// What `count` found, read once before the rows: behind a row's reduction each would be a wait for memory.
struct Totals {
  float kept, kept_weight, all_weight;
};
TILE_FN Totals totals_of(tile::Machine& machine, const float* totals, std::int64_t columns) {
  return {mean_reduction ? machine.scalar(totals) : 1.0f, mean_reduction ? machine.scalar(totals + 1) : 1.0f,
          has_weight && has_smoothing ? machine.scalar(totals + 2) : tile::count(columns)};
}

// `weighted_x`: the sum of w x over the columns, or of x without weights.
TILE_FN RowFactors row_factors(float lse, float x_label, float w_label, float weighted_x, Totals all,
                               std::int64_t columns, float smoothing, float lse_square_scale) {
  const float kept = all.kept, kept_weight = all.kept_weight, all_weight = all.all_weight;
  const float eps = smoothing / tile::count(columns);
  RowFactors row;
  row.at_label = (1.0f - smoothing) * w_label / kept_weight;
  row.level = eps / kept_weight;
  row.along = row.at_label + row.level * all_weight;
  row.loss = row.at_label * (lse - x_label);
  if constexpr (has_smoothing) row.loss = row.loss + row.level * (all_weight * lse - weighted_x);
  row.z_loss = 0.0f;
  if constexpr (has_z_loss) {
    row.z_loss = lse_square_scale * lse * lse / kept;
    row.along = row.along + 2.0f * lse_square_scale * lse / kept;
    row.loss = row.loss + row.z_loss;
  }
  if constexpr (token_scaling) {
    const float share = tile::exp(x_label - lse);
    row = {row.loss * share, row.z_loss * share, row.along * share, row.level * share, row.at_label * share};
  }
  return row;
}

// The program's rows: logits become their gradients; losses, z, hits and predictions of each row.
TILE_FN void forward(tile::RowMachine& machine, const ForwardArguments<tile::Value, T>& a) {
  const LossArguments<tile::Value, T>& l = a.loss;
  const std::int64_t* target = l.target;
  const std::int64_t ignore_index = l.ignore_index;
  const float softcap = l.softcap;
  const auto w = machine.row(l.weight);
  const auto b = machine.row(a.bias);
  const float inverse_cap = 1.0f / softcap;
  const Totals all = totals_of(machine, l.totals, machine.columns());
  const auto coming = tile::coming_rows(
      a.logits, [=](std::int64_t row) { return target[row]; },
      [=](std::int64_t label) { return label != ignore_index; });
  machine.for_rows(coming, [&](auto block) {
    const auto y = block.facts(coming);
    const auto kept_row = [&](int row) { return y[row] != ignore_index; };
    const auto none = block.each_row([](int) { return 0.0f; });
    if (!block.any(kept_row)) {
      block.store_column(l.losses, none);
      if constexpr (return_z_loss) block.store_column(l.z_losses, none);
      if constexpr (return_accuracy) block.store_column(l.hits, none);
      if constexpr (return_prediction) {
        block.store_indices(l.predictions, block.each_index([](int) { return std::int64_t(-1); }));
      }
      if constexpr (has_gradient) {
        block.map([&](auto) { return tile::constant(0.0f); }, block.rows_of(a.logits));
      }
      return;
    }
    const auto above = has_upstream ? block.load_column(a.upstream) : block.each_row([](int) { return 1.0f; });
    const auto first = block.load(a.logits);
    const auto at_label = block.gather(first, y);
    const auto bias_at_label = [&] {
      if constexpr (has_bias) {
        return block.gather(b, y);
      } else {
        return none;
      }
    }();
    const auto squashed = [&](const auto& from, auto e) {  // tanh(logit / softcap), or the logit itself
      const auto logit = [&] {
        if constexpr (has_bias) return from[e] + b[e];
        return from[e];
      }();
      if constexpr (has_softcap) return tile::tanh(logit * inverse_cap);
      return logit;
    };
    const auto value = [&](const auto& from, auto e) {
      if constexpr (has_softcap) return squashed(from, e) * softcap;
      return squashed(from, e);
    };
    const auto total = block.exp_sum([&](auto e) { return value(first, e); });
    // After the reading of the row: whoever looks at a gathered value waits for it.
    const auto x_label = block.each_row([&](int row) {
      const float logit = at_label[row] + bias_at_label[row];
      return has_softcap ? softcap * tile::tanh(logit * inverse_cap) : logit;
    });
    const auto again = block.keep(first);
    const auto weighted_x = [&] {
      if constexpr (!has_smoothing) return none;
      return block.sum([&](auto e) {
        if constexpr (has_weight) return value(again, e) * w[e];
        return value(again, e);
      });
    }();
    const auto w_label = [&] {
      if constexpr (has_weight) {
        return block.gather(w, y);
      } else {
        return block.each_row([](int) { return 1.0f; });
      }
    }();
    const auto factors = [&](int row) {
      return row_factors(total.maximum[row] + tile::log(total.sum[row]), x_label[row], w_label[row], weighted_x[row],
                         all, machine.columns(), l.smoothing, l.lse_square_scale);
    };
    block.store_column(l.losses,
                       block.each_row([&](int row) { return tile::select(kept_row(row), factors(row).loss, 0.0f); }));
    if constexpr (return_z_loss) {
      block.store_column(
          l.z_losses, block.each_row([&](int row) { return tile::select(kept_row(row), factors(row).z_loss, 0.0f); }));
    }
    if constexpr (return_accuracy || return_prediction) {
      const auto largest = block.first_column_of(total.maximum, [&](auto e) { return value(again, e); });
      if constexpr (return_accuracy) {
        block.store_column(
            l.hits, block.each_row([&](int row) { return kept_row(row) && largest[row] == y[row] ? 1.0f : 0.0f; }));
      }
      if constexpr (return_prediction) {
        block.store_indices(l.predictions,
                            block.each_index([&](int row) { return kept_row(row) ? largest[row] : std::int64_t(-1); }));
      }
    }
    if constexpr (!has_gradient) return;
    const auto along = block.each_row([&](int row) { return above[row] * factors(row).along / total.sum[row]; });
    const auto level = block.each_row([&](int row) { return above[row] * factors(row).level; });
    const auto at = block.each_row([&](int row) { return above[row] * factors(row).at_label; });
    const auto present = block.each_row([&](int row) { return kept_row(row) ? 1.0f : 0.0f; });
    block.map(
        [&](auto e) {
          const auto t = squashed(again, e);
          const auto share = [&] {
            if constexpr (has_softcap) return tile::exp_of_difference(t * softcap, total.maximum[e]);
            return tile::exp_of_difference(t, total.maximum[e]);
          }();
          auto gradient = tile::subtract_at(share * along[e], y, e, at[e]);
          if constexpr (has_smoothing && has_weight) gradient = gradient - w[e] * level[e];
          if constexpr (has_smoothing && !has_weight) gradient = gradient - level[e];
          if constexpr (has_softcap) gradient = gradient * (1.0f - t * t);
          return tile::select(present[e] != 0.0f, gradient, 0.0f);
        },
        block.rows_of(a.logits));
  });
}

// output[0] = the sum of a value of each row; divided by the number of rows that are not ignored where there are such
// totals.
TILE_FN void reduce(tile::Machine& machine, float* output, const float* values, const float* totals,
                    std::int64_t rows) {
  const auto tokens = machine.one_row(rows);
  const auto v = tokens.load(values, rows);
  const auto sum = tokens.sum([&](auto e) { return v[e]; });
  const float kept = totals == nullptr ? 1.0f : machine.scalar(totals);
  tokens.store_column(output, tokens.each_row([&](int row) { return sum[row] / (kept == 0.0f ? 1.0f : kept); }));
}

// x multiplied in place by one number, or by one for each row. Nothing is done for the number 1: the last operation of a
// model, whose own gradient is 1, costs no traffic.
TILE_FN void scale(tile::RowMachine& machine, tile::Matrix<T> x, const float* factor) {
  const float number = machine.scalar(factor);
  if (number == 1.0f) return;
  machine.for_rows([&](auto block) {
    const auto values = block.load(x);
    block.map([&](auto e) { return values[e] * number; }, block.rows_of(x));
  });
}
TILE_FN void scale_rows(tile::RowMachine& machine, tile::Matrix<T> x, const float* factors) {
  machine.for_rows([&](auto block) {
    const auto values = block.load(x);
    const auto f = block.load_column(factors);
    block.map([&](auto e) { return values[e] * f[e]; }, block.rows_of(x));
  });
}

}  // namespace cross_entropy

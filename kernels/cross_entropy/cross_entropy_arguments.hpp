// The arguments of the programs in cross_entropy_rows.hpp and cross_entropy_eager_rows.hpp that have many, for the host and the
// programs. Pointers to what the options leave out are null.
#pragma once

#include "kernels/tile/arguments.hpp"

namespace cross_entropy {

// What makes a loss of a row of logits, and where losses, z, hits (1 where the label is predicted) and predictions (-1 for ignored
// rows) of the rows go.
template <template <class> class Slot, class T>
struct LossArguments {
  Slot<const std::int64_t*> target;
  Slot<const T*> weight;
  Slot<const float*> totals;
  Slot<float*> losses, z_losses, hits;
  Slot<std::int64_t*> predictions;
  Slot<std::int64_t> ignore_index;
  alignas(8) Slot<float> smoothing, lse_square_scale, softcap;
};

// Logits that become their gradients, multiplied by `upstream`, the gradients of the rows' losses.
template <template <class> class Slot, class T>
struct ForwardArguments {
  tile::MatrixOf<Slot, T> logits;
  Slot<const T*> bias;
  Slot<const float*> upstream;
  LossArguments<Slot, T> loss;
};

// In an unfused framework: logits whose lse and weighted sums are known, and where the factors of their gradients go.
template <template <class> class Slot, class T>
struct RowLossArguments {
  tile::MatrixOf<Slot, const float> logits;
  Slot<const float*> lse, weighted_x;
  Slot<float*> along, level, at_label;
  LossArguments<Slot, T> loss;
};

}  // namespace cross_entropy

// What outlives a row on CUDA: sums over the rows of a program, and the destinations of a map.
#pragma once

#include "kernels/tile/cuda_operands.hpp"

namespace tile {

// fp32 sums over the rows of a program, one for each column: in registers, written when the accumulator goes out of scope;
// of a chunked row in memory.
class Accumulator {
 public:
  TILE_FN Accumulator(float* memory, std::int64_t columns, bool aligned)
      : memory_(memory), columns_(columns), aligned_(aligned) {
#pragma unroll
    for (int u = 0; u < vectors; ++u) {
      if constexpr (!chunked) sums_[u] = Values::broadcast(0.0f);
    }
    if constexpr (chunked) {
      if (group() == 0) {
        for (std::int64_t c = lane() * lanes; c < columns; c += row_threads * lanes) put(c, Values::broadcast(0.0f));
      }
    }
  }
  Accumulator(const Accumulator&) = delete;
  Accumulator& operator=(const Accumulator&) = delete;
  TILE_FN ~Accumulator() {
    if constexpr (chunked) return;
    if constexpr (block_row == 1) {
#pragma unroll
      for (int u = 0; u < vectors; ++u) {
        const std::int64_t c = (u * row_threads + lane()) * lanes;
        if (c < columns_) put(c, sums_[u]);
      }
    } else if (columns_ > 0) {
      join_rows();
    }
  }

  template <bool Aligned>
  TILE_FN void add(Element<Aligned> e, Values v) const {
    if constexpr (!chunked) {
#pragma unroll
      for (int j = 0; j < lanes; ++j) sums_[e.unit].v[j] += v.v[j];
    } else {
      static_assert(!chunked || block_row == 1, "chunked rows add to sums in memory, one row at a time");
      if constexpr (Aligned) {
        Values sum = widen<float>(load_vector<float>(memory_ + e.column));
        store_vector<float>(memory_ + e.column, narrow<float>(added(sum, v)));
      } else {
        Values sum = widen<float>(load_elements<float>(memory_ + e.column, e.count));
        store_elements<float>(memory_ + e.column, narrow<float>(added(sum, v)), e.count);
      }
    }
  }

 private:
  static TILE_FN Values added(Values a, Values b) {
#pragma unroll
    for (int j = 0; j < lanes; ++j) a.v[j] += b.v[j];
    return a;
  }
  TILE_FN void put(std::int64_t column, Values v) const {
    if (whole && aligned_) {
      store_vector<float>(memory_ + column, narrow<float>(v));
    } else {
      const std::int64_t left = columns_ - column;
      store_elements<float>(memory_ + column, narrow<float>(v), left < lanes ? int(left) : lanes);
    }
  }
  // The groups' sums meet in shared memory.
  TILE_FN void join_rows() const {
    constexpr int capacity = row_threads * vectors * lanes;
    float* all = reinterpret_cast<float*>(dynamic_shared());
    __syncthreads();
#pragma unroll
    for (int u = 0; u < vectors; ++u) {
      float* to = all + group() * capacity + (u * row_threads + lane()) * lanes;
#pragma unroll
      for (int j = 0; j < lanes; j += 4) {
        *reinterpret_cast<float4*>(to + j) =
            make_float4(sums_[u].v[j], sums_[u].v[j + 1], sums_[u].v[j + 2], sums_[u].v[j + 3]);
      }
    }
    __syncthreads();
    for (int c = threadIdx.x; c < columns_; c += threads) {
      float sum = 0;
#pragma unroll
      for (int g = 0; g < block_row; ++g) sum += all[g * capacity + c];
      memory_[c] = sum;
    }
  }

  float* memory_;
  std::int64_t columns_;
  bool aligned_;
  mutable Values sums_[chunked ? 1 : vectors];
};

// One sum over everything a program visits: of what this thread visits.
struct Total {
  double value;
};

// Destination of a map: this thread's row of a matrix.
template <class T, bool Aligned>
struct StoreRows {
  T* row;
  TILE_FN void commit(Element<Aligned> e, Values v) const {
    const Raw<T> raw = narrow<T>(v);
    if constexpr (Aligned)
      store_vector<T>(row + e.column, raw);
    else
      store_elements<T>(row + e.column, raw, e.count);
  }
};

// Destination of a map: added to an accumulator.
struct AddRows {
  const Accumulator* accumulator;
  template <bool Aligned>
  TILE_FN void commit(Element<Aligned> e, Values v) const {
    accumulator->add(e, v);
  }
};

// Destination of a map: added to a program's total.
struct AddTotal {
  Total* total;
  template <bool Aligned>
  TILE_FN void commit(Element<Aligned> e, Values v) const {
    total->value += horizontal_sum(first_lanes(v, e.count));
  }
};

}  // namespace tile

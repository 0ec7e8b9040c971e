// A row of a CUDA block's work: what its threads hold of it, the reductions over it and the stores of it.
//
// BLOCK_ROW rows are worked on at a time, each by `row_threads` threads. A thread holds VECTORS vectors of its row in
// registers; a row longer than all of them (FIT_CHUNKED) is read in chunks where it is used, the second time from a cache.
// `Aligned`: every vector of the row lies whole at a multiple of 16 bytes; otherwise elements are moved one by one. Threads of
// rows beyond the last one take part in every barrier and touch no memory.
#pragma once

#include "kernels/tile/cuda_stream.hpp"

namespace tile {

// `lanes` consecutive columns of this thread's row, of which `count` exist. `unit` counts the thread's vectors.
template <bool Aligned>
struct Element {
  std::int64_t column;
  int unit, count;
};

// Rows of a matrix: in registers, or read where they are used.
template <class T, bool Aligned>
struct Tile {
  static constexpr bool in_registers = Aligned && !chunked;
  const T* row;
  Raw<T> raw[in_registers ? vectors : 1];

  TILE_FN Values operator[](Element<Aligned> e) const {
    if constexpr (in_registers) return widen<T>(raw[e.unit]);
    if constexpr (Aligned) return widen<T>(load_vector<T>(row + e.column));
    return widen<T>(load_elements<T>(row + e.column, e.count));
  }
};

// One row that all rows of a matrix share: in registers from the start where it is given its length.
template <class T, bool Held>
struct Row {
  const T* data;
  Raw<T> raw[Held ? vectors : 1];

  TILE_FN Values operator[](Element<true> e) const {
    if constexpr (Held) return widen<T>(raw[e.unit]);
    return widen<T>(load_vector<T>(data + e.column));
  }
  TILE_FN Values operator[](Element<false> e) const { return widen<T>(load_elements<T>(data + e.column, e.count)); }
};

// One value for each row, of which a thread has its own.
struct Column {
  float value;
  template <class E>
  TILE_FN float operator[](E) const {
    return value;
  }
};

// What a map writes at one element, for a map with several destinations.
template <int K>
struct Results {
  Values of[K];
};
TILE_FN Results<1> as_results(Values v) { return {{v}}; }
template <int K>
TILE_FN Results<K> as_results(Results<K> r) {
  return r;
}
template <class... P>
TILE_FN Results<int(sizeof...(P))> results(P... p) {
  return {{p...}};
}

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

// Destination of a map: this thread's row of a matrix.
template <class T, bool Aligned>
struct StoreRows {
  T* row;
  TILE_FN void commit(Element<Aligned> e, Values v) const {
    const Raw<T> raw = narrow<T>(v);
    if constexpr (Aligned) store_vector<T>(row + e.column, raw);
    else store_elements<T>(row + e.column, raw, e.count);
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

// The sum of `value` over the threads of this row, in each of them; `parity` alternates between calls, so that one barrier
// is enough: a buffer is written again only after everyone has passed the barrier of the other one.
TILE_FN float group_sum(float value, int& parity) {
#pragma unroll
  for (int offset = (row_threads < 32 ? row_threads : 32) / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(~0u, value, offset);
  }
  if constexpr (row_threads > 32) {
    __shared__ __align__(16) float warp_sums[2][NUM_WARPS];
    constexpr int group_warps = row_threads / 32;
    if (threadIdx.x % 32 == 0) warp_sums[parity][threadIdx.x / 32] = value;
    group_barrier();
    const float* sums = &warp_sums[parity][group() * group_warps];
    value = 0;
#pragma unroll
    for (int w = 0; w < group_warps; ++w) value += sums[w];
    parity ^= 1;
  }
  return value;
}

template <bool Aligned>
class Block {
 public:
  TILE_FN Block(std::int64_t row, bool active, std::int64_t columns, Stream& stream, int& parity)
      : row_(row), columns_(columns), active_(active), stream_(&stream), parity_(&parity) {}

  TILE_FN std::int64_t columns() const { return columns_; }

  // The block's rows of a matrix whose rows are `stride` elements apart.
  template <class T>
  TILE_FN Tile<T, Aligned> load(const T* matrix, std::int64_t stride) const {
    Tile<T, Aligned> tile;
    tile.row = matrix + place() * stride;
    if constexpr (Tile<T, Aligned>::in_registers) {
      if (stream_->takes_next<T>()) {
        stream_->read(matrix, stride, columns_, tile.raw);
        return tile;
      }
#pragma unroll
      for (int u = 0; u < vectors; ++u) {
        const Element<Aligned> e = element(0, u);
        if (has_all() || e.count > 0) tile.raw[u] = load_vector<T>(tile.row + e.column);
        else tile.raw[u] = Raw<T>{};
      }
    }
    return tile;
  }
  // A tile that was read once by this block, as it is on the chip.
  template <class T>
  TILE_FN const Tile<T, Aligned>& keep(const Tile<T, Aligned>& tile) const {
    return tile;
  }
  // Rows of a matrix as destination of a map.
  template <class T>
  TILE_FN StoreRows<T, Aligned> rows_of(T* matrix, std::int64_t stride) const {
    return {matrix + place() * stride};
  }
  TILE_FN AddRows sum_into(const Accumulator& accumulator) const { return {&accumulator}; }

  template <class T>
  TILE_FN Column load_column(const T* values) const {
    return {active_ ? to_float(values[row_]) : 0.0f};
  }
  template <class T>
  TILE_FN void store_column(T* values, const Column& column) const {
    if (active_ && lane() == 0) values[row_] = from_float<T>(column.value);
  }
  // f(row) for each row.
  template <class F>
  TILE_FN Column each_row(F f) const {
    return {f(0)};
  }

  // The sum of f over the columns, in fp32, for each row: `lanes` partial sums in each thread.
  template <class F>
  TILE_FN Column sum(F f) const {
    Values part = Values::broadcast(0.0f);
    each_element([&](Element<Aligned> e) {
      Values v = f(e);
      if constexpr (!Aligned) v = first_lanes(v, e.count);
#pragma unroll
      for (int j = 0; j < lanes; ++j) part.v[j] += v.v[j];
    });
    const Column total = {group_sum(horizontal_sum(part), *parity_)};
    if constexpr (row_threads <= 32) group_barrier();
    stream_->release();
    return total;
  }

  // destination_k(element) = the k-th result of f(element), for every element of the block. f has read an element before it
  // is written, so a destination may be a tile that f reads.
  template <class F, class... To>
  TILE_FN void map(F f, To... to) const {
    if constexpr (chunked) {
      std::int64_t base = 0;
      // All of a chunk's loads before its first store, which the compiler could not move them past.
      for (; active_ && base + chunk <= columns_; base += chunk) {
        Results<int(sizeof...(to))> values[vectors];
#pragma unroll
        for (int u = 0; u < vectors; ++u) values[u] = as_results(f(whole_element(base, u)));
#pragma unroll
        for (int u = 0; u < vectors; ++u) commit(whole_element(base, u), values[u], to...);
      }
      if (active_ && base < columns_) {
#pragma unroll
        for (int u = 0; u < vectors; ++u) {
          const Element<Aligned> e = element(base, u);
          if (e.count > 0) commit(e, as_results(f(e)), to...);
        }
      }
    } else {
      each_element([&](Element<Aligned> e) { commit(e, as_results(f(e)), to...); });
    }
  }

 private:
  static constexpr std::int64_t chunk = std::int64_t(row_threads) * vectors * lanes;

  // Every thread has `vectors` whole vectors.
  static constexpr TILE_FN bool has_all() { return exact && block_row == 1; }

  // Under the ablation "no memory" the programs work on the same rows, which stay in a cache.
  TILE_FN std::int64_t place() const { return no_memory ? row_ % 128 : row_; }

  TILE_FN Element<Aligned> whole_element(std::int64_t base, int u) const {
    return {base + (u * row_threads + lane()) * lanes, u, lanes};
  }
  TILE_FN Element<Aligned> element(std::int64_t base, int u) const {
    Element<Aligned> e = whole_element(base, u);
    const std::int64_t left = columns_ - e.column;
    if constexpr (Aligned) e.count = left > 0 ? lanes : 0;
    else e.count = left < 0 ? 0 : left < lanes ? int(left) : lanes;
    if (block_row > 1 && !active_) e.count = 0;
    return e;
  }

  template <class F>
  TILE_FN void each_element(F f) const {
    if constexpr (has_all() && Aligned) {
#pragma unroll
      for (int u = 0; u < vectors; ++u) f(whole_element(0, u));
    } else {
      std::int64_t base = 0;
      if constexpr (chunked) {
        for (; active_ && base + chunk <= columns_; base += chunk) {
#pragma unroll
          for (int u = 0; u < vectors; ++u) f(whole_element(base, u));
        }
      }
#pragma unroll
      for (int u = 0; u < vectors; ++u) {
        const Element<Aligned> e = element(base, u);
        if (e.count > 0) f(e);
      }
    }
  }

  template <int K, class... To>
  TILE_FN void commit(Element<Aligned> e, const Results<K>& values, To... to) const {
    int k = 0;
    (to.commit(e, values.of[k++]), ...);
  }

  std::int64_t row_, columns_;
  bool active_;
  Stream* stream_;
  int* parity_;
};

}  // namespace tile

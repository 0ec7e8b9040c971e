// A row of a CUDA block's work: what its threads hold of it, the reductions over it and the stores of it.
//
// BLOCK_ROW rows are worked on at a time, each by `row_threads` threads. A thread holds VECTORS vectors of its row in
// registers; a row longer than all of them (FIT_CHUNKED) is read in chunks where it is used: from the ring that holds it
// (cuda_ring.hpp), or from memory, the second time from a cache.
// `Aligned`: every vector of the row lies whole at a multiple of 16 bytes; otherwise elements are moved one by one. Where rows
// share a warp, the threads of rows beyond the last one take part in every barrier and touch no memory; otherwise there are none.
#pragma once

#include "kernels/tile/cuda_accumulator.hpp"
#include "kernels/tile/cuda_stream.hpp"

namespace tile {

// `InChunks`: the row may be longer than what its threads hold.
template <bool Aligned, bool InChunks = chunked>
class Block {
 public:
  // `active`: the row exists. `stores`: this group of threads writes the row's results; others may reduce it for themselves.
  TILE_FN Block(std::int64_t row, bool active, std::int64_t columns, Stream& stream, int& parity, bool stores = true)
      : row_(row), columns_(columns), active_(active), stores_(stores), stream_(&stream), parity_(&parity) {}

  TILE_FN std::int64_t columns() const { return columns_; }

  // The number of a row of the block among all rows.
  TILE_FN std::int64_t row(int) const { return row_; }

  // The block's rows of a matrix whose rows are `stride` elements apart.
  template <class T>
  TILE_FN Tile<T, Aligned> load(const T* matrix, std::int64_t stride) const {
    Tile<T, Aligned> tile;
    tile.row = matrix + place() * stride;
    if constexpr (Aligned && ring_slots > 0 && sizeof(T) == sizeof(ELEMENT)) {
      if (stream_->ring.load()) tile.ring = &stream_->ring;
    }
    if constexpr (Tile<T, Aligned>::in_registers) {
      if (stream_->takes_next<T>()) {
        stream_->read(matrix, stride, columns_, tile.raw);
        return tile;
      }
    }
    read(tile, matrix != nullptr);
    return tile;
  }
  // The same where the block's row is row place(row) of the matrix.
  template <class T, class Place>
  TILE_FN Tile<T, Aligned> load(const T* matrix, std::int64_t stride, Place where) const {
    Tile<T, Aligned> tile;
    tile.row = active_ ? matrix + where(place()) * stride : nullptr;
    read(tile, matrix != nullptr);
    return tile;
  }
  template <class T, class... Place>
  TILE_FN auto load(Matrix<T> matrix, Place... where) const {
    return load(matrix.data, matrix.stride, where...);
  }
  // A tile that was read once by this block, as it is on the chip.
  template <class T>
  TILE_FN const Tile<T, Aligned>& keep(const Tile<T, Aligned>& tile) const {
    return tile;
  }
  // Rows of a matrix as destination of a map.
  template <class T>
  TILE_FN StoreRows<T, Aligned> rows_of(T* matrix, std::int64_t stride) const {
    T* row = matrix + place() * stride;
    if constexpr (!InChunks) return {row};
    // The compiler would multiply again for each chunk rather than keep the address.
    std::uint64_t address = __cvta_generic_to_global(row);
    asm("" : "+l"(address));
    return {static_cast<T*>(__cvta_global_to_generic(address))};
  }
  template <class T, class Place>
  TILE_FN StoreRows<T, Aligned> rows_of(T* matrix, std::int64_t stride, Place where) const {
    return {active_ ? matrix + where(place()) * stride : nullptr};
  }
  template <class T, class... Place>
  TILE_FN auto rows_of(Matrix<T> matrix, Place... where) const {
    return rows_of(matrix.data, matrix.stride, where...);
  }
  TILE_FN AddTotal sum_into(Total& total) const { return {&total}; }
  TILE_FN AddRows sum_into(const Accumulator& accumulator) const { return {&accumulator}; }

  template <class T>
  TILE_FN Column load_column(const T* values) const {
    if constexpr (Aligned && stages > 0 && sizeof(T) == sizeof(float)) return {stream_->next_column(values)};
    return {active_ ? to_float(values[row_]) : 0.0f};
  }
  template <class T>
  TILE_FN void store_column(T* values, const Column& column) const {
    if (active_ && stores_ && lane() == 0) values[row_] = from_float<T>(column.value);
  }
  // f(row) for each row.
  template <class F>
  TILE_FN Column each_row(F f) const {
    return {f(0)};
  }

  TILE_FN Indices load_indices(const std::int64_t* values) const { return {active_ ? values[row_] : -1}; }
  TILE_FN void store_indices(std::int64_t* values, const Indices& indices) const {
    if (active_ && stores_ && lane() == 0) values[row_] = indices.value;
  }
  template <class F>
  TILE_FN Indices each_index(F f) const {
    return {f(0)};
  }
  // The facts of the block's rows; of a row in the ring it is known already.
  template <class Coming>
  TILE_FN Indices facts(const Coming& coming) const {
    if constexpr (may_be_in_ring) return {stream_->ring.fact()};
    return {active_ ? coming.fact(row_) : -1};
  }
  // Whether f(row) holds for any row that shares barriers with this one: a condition to branch on.
  template <class F>
  TILE_FN bool any(F f) const {
    if constexpr (row_threads < 32) return __any_sync(~0u, active_ && f(0));
    return f(0);
  }
  // The element of each row, or of a shared row, at the row's number; a NaN where there is no such column. A reduction over the
  // row must stand between it and a map that overwrites the row: its barrier is what the threads wait at.
  template <class T>
  TILE_FN Gathered<T> gather(const Tile<T, Aligned>& tile, const Indices& at) const {
    Gathered<T> element = {active_ && is_column(at), T{}};
    if (element.exists) element.raw = tile.row[at.value];
    if constexpr (row_threads <= 32) group_barrier();  // reductions have none
    return element;
  }
  template <class T, bool Held>
  TILE_FN Gathered<T> gather(const Row<T, Held>& row, const Indices& at) const {
    Gathered<T> element = {is_column(at), T{}};
    if (element.exists) element.raw = row.data[at.value];
    return element;
  }

  // The sum of f over the columns, in fp32, for each row: `lanes` partial sums in each thread.
  template <class F>
  TILE_FN Column sum(F f) const {
    return sums(f).of[0];
  }
  // rest(block, sum(f)).
  template <class F, class Rest>
  TILE_FN void sum_then(F f, Rest rest) const {
    rest(*this, sum(f));
  }
  // Several sums in one reading: f's results.
  template <class F>
  TILE_FN auto sums(F f) const {
    constexpr int K = sizeof(as_results(f(Element<Aligned>{}))) / sizeof(Values);
    Results<K> part;
#pragma unroll
    for (int k = 0; k < K; ++k) part.of[k] = Values::broadcast(-0.0f);  // x + -0 is x, whatever x is: no instruction
    each_element([&](Element<Aligned> e) {
      const Results<K> values = as_results(f(e));
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const Values v = Aligned ? values.of[k] : first_lanes(values.of[k], e.count);
#pragma unroll
        for (int j = 0; j < lanes; ++j) part.of[k].v[j] += v.v[j];
      }
    });
    Sums<K> of_thread;
#pragma unroll
    for (int k = 0; k < K; ++k) of_thread.of[k] = horizontal_sum(part.of[k]);
    const Sums<K> of_row = group_sum(of_thread, *parity_);
    operands_were_read();
    Columns<K> total;
#pragma unroll
    for (int k = 0; k < K; ++k) total.of[k] = {of_row.of[k]};
    return total;
  }

  // The largest f over the columns, for each row; -infinity where there are none. A NaN may be passed over.
  template <class F>
  TILE_FN Column max(F f) const {
    Values part = Values::broadcast(-infinity());
    each_element([&](Element<Aligned> e) { keep_larger(part, f(e), e); });
    const Column largest = {group_maximum(horizontal_maximum(part), *parity_)};
    operands_were_read();
    return largest;
  }

  // Both in one reading of the row's memory: a row in registers is visited twice; of one in chunks each thread keeps the sum
  // of what it has seen, scaled when a larger value comes.
  template <class F>
  TILE_FN ExpSum exp_sum(F f) const {
    if constexpr (!InChunks) {
      const Column largest = max(f);
      const float shift = finite_shift(largest.value);
      return {largest, sum([&](auto e) { return exp_of_difference(f(e), shift); })};
    } else {
      float largest = -infinity(), sum = 0;
      if constexpr (may_be_in_ring) {
        if (stream_->ring.is_loaded()) {
          each_chunk_in_ring(false, [&](int c, auto whole) {
            Values v[vectors];
            each_vector_of(
                c, whole, [&](int u, Element<Aligned> e) { v[u] = f(e); },
                [&](int u) { v[u] = Values::broadcast(-infinity()); });
            add_exponentials(v, largest, sum);
          });
          group_exp_sum(largest, sum, *parity_);
          return {{largest}, {sum}};
        }
      }
      each_element([&](Element<Aligned> e) {
        const Values v[1] = {first_lanes(f(e), e.count, -infinity())};
        add_exponentials(v, largest, sum);
      });
      group_exp_sum(largest, sum, *parity_);
      return {{largest}, {sum}};
    }
  }

  // The smallest column where f is `value`, for each row; -1 where it is nowhere. At most 2^31 columns.
  template <class F>
  TILE_FN Indices first_column_of(Column value, F f) const {
    int first = 0x7fffffff;
    each_element([&](Element<Aligned> e) {
      const Values v = f(e);
#pragma unroll
      for (int j = lanes - 1; j >= 0; --j) {
        const int column = int(e.column) + j;
        if (j < e.count && v.v[j] == value.value && column < first) first = column;
      }
    });
    first = group_reduce(first, *parity_, [](int a, int b) { return a < b ? a : b; });
    return {first == 0x7fffffff ? std::int64_t(-1) : std::int64_t(first)};
  }

  // destination_k(element) = the k-th result of f(element), for every element of the block. f has read an element before it
  // is written, so a destination may be a tile that f reads.
  template <class F, class... To>
  TILE_FN void map(F f, To... to) const {
    if (!stores_) return;
    if constexpr (may_be_in_ring) {
      if (stream_->ring.is_loaded())
        return each_element_in_ring(true, [&](Element<Aligned> e) { commit(e, as_results(f(e)), to...); });
    }
    if constexpr (InChunks) {
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
  static constexpr bool may_be_in_ring = Aligned && InChunks && ring_slots > 0;

  static TILE_FN void keep_larger(Values& part, Values v, Element<Aligned> e) {
    if constexpr (!Aligned) v = first_lanes(v, e.count, -infinity());
#pragma unroll
    for (int j = 0; j < lanes; ++j) part.v[j] = larger(v.v[j], part.v[j]);
  }

  TILE_FN bool is_column(const Indices& at) const { return at.value >= 0 && at.value < columns_; }

  // The vectors of a tile that is held in registers.
  template <class T>
  TILE_FN void read(Tile<T, Aligned>& tile, bool exists) const {
    if constexpr (Tile<T, Aligned>::in_registers) {
#pragma unroll
      for (int u = 0; u < vectors; ++u) {
        const Element<Aligned> e = element(0, u);
        if (exists && (has_all() || e.count > 0))
          tile.raw[u] = load_vector<T>(tile.row + e.column);
        else
          tile.raw[u] = Raw<T>{};
      }
    }
  }

  // After a reduction: every thread of the row has its operands.
  TILE_FN void operands_were_read() const {
    if constexpr (row_threads <= 32) group_barrier();
    stream_->release();
  }

  // Every thread has `vectors` whole vectors, and the compiler may know it.
  static constexpr TILE_FN bool has_all() { return exact && present_rows_alone; }

  // Under the ablation "no memory" the programs work on the same rows, which stay in a cache.
  TILE_FN std::int64_t place() const { return no_memory ? row_ % 128 : row_; }

  TILE_FN Element<Aligned> whole_element(std::int64_t base, int u) const {
    return {base + (u * row_threads + lane()) * lanes, u, lanes};
  }
  TILE_FN Element<Aligned> element(std::int64_t base, int u) const {
    Element<Aligned> e = whole_element(base, u);
    const std::int64_t left = columns_ - e.column;
    if constexpr (Aligned)
      e.count = left > 0 ? lanes : 0;
    else
      e.count = left < 0 ? 0 : left < lanes ? int(left) : lanes;
    if (block_row > 1 && !active_) e.count = 0;
    return e;
  }

  template <class F>
  TILE_FN void each_element(F f) const {
    if constexpr (has_all() && Aligned) {
#pragma unroll
      for (int u = 0; u < vectors; ++u) f(whole_element(0, u));
    } else {
      if constexpr (may_be_in_ring) {
        if (stream_->ring.is_loaded()) return each_element_in_ring(false, f);
      }
      std::int64_t base = 0;
      if constexpr (InChunks) {
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

  // f(c, whole) for each chunk c of a row in the ring, whose vectors are at hand then; whole.value: not the last one. The chunks
  // that registers keep come one after another in the text, because registers have no index; the others in a loop.
  template <class F>
  TILE_FN void each_chunk_in_ring(bool last, F f) const {
    RowRing& ring = stream_->ring;
    ring.begin_reading();
#pragma unroll
    for (int c = 0; c < RowRing::kept_chunks; ++c) {
      ring.fetch<true>(c, last);
      f(c, Whole<true>{});
    }
#pragma unroll 1
    for (int c = RowRing::kept_chunks; c < RowRing::chunks - 1; ++c) {
      ring.fetch<true>(c, last);
      f(c, Whole<true>{});
    }
    ring.fetch<false>(RowRing::chunks - 1, last);
    f(RowRing::chunks - 1, Whole<false>{});
    ring.end_reading(last);
  }
  template <bool Value>
  struct Whole {
    static constexpr bool value = Value;
  };
  // A row in the ring has less than 2^31 columns.
  TILE_FN Element<Aligned> ring_element(int c, int u) const {
    return {std::uint32_t(((c * vectors + u) * row_threads + lane()) * lanes), u, lanes};
  }
  // f(u, element) for each vector of the chunk, otherwise(u) where the row has no such one.
  template <class W, class F, class Otherwise>
  TILE_FN void each_vector_of(int c, W, F f, Otherwise otherwise) const {
#pragma unroll
    for (int u = 0; u < vectors; ++u) {
      if (W::value || stream_->ring.has(c, u))
        f(u, ring_element(c, u));
      else
        otherwise(u);
    }
  }
  template <class F>
  TILE_FN void each_element_in_ring(bool last, F f) const {
    each_chunk_in_ring(last, [&](int c, auto whole) {
      each_vector_of(
          c, whole, [&](int, Element<Aligned> e) { f(e); }, [](int) {});
    });
  }

  // sum = sum e^(the largest value so far - the new one) + the sum of e^(v - the new one).
  template <int K>
  static TILE_FN void add_exponentials(const Values (&v)[K], float& largest, float& sum) {
    float now = horizontal_maximum(v[0]);
#pragma unroll
    for (int k = 1; k < K; ++k) now = larger(now, horizontal_maximum(v[k]));
    now = larger(now, largest);
    if (now > largest) sum *= exp(largest - now);
    largest = now;
    const float shift = finite_shift(now);
#pragma unroll
    for (int k = 0; k < K; ++k) sum += horizontal_sum(exp_of_difference(v[k], shift));
  }

  template <int K, class... To>
  TILE_FN void commit(Element<Aligned> e, const Results<K>& values, To... to) const {
    int k = 0;
    (to.commit(e, values.of[k++]), ...);
  }

  std::int64_t row_, columns_;
  bool active_, stores_;
  Stream* stream_;
  int* parity_;
};

}  // namespace tile

// What a tile program works on where a CPU is underneath: a tile is rows in memory, an element index is a vector of
// consecutive columns of one row.
//
// A block is BLOCK_ROW rows that are worked on together, so that whatever is shared between rows (weights, accumulators
// over rows) is read once for all of them; rows left over at the end of a program form blocks of one row. A row's columns are
// worked on in steps of UNROLL vectors; what is left of them goes through buffers, vector by vector.
#pragma once

#include "kernels/tile/arguments.hpp"
#include "kernels/tile/element_types.hpp"
#include "kernels/tile/results.hpp"

namespace tile {

// A number of elements to divide a sum by: the mean of none is zero.
TILE_FN float count(std::int64_t elements) { return elements > 0 ? float(elements) : 1.0f; }

// f(0), ..., f(N - 1), inlined, so that the argument is a constant in each.
template <int N, class F>
TILE_FN void repeat(F f) {
  if constexpr (N > 1) repeat<N - 1>(f);
  if constexpr (N > 0) f(N - 1);
}

// `lanes` consecutive columns of a block's row. `unit` counts the vectors of an unrolled step.
struct Element {
  std::int64_t column;
  int row, unit;
};
// The first `count` of them, at most `lanes`.
struct PartialElement {
  std::int64_t column;
  int row, count;
};

// The same number in every element.
TILE_FN Values constant(float number) { return Values::broadcast(number); }

// Rows of a matrix. `First`: memory is read here for the first time, so it may be prefetched.
template <class T, int R, bool First>
struct Tile {
  const T* rows[R];
  std::int64_t next_block;  // bytes to the same row of the next block
  std::int64_t half_row;    // bytes
  std::int64_t ahead;       // bytes to what is prefetched where the next rows are read beside these

  TILE_FN Values operator[](Element e) const {
    const T* from = rows[e.row] + e.column;
    if constexpr (!no_memory) prefetch_from(reinterpret_cast<const char*>(from), e);
    return load<T, lanes>(from);
  }
  TILE_FN Values operator[](PartialElement e) const { return load_partial<T, lanes>(rows[e.row] + e.column, e.count); }

 private:
  // The element's index is a constant in an unrolled step, so a line is asked for once.
  TILE_FN void prefetch_from(const char* from, Element e) const {
    const std::int64_t place = e.unit * lanes * std::int64_t(sizeof(T));
    if constexpr (First && prefetch_bytes > 0) {
      if (place % 64 == 0) __builtin_prefetch(from + prefetch_bytes);
    }
    if constexpr (First && prefetch_rows == rows_beside) {
      if (place % 64 == 0) __builtin_prefetch(from + ahead, 0, 2);
    }
    // Half of the next block while this one is read first, half while it is read again from the chip: memory is never idle.
    if constexpr (prefetch_rows == rows_by_halves) {
      const char* half = from - e.column * std::int64_t(sizeof(T)) / 2 + (First ? 0 : half_row);
      if (place % 128 == 0) __builtin_prefetch(half + next_block, 0, 2);
    }
  }
};

// One row that all rows of a matrix share.
template <class T>
struct Row {
  const T* data;
  TILE_FN Values operator[](Element e) const { return load<T, lanes>(data + e.column); }
  TILE_FN Values operator[](PartialElement e) const { return load_partial<T, lanes>(data + e.column, e.count); }
};

// One value for each row of a block.
template <int R>
struct Column {
  float values[R];
  TILE_FN float operator[](Element e) const { return values[e.row]; }
  TILE_FN float operator[](PartialElement e) const { return values[e.row]; }
  TILE_FN float operator[](int row) const { return values[row]; }
};

// An integer for each lane: labels, not yet widened to anything.
struct Numbers {
  std::int64_t lane[lanes];
};
TILE_FN Mask<lanes> operator==(Numbers a, std::int64_t b) {
  Mask<lanes> mask{};
  for (int j = 0; j < lanes; ++j) mask.bits[j] = a.lane[j] == b ? -1 : 0;
  return mask;
}

// A vector of integers.
struct NumberRow {
  const std::int64_t* data;
  TILE_FN Numbers operator[](Element e) const {
    Numbers numbers;
    __builtin_memcpy(&numbers, data + e.column, sizeof numbers);
    return numbers;
  }
  TILE_FN Numbers operator[](PartialElement e) const {
    Numbers numbers{};
    for (int j = 0; j < e.count; ++j) numbers.lane[j] = data[e.column + j];
    return numbers;
  }
};

// The elements of a vector of `count` at each lane's number; a NaN where there is no such element.
template <class T>
TILE_FN Values gather(Row<T> row, Numbers at, std::int64_t count) {
  Values values;
  for (int j = 0; j < lanes; ++j) {
    const bool inside = at.lane[j] >= 0 && at.lane[j] < count;
    values.v[j] = inside ? to_float(row.data[at.lane[j]]) : not_a_number();
  }
  return values;
}

// One integer for each row of a block: a label, a column.
template <int R>
struct Indices {
  std::int64_t values[R];
  TILE_FN std::int64_t operator[](int row) const { return values[row]; }
  // Where the element's column is its row's number.
  TILE_FN Mask<lanes> marks(Element e) const { return marks(e.row, e.column); }
  TILE_FN Mask<lanes> marks(PartialElement e) const { return marks(e.row, e.column); }

 private:
  TILE_FN Mask<lanes> marks(int row, std::int64_t column) const {
    const std::int64_t ahead = values[row] - column;
    const std::int32_t lane = ahead >= 0 && ahead < lanes ? std::int32_t(ahead) : -1;
    return {lane_numbers<lanes>() == lane};
  }
};

// v less `amount` in the element that is at its row's number.
template <int R, class E>
TILE_FN Values subtract_at(Values v, const Indices<R>& at, E e, float amount) {
  return v - select(at.marks(e), Values::broadcast(amount), 0.0f);
}

// The largest value of each row, and the sum of e^(value - largest).
template <int R>
struct ExpSum {
  Column<R> maximum, sum;
};

// Several sums over the columns, each one value for each row.
template <int R, int K>
struct Columns {
  Column<R> of[K];
};

// One sum over everything a program visits.
struct Total {
  double value;  // of whole rows: each row's part is summed in fp32 before
};

// fp32 sums over rows, one for each column, that live across the blocks of a program.
struct Accumulator {
  float* data;
};

// Destination of a map: rows of a matrix.
template <class T, int R>
struct StoreRows {
  static constexpr bool streams = true;
  T* rows[R];
  char* ring;  // with the ablation "no memory", 16 KiB that stay in the first-level cache; otherwise unused

  TILE_FN T* at(int row, std::int64_t column) const {
    if constexpr (no_memory) return reinterpret_cast<T*>(ring + (column * sizeof(T) & (ring_bytes - 64)));
    return rows[row] + column;
  }
  template <int K>
  TILE_FN void commit(std::int64_t column, const Results<K>* values, int k) const {
    repeat<R>([&](int r) TILE_LAMBDA { commit_row(r, column, values[r], k); });
  }
  template <int K>
  TILE_FN void commit_row(int row, std::int64_t column, const Results<K>& values, int k) const {
    if constexpr (streaming_stores && !no_memory) {
      store_streaming<T, lanes>(at(row, column), values.of[k]);
    } else {
      store<T, lanes>(at(row, column), values.of[k]);
    }
  }
  // U vectors of one row.
  template <int U, int K>
  TILE_FN void commit_vectors(int row, std::int64_t column, const Results<K>* values, int k) const {
    if constexpr (streaming_stores && !no_memory && U % 2 == 0) {
      repeat<U / 2>([&](int u) TILE_LAMBDA {
        store_streaming<T, lanes>(at(row, column + 2 * u * lanes), values[2 * u].of[k], values[2 * u + 1].of[k]);
      });
    } else {
      repeat<U>([&](int u) TILE_LAMBDA { commit_row(row, column + u * lanes, values[u], k); });
    }
  }
  template <int K>
  TILE_FN void commit_partial(std::int64_t column, int count, const Results<K>* values, int k) const {
    repeat<R>([&](int r) TILE_LAMBDA { store_partial<T, lanes>(at(r, column), values[r].of[k], count); });
  }
  // Elements before the first cache line that begins in the first row, so that streaming stores meet their alignment there.
  TILE_FN std::int64_t head() const {
    return std::int64_t(-reinterpret_cast<std::uintptr_t>(rows[0]) % 64 / sizeof(T));
  }
  static constexpr std::int64_t ring_bytes = 16 << 10;
};

// Destination of a map: added to an accumulator, after the block's rows were added to each other.
template <int R>
struct AddRows {
  static constexpr bool streams = false;
  float* data;
  template <int K>
  TILE_FN Values total(const Results<K>* values, int k) const {
    Values sum = values[0].of[k];
    repeat<R - 1>([&](int r) TILE_LAMBDA { sum = sum + values[r + 1].of[k]; });
    return sum;
  }
  template <int K>
  TILE_FN void commit(std::int64_t column, const Results<K>* values, int k) const {
    store<float, lanes>(data + column, load<float, lanes>(data + column) + total(values, k));
  }
  template <int K>
  TILE_FN void commit_partial(std::int64_t column, int count, const Results<K>* values, int k) const {
    const Values sum = load_partial<float, lanes>(data + column, count) + total(values, k);
    store_partial<float, lanes>(data + column, sum, count);
  }
};

// Destination of a map: added to a program's total, row by row.
template <int R>
struct AddTotal {
  static constexpr bool streams = false;
  Total* total;
  mutable Values part = {};
  template <int K>
  TILE_FN void commit(std::int64_t, const Results<K>* values, int k) const {
    repeat<R>([&](int r) TILE_LAMBDA { part = part + values[r].of[k]; });
  }
  template <int K>
  TILE_FN void commit_partial(std::int64_t, int count, const Results<K>* values, int k) const {
    repeat<R>([&](int r) TILE_LAMBDA { part = part + first_lanes(values[r].of[k], count); });
  }
  TILE_FN void finish() const { total->value += horizontal_sum(part); }
};
template <class D>
TILE_FN void finish(const D& destination) {
  if constexpr (requires { destination.finish(); }) destination.finish();
}

// A sum of f over columns, in fp32, for each of R rows, done in one go or a step of U vectors at a time. U * lanes partial
// sums, joined every 1024 steps: a chain of additions is at most 1024 long whatever the row's length.
template <int R, int U, class F>
class RunningSum {
 public:
  TILE_FN RunningSum(std::int64_t first, std::int64_t last, F f) : f_(f), column_(first), last_(last) { begin_chain(); }

  // The next step's columns, where so many are left.
  TILE_FN void advance() {
    if (__builtin_expect(column_ + step <= chain_end_, 1)) {
      add_step();
    } else if (chain_end_ < last_) {
      join();
      begin_chain();
    }
  }

  // All columns that are left.
  TILE_FN Column<R> finish() {
    for (;;) {
      while (column_ + step <= chain_end_) add_step();
      if (chain_end_ == last_) break;
      join();
      begin_chain();
    }
    while (column_ < last_) {
      const int count = last_ - column_ < lanes ? int(last_ - column_) : lanes;
      repeat<R>([&](int r) TILE_LAMBDA {
        part_[r][0] = part_[r][0] + first_lanes(f_(PartialElement{column_, r, count}), count);
      });
      column_ += count;
    }
    join();
    return total_;
  }

 private:
  static constexpr std::int64_t step = U * lanes;

  TILE_FN void begin_chain() {
    const std::int64_t left = last_ - column_;
    chain_end_ = left < 1024 * step ? last_ : column_ + 1024 * step;
    repeat<R>([&](int r) TILE_LAMBDA { repeat<U>([&](int u) TILE_LAMBDA { part_[r][u] = Values{}; }); });
  }
  TILE_FN void add_step() {
    repeat<R>([&](int r) TILE_LAMBDA {
      repeat<U>([&](int u) TILE_LAMBDA { part_[r][u] = part_[r][u] + f_(Element{column_ + u * lanes, r, u}); });
    });
    column_ += step;
  }
  TILE_FN void join() {
    repeat<R>([&](int r) TILE_LAMBDA {
      repeat<U - 1>([&](int u) TILE_LAMBDA { part_[r][0] = part_[r][0] + part_[r][u + 1]; });
      total_.values[r] += horizontal_sum(part_[r][0]);
    });
  }

  F f_;
  std::int64_t column_, last_, chain_end_;
  Values part_[R][U];
  Column<R> total_ = {};
};

// What a block's map has to do besides: nothing.
struct Nothing {
  TILE_FN void advance() const {}
};

// R rows that are worked on together, in steps of U vectors. Each step of a map is followed by one of `Beside`.
template <int R, int U = unroll, class Beside = Nothing>
class Block {
 public:
  TILE_FN Block(std::int64_t first_row, std::int64_t columns, char* ring, Beside* beside = nullptr)
      : first_row_(first_row), columns_(columns), ring_(ring), beside_(beside) {}

  TILE_FN std::int64_t columns() const { return columns_; }

  // The block's rows of a matrix whose rows are `stride` elements apart, not yet read.
  template <class T>
  TILE_FN Tile<T, R, true> load(const T* matrix, std::int64_t stride) const {
    return load(matrix, stride, [](std::int64_t row) TILE_LAMBDA { return row; });
  }
  // The same where the block's row is row place(row) of the matrix.
  template <class T, class Place>
  TILE_FN Tile<T, R, true> load(const T* matrix, std::int64_t stride, Place place) const {
    Tile<T, R, true> tile;
    for (int r = 0; r < R; ++r) tile.rows[r] = matrix + place(first_row_ + r) * stride;
    tile.next_block = R * stride * std::int64_t(sizeof(T));
    tile.half_row = columns_ * std::int64_t(sizeof(T)) / 2;
    tile.ahead = bytes_ahead(tile.next_block);
    return tile;
  }
  template <class T, class... Place>
  TILE_FN auto load(Matrix<T> matrix, Place... place) const {
    return load(matrix.data, matrix.stride, place...);
  }
  // A tile that was read once by this block, as it is on the chip.
  template <class T>
  TILE_FN Tile<T, R, false> keep(const Tile<T, R, true>& tile) const {
    Tile<T, R, false> kept;
    for (int r = 0; r < R; ++r) kept.rows[r] = tile.rows[r];
    kept.next_block = tile.next_block;
    kept.half_row = tile.half_row;
    kept.ahead = tile.ahead;
    return kept;
  }
  // Rows of a matrix as destination of a map.
  template <class T>
  TILE_FN StoreRows<T, R> rows_of(T* matrix, std::int64_t stride) const {
    return rows_of(matrix, stride, [](std::int64_t row) TILE_LAMBDA { return row; });
  }
  template <class T, class Place>
  TILE_FN StoreRows<T, R> rows_of(T* matrix, std::int64_t stride, Place place) const {
    StoreRows<T, R> rows;
    for (int r = 0; r < R; ++r) rows.rows[r] = matrix + place(first_row_ + r) * stride;
    rows.ring = ring_;
    return rows;
  }
  template <class T, class... Place>
  TILE_FN auto rows_of(Matrix<T> matrix, Place... place) const {
    return rows_of(matrix.data, matrix.stride, place...);
  }
  TILE_FN AddRows<R> sum_into(Accumulator accumulator) const { return {accumulator.data}; }
  TILE_FN AddTotal<R> sum_into(Total& total) const { return {&total}; }

  // The number of a row of the block among all rows.
  TILE_FN std::int64_t row(int r) const { return first_row_ + r; }

  // The same rows, with something to do beside their map.
  template <class Other>
  TILE_FN Block<R, U, Other> beside(Other& other) const {
    return Block<R, U, Other>(first_row_, columns_, ring_, &other);
  }

  template <class T>
  TILE_FN Column<R> load_column(const T* values) const {
    Column<R> column;
    for (int r = 0; r < R; ++r) column.values[r] = to_float(values[first_row_ + r]);
    return column;
  }
  template <class T>
  TILE_FN void store_column(T* values, const Column<R>& column) const {
    for (int r = 0; r < R; ++r) values[first_row_ + r] = from_float<T>(column.values[r]);
  }
  // f(row) for each row.
  template <class F>
  TILE_FN Column<R> each_row(F f) const {
    Column<R> column;
    repeat<R>([&](int r) TILE_LAMBDA { column.values[r] = f(r); });
    return column;
  }

  TILE_FN Indices<R> load_indices(const std::int64_t* values) const {
    Indices<R> indices;
    for (int r = 0; r < R; ++r) indices.values[r] = values[first_row_ + r];
    return indices;
  }
  TILE_FN void store_indices(std::int64_t* values, const Indices<R>& indices) const {
    for (int r = 0; r < R; ++r) values[first_row_ + r] = indices.values[r];
  }
  template <class F>
  TILE_FN Indices<R> each_index(F f) const {
    Indices<R> indices;
    repeat<R>([&](int r) TILE_LAMBDA { indices.values[r] = f(r); });
    return indices;
  }
  // The facts of the block's rows, which a machine with a ring knows before they are asked for.
  template <class Coming>
  TILE_FN Indices<R> facts(const Coming& coming) const {
    return each_index([&](int r) TILE_LAMBDA { return coming.fact(first_row_ + r); });
  }
  // Whether f(row) holds for any row of the block: a condition to branch on.
  template <class F>
  TILE_FN bool any(F f) const {
    bool found = false;
    repeat<R>([&](int r) TILE_LAMBDA { found = found || f(r); });
    return found;
  }
  // The element of each row, or of a shared row, at the row's number; a NaN where there is no such column.
  template <class T, bool First>
  TILE_FN Column<R> gather(const Tile<T, R, First>& tile, const Indices<R>& at) const {
    return each_row([&](int r) TILE_LAMBDA {
      return at[r] >= 0 && at[r] < columns_ ? to_float(tile.rows[r][at[r]]) : not_a_number();
    });
  }
  template <class T>
  TILE_FN Column<R> gather(Row<T> row, const Indices<R>& at) const {
    return each_row(
        [&](int r) TILE_LAMBDA { return at[r] >= 0 && at[r] < columns_ ? to_float(row.data[at[r]]) : not_a_number(); });
  }

  // The largest f over the columns, for each row; -infinity where there are none. A NaN may be passed over.
  template <class F>
  TILE_FN Column<R> max(F f) const {
    return maximum_between(0, columns_, f);
  }

  // Both in one reading of the row's memory: stretches of 1024 columns are read twice, the second time from the first-level
  // cache, and the sum is scaled when a stretch has a larger value than those before.
  template <class F>
  TILE_FN ExpSum<R> exp_sum(F f) const {
    ExpSum<R> so_far;
    repeat<R>([&](int r) TILE_LAMBDA {
      so_far.maximum.values[r] = -infinity();
      so_far.sum.values[r] = 0;
    });
    for (std::int64_t c = 0; c < columns_;) {
      const std::int64_t end = columns_ - c < stretch ? columns_ : c + stretch;
      const Column<R> largest = maximum_between(c, end, f);
      Column<R> shift;
      repeat<R>([&](int r) TILE_LAMBDA {
        const float before = so_far.maximum.values[r], now = maximum(largest.values[r], before);
        // Where every value so far is -infinity, e^(value - 0) is the 0 that it should add.
        shift.values[r] = now == -infinity() ? 0.0f : now;
        if (now > before) so_far.sum.values[r] *= exp(before - now);
        so_far.maximum.values[r] = now;
      });
      const Column<R> part = sum_between(c, end, [&](auto e) TILE_LAMBDA { return exp(f(e) - shift[e]); });
      repeat<R>([&](int r) TILE_LAMBDA { so_far.sum.values[r] += part.values[r]; });
      c = end;
    }
    return so_far;
  }

  // The smallest column where f is `value`, for each row; -1 where it is nowhere. At most 2^31 columns.
  template <class F>
  TILE_FN Indices<R> first_column_of(Column<R> value, F f) const {
    typedef typename Values::Integers Integers;
    Integers first[R];
    repeat<R>([&](int r) TILE_LAMBDA { first[r] = Integers{} + 0x7fffffff; });
    const auto visit = [&](auto e, int r) TILE_LAMBDA {
      const Integers place = lane_numbers<lanes>() + std::int32_t(e.column);
      const Mask<lanes> here = f(e) == value[e];
      first[r] = (here.bits & (place < first[r])) ? place : first[r];
    };
    std::int64_t c = 0;
    for (; c + lanes <= columns_; c += lanes) repeat<R>([&](int r) TILE_LAMBDA { visit(Element{c, r, 0}, r); });
    // Lanes beyond the last column hold zeros, which may equal the value: their places are no columns.
    if (c < columns_) repeat<R>([&](int r) TILE_LAMBDA { visit(PartialElement{c, r, int(columns_ - c)}, r); });
    return each_index([&](int r) TILE_LAMBDA {
      std::int64_t found = columns_;
      for (int j = 0; j < lanes; ++j) found = first[r][j] < found ? first[r][j] : found;
      return found < columns_ ? found : -1;
    });
  }

  // Several sums over the columns in one reading: f's results, each as `sum` does it.
  template <class F>
  TILE_FN auto sums(F f) const {
    constexpr int K = sizeof(as_results(f(Element{}))) / sizeof(Values);
    Columns<R, K> total;
    repeat<K>([&](int k) TILE_LAMBDA { repeat<R>([&](int r) TILE_LAMBDA { total.of[k].values[r] = 0; }); });
    std::int64_t c = 0;
    while (c < columns_) {
      Values part[R][K] = {};
      const std::int64_t end = columns_ - c < 1024 * lanes ? columns_ : c + 1024 * lanes;
      for (; c + lanes <= end; c += lanes) {
        repeat<R>([&](int r) TILE_LAMBDA {
          const auto values = as_results(f(Element{c, r, 0}));
          repeat<K>([&](int k) TILE_LAMBDA { part[r][k] = part[r][k] + values.of[k]; });
        });
      }
      if (c < end) {
        const int count = int(end - c);
        repeat<R>([&](int r) TILE_LAMBDA {
          const auto values = as_results(f(PartialElement{c, r, count}));
          repeat<K>([&](int k) TILE_LAMBDA { part[r][k] = part[r][k] + first_lanes(values.of[k], count); });
        });
        c = end;
      }
      repeat<R>([&](int r) TILE_LAMBDA {
        repeat<K>([&](int k) TILE_LAMBDA { total.of[k].values[r] += horizontal_sum(part[r][k]); });
      });
    }
    return total;
  }

  // The sum of f over the columns, in fp32, for each row.
  template <class F>
  TILE_FN Column<R> sum(F f) const {
    return sum_between(0, columns_, f);
  }
  // rest(block, sum(f)); a block of rows that are worked on beside others has its own.
  template <class F, class Rest>
  TILE_FN void sum_then(F f, Rest rest) const {
    rest(*this, sum(f));
  }

  // destination_k(element) = the k-th result of f(element), for every element of the block. f has read an element of every
  // row before any of them is written, so a destination may be a tile that f reads.
  template <class F, class First, class... Others>
  TILE_FN void map(F f, First first, Others... others) const {
    std::int64_t c = 0, end = 0;
    if constexpr (First::streams && streaming_stores && !no_memory) {
      end = first.head();
      end = end < columns_ ? end : columns_;
    }
    for (;;) {
      while (c < end) {
        const int count = end - c < lanes ? int(end - c) : lanes;
        Results<1 + int(sizeof...(others))> values[R];
        repeat<R>([&](int r) TILE_LAMBDA { values[r] = as_results(f(PartialElement{c, r, count})); });
        int k = 0;
        first.commit_partial(c, count, values, 0);
        (others.commit_partial(c, count, values, ++k), ...);
        c += count;
      }
      if (end == columns_) break;
      for (; c + step <= columns_; c += step) {
        if constexpr (!__is_same(Beside, Nothing)) beside_->advance();
        map_step(c, f, first, others...);
      }
      end = columns_;
    }
    finish(first);
    (finish(others), ...);
  }

 private:
  static constexpr std::int64_t step = U * lanes;
  static constexpr std::int64_t stretch = 1024;  // a multiple of every step

  // Where all is stored, two vectors of a row lie next to each other in time too, which memory likes; what is added up over the
  // rows is so before it is written.
  template <class F, class... To>
  TILE_FN static void map_step(std::int64_t c, F& f, const To&... to) {
    if constexpr ((To::streams && ...)) {
      constexpr int together = U % 2 == 0 ? 2 : 1;
      repeat<U / together>([&](int group) TILE_LAMBDA {
        const std::int64_t column = c + group * together * lanes;
        Results<int(sizeof...(to))> values[R][together];
        repeat<together>([&](int i) TILE_LAMBDA {
          repeat<R>([&](int r) TILE_LAMBDA {
            values[r][i] = as_results(f(Element{column + i * lanes, r, group * together + i}));
          });
        });
        repeat<R>([&](int r) TILE_LAMBDA {
          int k = 0;
          (to.template commit_vectors<together>(r, column, values[r], k++), ...);
        });
      });
    } else {
      repeat<U>([&](int u) TILE_LAMBDA {
        Results<int(sizeof...(to))> values[R];
        repeat<R>([&](int r) TILE_LAMBDA { values[r] = as_results(f(Element{c + u * lanes, r, u})); });
        int k = 0;
        (to.commit(c + u * lanes, values, k++), ...);
      });
    }
  }

  template <class F>
  TILE_FN static Column<R> sum_between(std::int64_t c, std::int64_t last, F f) {
    return RunningSum<R, U, F>(c, last, f).finish();
  }

  // How far ahead of a row's element the same row of a later block is prefetched: whole blocks, 16 KiB at least, which is what
  // memory takes to answer; or a place further on in long rows, several of which would not stay in the second-level cache.
  TILE_FN static std::int64_t bytes_ahead(std::int64_t next_block) {
    constexpr std::int64_t least = 16 << 10, longest = 128 << 10;
    if (next_block < 1 || next_block > longest) return least;
    return (least + next_block - 1) / next_block * next_block;
  }

  template <class F>
  TILE_FN Column<R> maximum_between(std::int64_t c, std::int64_t last, F f) const {
    Values part[R][U];
    repeat<R>([&](int r)
                  TILE_LAMBDA { repeat<U>([&](int u) TILE_LAMBDA { part[r][u] = Values::broadcast(-infinity()); }); });
    for (; c + step <= last; c += step) {
      repeat<U>([&](int u) TILE_LAMBDA {
        repeat<R>([&](int r) TILE_LAMBDA { part[r][u] = maximum(f(Element{c + u * lanes, r, u}), part[r][u]); });
      });
    }
    while (c < last) {
      const int count = last - c < lanes ? int(last - c) : lanes;
      repeat<R>([&](int r) TILE_LAMBDA {
        part[r][0] = maximum(first_lanes(f(PartialElement{c, r, count}), count, -infinity()), part[r][0]);
      });
      c += count;
    }
    return each_row([&](int r) TILE_LAMBDA {
      repeat<U - 1>([&](int u) TILE_LAMBDA { part[r][0] = maximum(part[r][0], part[r][u + 1]); });
      return horizontal_maximum(part[r][0]);
    });
  }

  std::int64_t first_row_, columns_;
  char* ring_;
  Beside* beside_;
};

}  // namespace tile

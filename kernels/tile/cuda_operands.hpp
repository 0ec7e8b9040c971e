// What a CUDA program indexes by an element: rows of a matrix, rows that all rows share, one value for each row.
#pragma once

#include "kernels/tile/cuda_ring.hpp"
#include "kernels/tile/results.hpp"

namespace tile {

// `lanes` consecutive columns of this thread's row, of which `count` exist. `unit` counts the thread's vectors.
template <bool Aligned>
struct Element {
  std::int64_t column;
  int unit, count;
};

// Rows of a matrix: in registers, in the ring, or read where they are used.
template <class T, bool Aligned>
struct Tile {
  static constexpr bool in_registers = Aligned && !chunked;
  const T* row;
  Raw<T> raw[in_registers ? vectors : 1];
  const RowRing* ring = nullptr;

  TILE_FN Values operator[](Element<Aligned> e) const {
    if constexpr (Aligned && ring_slots > 0 && sizeof(T) == sizeof(ELEMENT)) {
      if (ring != nullptr) return widen<T>(ring->template now<T>(e.unit));
    }
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

// An element of each row as it lies in memory, on its way perhaps: who looks at it waits for it. A NaN where there is none.
template <class T>
struct Gathered {
  bool exists;
  T raw;
  template <class E>
  TILE_FN float operator[](E) const {
    return exists ? to_float(raw) : not_a_number();
  }
};

// Several values, and one integer, for each row.
template <int K>
struct Columns {
  Column of[K];
};
// The largest value of each row, and the sum of e^(value - largest).
struct ExpSum {
  Column maximum, sum;
};
// One integer for each row: a label, a column.
struct Indices {
  std::int64_t value;
  TILE_FN std::int64_t operator[](int) const { return value; }
  // Where the element's column is its row's number.
  template <bool Aligned>
  TILE_FN Mask<lanes> marks(Element<Aligned> e) const {
    const std::int64_t ahead = value - e.column;
    Mask<lanes> mask;
#pragma unroll
    for (int j = 0; j < lanes; ++j) mask.holds[j] = ahead == j;
    return mask;
  }
};

// An integer for each lane: labels, not yet widened to anything.
struct Numbers {
  std::int64_t number[lanes];
};
TILE_FN Mask<lanes> operator==(Numbers a, std::int64_t b) {
  Mask<lanes> mask;
#pragma unroll
  for (int j = 0; j < lanes; ++j) mask.holds[j] = a.number[j] == b;
  return mask;
}
// A vector of integers.
struct NumberRow {
  const std::int64_t* data;
  template <bool Aligned>
  TILE_FN Numbers operator[](Element<Aligned> e) const {
    Numbers numbers;
#pragma unroll
    for (int j = 0; j < lanes; ++j) numbers.number[j] = j < e.count ? data[e.column + j] : 0;
    return numbers;
  }
};
// The elements of a vector of `count` at each lane's number; a NaN where there is no such element.
template <class T, bool Held>
TILE_FN Values gather(const Row<T, Held>& row, Numbers at, std::int64_t count) {
  Values values;
#pragma unroll
  for (int j = 0; j < lanes; ++j) {
    const bool inside = at.number[j] >= 0 && at.number[j] < count;
    values.v[j] = inside ? to_float(row.data[at.number[j]]) : not_a_number();
  }
  return values;
}

// v less `amount` in the element that is at its row's number: most vectors hold none, so that this is a branch.
template <bool Aligned>
TILE_FN Values subtract_at(Values v, const Indices& at, Element<Aligned> e, float amount) {
  if constexpr (no_compute) return v;
  const std::uint64_t ahead = std::uint64_t(at.value - e.column);
  if (ahead < std::uint64_t(lanes)) {
#pragma unroll
    for (int j = 0; j < lanes; ++j) v.v[j] -= int(ahead) == j ? amount : 0.0f;
  }
  return v;
}

// A number as an element's value.
TILE_FN Values constant(float number) { return Values::broadcast(number); }

}  // namespace tile

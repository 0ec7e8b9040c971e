// CUDA underneath a tile program: a program is a block of threads, a tile is vectors in their registers, an element index is
// one vector of a thread. See cuda_block.hpp for the rows and cuda_stream.hpp for bulk copies.
//
// A kernel takes its arguments as one struct: a list of parameters could not be written down for a program of any type.
#pragma once

#include "kernels/tile/cuda_block.hpp"

namespace tile {

// A number of elements to divide a sum by: the mean of none is zero.
TILE_FN float count(std::int64_t elements) { return elements > 0 ? float(elements) : 1.0f; }

// One program of a launch.
class Machine {
 public:
  // `aligned`: every pointer among the arguments is a multiple of 16 bytes.
  TILE_FN explicit Machine(bool aligned) : aligned_(aligned) { stream_.start(); }

  TILE_FN std::int64_t program() const { return blockIdx.x; }

  // A row that all blocks read: held in registers where its length is given and it fits.
  template <class T>
  TILE_FN Row<T, false> row(const T* data) const {
    return {data, {}};
  }
  template <class T>
  TILE_FN Row<T, !chunked && whole> row(const T* data, std::int64_t columns) const {
    Row<T, !chunked && whole> row;
    row.data = data;
    if constexpr (!chunked && whole) {
#pragma unroll
      for (int u = 0; u < vectors; ++u) {
        const int c = (u * row_threads + lane()) * lanes;
        row.raw[u] = aligned_ && c < columns ? load_vector<T>(data + c) : Raw<T>{};
      }
    }
    return row;
  }

  // A vector of integers, and one element of a vector.
  TILE_FN NumberRow numbers(const std::int64_t* data) const { return {data}; }
  template <class T>
  TILE_FN float scalar(const T* element) const {
    return to_float(*element);
  }
  // A sum over everything the program visits, from zero: a map's destination. And its value, at the end of the program.
  TILE_FN Total total() const { return {0}; }
  TILE_FN void store_total(float* element, const Total& total) const {
    __shared__ double warp_totals[NUM_WARPS];
    double value = total.value;
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warp_totals[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < NUM_WARPS; ++w) value += warp_totals[w];
      *element = float(value);
    }
  }

  // Sums over the rows of this program, from zero; in `memory` (columns values) at the end.
  TILE_FN Accumulator accumulator(float* memory, std::int64_t columns) const {
    return Accumulator(memory, columns, aligned_);
  }

  // A block that is one row of `columns` elements: the first of whatever matrix is given to it. Each group of threads reduces it
  // for itself, because what comes of it may be for every row of the program; the first one stores.
  TILE_FN Block<false, true> one_row(std::int64_t columns) {
    return Block<false, true>(0, true, columns, stream_, parity_, group() == 0);
  }

  // body(block, first) for this program's stretch of a vector of `count` elements, in pieces [first, first + columns of the
  // block): each a block of one row. Pieces begin at multiples of 16 bytes where the vector does and `per_program` is a
  // multiple of 8.
  template <class F>
  TILE_FN void for_stretch(std::int64_t count, std::int64_t per_program, F body) {
    constexpr std::int64_t held = std::int64_t(row_threads) * vectors * lanes;
    if (present_rows_alone && group() != 0) return;
    const std::int64_t begin = program() * per_program;
    const std::int64_t length = count - begin < per_program ? count - begin : per_program;
    if (!aligned_ || per_program % 8 != 0 || length % lanes != 0) {
      body(Block<false, true>(0, group() == 0, length, stream_, parity_), begin);
    } else if constexpr (chunked) {
      body(Block<true, true>(0, group() == 0, length, stream_, parity_), begin);
    } else {
      for (std::int64_t done = 0; done < length; done += held) {
        const std::int64_t piece = length - done < held ? length - done : held;
        if (exact && piece < held)
          body(Block<false, true>(0, group() == 0, piece, stream_, parity_), begin + done);
        else
          body(Block<true, false>(0, group() == 0, piece, stream_, parity_), begin + done);
      }
    }
  }

  // body(block) for this program's rows: BLOCK_ROW of them at program * BLOCK_ROW, then as many again a whole grid further on,
  // so that all programs together move through memory side by side.
  template <class F>
  TILE_FN void for_rows(std::int64_t rows, std::int64_t, std::int64_t columns, F body) {
    if constexpr (whole) {
      if (aligned_) return walk<true>(rows, columns, body);
    }
    walk<false>(rows, columns, body);
  }

  // The same; the bodies' first load is of `coming` (coming_rows), and a ring is filled with the rows that they will load.
  template <class F, class T, class Fact, class Wanted>
  TILE_FN void for_rows(std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns,
                        const ComingRows<T, Fact, Wanted>& coming, F body) {
    if constexpr (ring_slots > 0) {
      if (aligned_) return walk_ring(rows, columns, coming, body);
      if (threadIdx.x >= threads) return;
    }
    for_rows(rows, rows_per_program, columns, body);
  }

  // output[c] = the sum over the first `partials` rows of matrix[., c], for `count` columns from `first` on, as far as there are
  // so many: 32 columns at a time, of which a thread has four, in every row that its place among the others gives it. All its
  // loads are under way together: as many rows as a device has programs (264 by 8 warps) take one wait for memory.
  template <class T>
  TILE_FN void column_sums(T* output, const float* matrix, std::int64_t partials, std::int64_t columns,
                           std::int64_t first, std::int64_t count) const {
    constexpr int under_way = 12;
    __shared__ float sums[NUM_WARPS][32];
    constexpr int rows_at_a_time = threads / 8;
    const int warp = threadIdx.x / 32, first_row = threadIdx.x / 8, first_column = threadIdx.x % 8 * 4;
    const std::int64_t end = columns - first < count ? columns : first + count;
    for (std::int64_t base = first; base < end; base += 32) {
      const std::int64_t column = base + first_column;
      float4 part = make_float4(0, 0, 0, 0);
      for (std::int64_t p = first_row; p < partials; p += under_way * rows_at_a_time) {
        float4 loaded[under_way];
#pragma unroll
        for (int i = 0; i < under_way; ++i) {
          const std::int64_t row = p + i * rows_at_a_time;
          loaded[i] =
              row < partials ? four_columns(matrix + row * columns, column, end, columns) : make_float4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < under_way; ++i) add(part, loaded[i]);
      }
#pragma unroll
      for (int offset = 8; offset < 32; offset *= 2) {
        add(part, make_float4(__shfl_xor_sync(~0u, part.x, offset), __shfl_xor_sync(~0u, part.y, offset),
                              __shfl_xor_sync(~0u, part.z, offset), __shfl_xor_sync(~0u, part.w, offset)));
      }
      if (threadIdx.x % 32 < 8) {
        float* to = &sums[warp][first_column];
        to[0] = part.x, to[1] = part.y, to[2] = part.z, to[3] = part.w;
      }
      __syncthreads();
      if (warp == 0 && base + threadIdx.x < end) {
        float total = 0;
#pragma unroll
        for (int w = 0; w < NUM_WARPS; ++w) total += sums[w][threadIdx.x];
        output[base + threadIdx.x] = from_float<T>(total);
      }
      __syncthreads();
    }
  }

 private:
  static TILE_FN void add(float4& to, float4 v) { to.x += v.x, to.y += v.y, to.z += v.z, to.w += v.w; }

  // Columns `column` to column + 3 of a row, zero from `end` on.
  TILE_FN float4 four_columns(const float* row, std::int64_t column, std::int64_t end, std::int64_t columns) const {
    if (aligned_ && columns % 4 == 0 && column + 4 <= end) return *reinterpret_cast<const float4*>(row + column);
    const auto at = [&](std::int64_t c) { return c < end ? row[c] : 0.0f; };
    return make_float4(at(column), at(column + 1), at(column + 2), at(column + 3));
  }

  template <bool Aligned, class F>
  TILE_FN void walk(std::int64_t rows, std::int64_t columns, F& body) {
    const std::int64_t step = std::int64_t(gridDim.x) * block_row;
    stream_.begin(step, rows);
    for (std::int64_t base = std::int64_t(blockIdx.x) * block_row; base < rows; base += step) {
      const std::int64_t row = base + group();
      if (present_rows_alone && row >= rows) break;
      const bool active = present_rows_alone || row < rows;
      stream_.begin_row(row, active);
      body(Block<Aligned>(row, active, columns, stream_, parity_));
      if constexpr (Aligned) stream_.finish_row();
      // Said at compile time: of a loop the compiler keeps in registers what all rows share, ready to be used (the weights in fp32).
      if constexpr (straight) break;
    }
  }

  template <class F, class T, class Fact, class Wanted>
  TILE_FN void walk_ring(std::int64_t rows, std::int64_t columns, const ComingRows<T, Fact, Wanted>& coming, F& body) {
    const int row_vectors = int(columns / lanes);
    RowRing::start();
    if (threadIdx.x >= threads) return RowRing::fill(coming, blockIdx.x, gridDim.x, rows, row_vectors);
    const std::int64_t first = blockIdx.x;
    std::int64_t fact = coming.fact(first < rows ? first : 0);
    for (std::int64_t row = first; row < rows; row += gridDim.x) {
      // What the next row's body will ask for is on its way, and near when it does; nothing looks at it before this one is done.
      const std::int64_t next = row + gridDim.x;
      const std::int64_t next_fact = coming.fact(next < rows ? next : row);
      stream_.ring.begin_row(coming.wanted(fact), fact, row_vectors);
      body(Block<true>(row, true, columns, stream_, parity_));
      stream_.ring.finish_row();
      fact = next_fact;
    }
  }

  bool aligned_;
  int parity_ = 0;
  Stream stream_;
};

// The arguments of a launch: slots of 8 bytes, a struct's as many as it has members.
template <class A>
constexpr int slots_of = (sizeof(A) + 7) / 8;
template <class... A>
struct Parameters {
  std::uint64_t slots[(slots_of<A> + ...)];
};

struct ParameterReader {
  const std::uint64_t* next;
  template <class A>
  TILE_FN A read() {
    const A* argument = reinterpret_cast<const A*>(next);
    next += slots_of<A>;
    return *argument;
  }
};

// Of each slot of an argument, the bits that are set where it is a pointer to something that is not aligned to 16 bytes.
template <class T>
struct MisalignedBits {
  std::uint64_t bits = 0;
};
template <class T>
struct MisalignedBits<T*> {
  std::uint64_t bits = 15;
};
template <class A>
struct MisalignedBitsOf {
  using type = MisalignedBits<A>;
};
template <template <template <class> class, class...> class Struct, class... T>
struct MisalignedBitsOf<Struct<Value, T...>> {
  using type = Struct<MisalignedBits, T...>;
};
template <class A>
TILE_FN std::uint64_t misaligned_bits(const std::uint64_t* slots) {
  const typename MisalignedBitsOf<A>::type all = {};
  const auto* bits = reinterpret_cast<const std::uint64_t*>(&all);
  std::uint64_t found = 0;
#pragma unroll
  for (int i = 0; i < slots_of<A>; ++i) found |= slots[i] & bits[i];
  return found;
}
template <class... A>
TILE_FN bool are_aligned(const Parameters<A...>& parameters) {
  const std::uint64_t* next = parameters.slots;
  std::uint64_t found = 0;
  ((found |= misaligned_bits<A>(next), next += slots_of<A>), ...);
  return found == 0;
}

// Programmatic dependent launch: a launch may begin before the preceding one has ended. When this returns, that one has ended
// and its results are visible. The next launch may begin as soon as every program of this one has come here.
TILE_FN void wait_for_launch_ahead() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : : : "memory");
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
#endif
}

template <auto Program>
struct MachineEntry;
template <class... A, void (*Program)(Machine&, A...)>
struct MachineEntry<Program> {
  using Arguments = Parameters<typename ArgumentOf<A>::type...>;

  TILE_FN MachineEntry(bool aligned, typename ArgumentOf<A>::type... a) {
    if (!rows_from_before || threadIdx.x < threads) wait_for_launch_ahead();
    Machine machine(aligned);
    Program(machine, a...);
  }
  TILE_FN static void run(const Arguments& parameters) {
    ParameterReader next{parameters.slots};
    // Braces: the elements are evaluated from left to right.
    MachineEntry{are_aligned(parameters), next.template read<typename ArgumentOf<A>::type>()...};
  }
};

}  // namespace tile

// The kernel NAME of a tile program `void PROGRAM(tile::Machine&, parameters...)`, the last argument of the macro.
#define TILE_ENTRY(NAME, ...)                                                         \
  extern "C" __global__ void __launch_bounds__(tile::most_threads, MIN_PROGRAMS)      \
      NAME(const __grid_constant__ tile::Entry<&__VA_ARGS__>::Arguments parameters) { \
    tile::Entry<&__VA_ARGS__>::run(parameters);                                       \
  }

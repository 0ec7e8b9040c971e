// The CPU underneath a tile program: a program is a stretch of rows on one core, in blocks (cpu_block.hpp) that come one after
// another or, under PREFETCH_ROWS 2, each beside the one before it (cpu_rows_beside.hpp).
#pragma once

#include "kernels/tile/coming_rows.hpp"
#include "kernels/tile/cpu_rows_beside.hpp"

namespace tile {

// One program of a launch.
class Machine {
 public:
  TILE_FN Machine(std::int64_t program, int worker, char* ring) : program_(program), worker_(worker), ring_(ring) {}

  TILE_FN std::int64_t program() const { return program_; }

  // A row that all blocks read.
  template <class T>
  TILE_FN Row<T> row(const T* data, std::int64_t = 0) const {
    return {data};
  }

  // A vector of integers, and one element of a vector.
  TILE_FN NumberRow numbers(const std::int64_t* data) const { return {data}; }
  template <class T>
  TILE_FN float scalar(const T* element) const {
    return to_float(*element);
  }
  // A sum over everything the program visits, from zero: a map's destination. And its value, at the end of the program.
  TILE_FN Total total() const { return {0}; }
  TILE_FN void store_total(float* element, const Total& total) const { *element = float(total.value); }

  // Sums over the rows of this program, kept in `memory` (columns values), from zero.
  TILE_FN Accumulator accumulator(float* memory, std::int64_t columns) const {
    for (std::int64_t c = 0; c < columns; ++c) memory[c] = 0;
    return {memory};
  }

  // A block that is one row of `columns` elements: the first of whatever matrix is given to it.
  TILE_FN Block<1> one_row(std::int64_t columns) const { return Block<1>(0, columns, ring_); }

  // body(block, first) for this program's stretch of a vector of `count` elements, [first, first + columns of the block): a
  // block of one row.
  template <class F>
  TILE_FN void for_stretch(std::int64_t count, std::int64_t per_program, F body) const {
    const std::int64_t first = program_ * per_program;
    body(one_row(count - first < per_program ? count - first : per_program), first);
  }

  // output[c] = the sum over the first `partials` rows of matrix[., c], for `count` columns from `first` on, as far as there are
  // so many.
  template <class T>
  TILE_FN void column_sums(T* output, const float* matrix, std::int64_t partials, std::int64_t columns,
                           std::int64_t first, std::int64_t count) const {
    const auto block = one_row(columns - first < count ? columns - first : count);
    block.map(
        [&](auto e) {
          Values sum = Values::broadcast(0.0f);
          for (std::int64_t p = 0; p < partials; ++p) sum = sum + Row<float>{matrix + p * columns + first}[e];
          return sum;
        },
        block.rows_of(output + first, 0));
  }

  // The same with the rows that the bodies load first, which nothing is done with here.
  template <class F, class T, class Fact, class Wanted>
  TILE_FN void for_rows(std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns,
                        const ComingRows<T, Fact, Wanted>&, F body) const {
    for_rows(rows, rows_per_program, columns, body);
  }

  // body(block) for the rows program * rows_per_program up to the next program's, in blocks.
  template <class F>
  TILE_FN void for_rows(std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns, F body) const {
    std::int64_t row = program_ * rows_per_program;
    const std::int64_t end = rows - row < rows_per_program ? rows : row + rows_per_program;
    const std::int64_t end_of_blocks = row + (end > row ? (end - row) / block_row * block_row : 0);
    if constexpr (prefetch_rows == rows_beside) {
      const auto place = [&](std::int64_t first) TILE_LAMBDA { return placed(first, rows, block_row); };
      rows_beside_each_other<block_row>(row, end_of_blocks, columns, ring_, place, body);
      row = end_of_blocks;
    }
    for (; row < end_of_blocks; row += block_row) body(Block<block_row>(placed(row, rows, block_row), columns, ring_));
    if constexpr (block_row > 1) {
      for (; row < end; ++row) body(Block<1, 1>(placed(row, rows, 1), columns, ring_));
    }
  }

 private:
  // Under the ablation "no memory" each core works on the same rows again and again.
  TILE_FN std::int64_t placed(std::int64_t row, std::int64_t rows, int count) const {
    if constexpr (!no_memory) return row;
    const std::int64_t own = std::int64_t(worker_) * block_row;
    return own + count <= rows ? own : 0;
  }

  std::int64_t program_;
  int worker_;
  char* ring_;
};

// The arguments of a launch, whose slots lie one after another: a struct's are as many as it has members.
struct ArgumentReader {
  void* const* position;
  template <class A>
  TILE_FN A read() {
    const A* argument = static_cast<const A*>(*position);
    position += (sizeof(A) + 7) / 8;
    return *argument;
  }
};

// Decodes the arguments by the program's parameter types and runs the programs [first, last).
template <auto Program>
struct MachineEntry;
template <class... A, void (*Program)(Machine&, A...)>
struct MachineEntry<Program> {
  TILE_FN MachineEntry(std::int64_t first, std::int64_t last, int worker, typename ArgumentOf<A>::type... a) {
    alignas(64) char ring[no_memory ? (16 << 10) : 64];
    char* escaped = ring;
    asm volatile("" : "+r"(escaped) : : "memory");  // what is written there must stay written
    for (std::int64_t program = first; program < last; ++program) {
      Machine machine(program, worker, escaped);
      Program(machine, a...);
    }
    asm volatile("" : : "r"(escaped) : "memory");
    finish_streaming();
  }
  TILE_FN static void run(void* const* arguments, std::int64_t first, std::int64_t last, int worker) {
    ArgumentReader next{arguments};
    // Braces: the elements are evaluated from left to right.
    MachineEntry{first, last, worker, next.template read<typename ArgumentOf<A>::type>()...};
  }
};

}  // namespace tile

// The C entry NAME of a tile program `void PROGRAM(tile::Machine&, parameters...)`, the last argument of the macro.
#define TILE_ENTRY(NAME, ...)                                                                                  \
  extern "C" __attribute__((flatten)) void NAME(void* const* arguments, std::int64_t first, std::int64_t last, \
                                                int worker, int, void*) {                                      \
    tile::Entry<&__VA_ARGS__>::run(arguments, first, last, worker);                                            \
  }

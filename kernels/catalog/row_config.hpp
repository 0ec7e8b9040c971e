// The settings of a kernel whose programs work through rows, as one immutable value, and the space they come from. Every
// kernel of the catalogue that runs from kernels/tile on a CPU uses it; a kernel states what differs in a RowSpace.
#pragma once

#include <string>
#include <vector>

#include "kernels/catalog/operation.hpp"

namespace kernels {

struct RowConfig {
  int block_row = 1;      // BLOCK_ROW: rows worked on together
  int unroll = 2;         // UNROLL: vectors in flight of each row
  int vector_bytes = 32;  // VECTOR_BYTES
  int prefetch = 0;       // PREFETCH: bytes ahead
  int prefetch_rows = 0;  // PREFETCH_ROWS: of the next block, where rows are read twice
  bool streaming_stores = false;
  int num_threads = 1;  // on CUDA of a block
  int programs_per_thread = 1;
  // CUDA (see cuda_row_config.hpp): dynamic shared memory of a program; programs that fill the device, of passes that walk.
  std::int64_t shared_bytes = 0, walking_programs = 0;
  bool walks = false;
  int filling_threads = 0;  // beside num_threads, of the warp that fills a ring

  bool is_cuda() const { return walking_programs > 0; }
  // The next rows are summed beside the map of the present ones.
  bool sums_beside() const { return prefetch_rows == 2; }

  static RowConfig from(const Settings& settings);
  bool operator==(const RowConfig&) const = default;
};

// What one pass of a kernel allows and needs.
struct RowSpace {
  std::vector<std::int64_t> block_rows = {1, 2, 4}, unrolls = {1, 2, 4}, prefetches = {0, 1024};
  bool rows_share = false;               // a vector that every row is combined with, or sums over rows
  bool reads_rows_twice = false;         // PREFETCH_ROWS instead of PREFETCH
  bool sums_then_maps = false;           // sum_then, with some gain seen: PREFETCH_ROWS may be 2
  bool sums_beside_pay = false;          // and that was measured to be the better choice
  int most_vectors = 8;                  // BLOCK_ROW * UNROLL: beyond it the registers spill
  bool has_programs_per_thread = false;  // the pass divides its rows among a chosen number of programs
  int result_matrices = 1;               // of the problem's size that the pass writes
  double output_bytes = 0;               // written once, not read again by the pass
  bool in_place = false;                 // results replace inputs that were just read

  // CUDA: vectors that every row is combined with, which a program that walks over rows loads once; matrices that a body loads of each row, in order, which bulk copies may bring in; 0: none. Registers of a thread, and
  // more for each vector of 8 elements that it holds, so that none are spilled (tests/kernels/cuda_compile_test.cpp).
  int shared_rows = 0;
  int streamed_operands = 0;
  int registers = 36, registers_per_vector = 36;
  // CUDA: rows longer than this many 16-byte vectors go in stretches, read again from a cache, although a block could hold one.
  std::int64_t longest_held_vectors = std::int64_t{1} << 60;
  bool evicts_results = true;  // nothing reads the results soon
  bool has_ring = false;       // the program says which rows it loads first, and walks over them at its end: ROW_RING

  // Whether a row is used again after a reduction over it, or sums over rows are kept: it must lie on the chip.
  bool keeps_rows() const { return reads_rows_twice || has_programs_per_thread; }
};

std::vector<Knob> row_knobs(const RowSpace& space, const Target& target);
std::string row_valid(const RowSpace& space, const Settings& settings, const Problem& problem, const Target& target);
Settings row_heuristic(const RowSpace& space, const Problem& problem, const Target& target);

// The defines of a tile program: settings, element type, pass, ablation.
Defines row_defines(const RowConfig& config, const Problem& problem, Pass pass, Ablation ablation);

// How rows are divided among programs: program p has rows [p * rows_per_program, (p + 1) * rows_per_program).
struct RowGrid {
  std::int64_t programs = 0, rows_per_program = 1;
};
// Small programs, for a pass whose programs share nothing: on a CPU whole blocks of about 64 KiB each (as few as there are
// threads where rows are summed beside others, because the first of a program is not), on CUDA one block, or as many as fill the device where they walk.
RowGrid independent_rows(const RowConfig& config, const Problem& problem);
// As many programs as the settings say, for a pass that accumulates over its rows.
RowGrid accumulated_rows(const RowConfig& config, const Problem& problem);

}  // namespace kernels

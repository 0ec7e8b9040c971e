// The settings on CUDA of a kernel whose programs work through rows: the same RowSpace as on a CPU, its own knobs under the
// names that the field gives them.
#pragma once

#include "kernels/catalog/row_config.hpp"

namespace kernels {

struct CudaRowConfig {
  int num_warps = 4;        // NUM_WARPS
  int vectors = 1;          // VECTORS: 16-byte vectors of its row that a thread holds
  int block_row = 1;        // BLOCK_ROW: rows at a time, among which the threads are divided
  int num_stages = 0;       // NUM_STAGES: blocks of rows under way in bulk copies; 0: plain loads
  int programs_per_sm = 1;  // MIN_PROGRAMS, and the grid of programs that walk over rows
  int cache_policy = 0;     // CACHE_POLICY
  int row_ring = 0;         // ROW_RING: 1: long rows lie in a circular buffer in shared memory, RING_SLOTS chunks

  static CudaRowConfig from(const Settings& settings);
  int threads() const { return 32 * num_warps; }
  int row_threads() const { return threads() / block_row; }
  bool operator==(const CudaRowConfig&) const = default;
};

// Elements of a 16-byte vector of the problem's type, and how many of them a row has (one at least).
int vector_lanes(DType dtype);
std::int64_t row_vectors(const Problem& problem);
// Whether every row lies at a multiple of a vector, so that none is split; whether the threads hold a whole row.
bool has_whole_vectors(const Problem& problem);
bool fits(const CudaRowConfig& config, const Problem& problem);

std::vector<Knob> cuda_row_knobs(const RowSpace& space, const Target& target);
std::string cuda_row_valid(const RowSpace& space, const Settings& settings, const Problem& problem,
                           const Target& target);
Settings cuda_row_heuristic(const RowSpace& space, const Problem& problem, const Target& target);

// The defines of a tile program, and the dynamic shared memory of its programs: the slots of bulk copies, or the sums of
// several rows' threads where they meet.
Defines cuda_row_defines(const RowSpace& space, const CudaRowConfig& config, const Problem& problem, Pass pass,
                         Ablation ablation);
std::int64_t cuda_shared_bytes(const RowSpace& space, const CudaRowConfig& config, const Problem& problem);

// What a reader of the program would state of it on `target`: where a row lies, how it is cached and which constants a
// program is compiled with differ from machine to machine; the arithmetic does not.
SourceNotes source_notes_on(const Target& target, SourceNotes notes);

// A RowConfig that carries it, for grids and launches.
RowConfig on_cuda(const RowSpace& space, const CudaRowConfig& config, const Problem& problem, const Target& target);

}  // namespace kernels

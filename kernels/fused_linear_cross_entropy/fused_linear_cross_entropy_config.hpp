// The settings of fused_linear_cross_entropy: those of its row programs, and the rows of a chunk.
#pragma once

#include "kernels/catalog/row_config.hpp"

namespace kernels::fused_linear_cross_entropy {

// Whether the pass multiplies gradients that forward left, and computes none.
bool scales_gradients(Pass pass, const Problem& problem);
// Whether the pass computes gradients: forward with a reduction; backward without one, because a row's gradient must be
// multiplied before the rows are summed up.
bool has_gradients(Pass pass, const Problem& problem);

// The rows that the row programs of a pass work on: a chunk's logits (columns: classes), or a weight's gradient (columns:
// hidden size).
Problem row_problem(Pass pass, const Problem& problem, std::int64_t chunk_rows);
// Elements from one row of a chunk's logits to the next: rows begin at multiples of 16 bytes.
std::int64_t logits_stride(const Problem& problem);

// The chunks that the problem's rows are divided into: of equal size but the last one, none larger than `most_rows`. One of no
// rows where there are none.
struct Chunk {
  std::int64_t first = 0, rows = 0;
};
std::vector<Chunk> chunks_of(const Problem& problem, std::int64_t most_rows);

RowSpace space(Pass pass, const Problem& problem);
RowSpace space(Pass pass);
std::vector<Knob> knobs(Pass pass, const Target& target);
std::string valid(Pass pass, const Settings& settings, const Problem& problem, const Target& target);
Settings heuristic(Pass pass, const Problem& problem, const Target& target);

}  // namespace kernels::fused_linear_cross_entropy

// The launches of fused_linear_cross_entropy.
#pragma once

#include "kernels/catalog/row_config.hpp"

namespace kernels::fused_linear_cross_entropy {

// Scratch and launches of a pass, its rows in chunks of at most `chunk_rows`.
Plan launches(Pass pass, const Problem& problem, const RowConfig& config, std::int64_t chunk_rows);
// What the options fix at compile time.
Defines option_defines(Pass pass, const Problem& problem);

// The layer and its loss as an unfused framework runs them: all logits in memory, then each primitive operation.
Plan eager_plan(Pass pass, const Problem& problem, const Target& target);

}  // namespace kernels::fused_linear_cross_entropy

// What GRPO's loss's passes allow as settings: the space of its RowConfig.
#pragma once

#include "kernels/catalog/row_config.hpp"

namespace kernels::grpo_loss {

RowSpace space(Pass pass, const Problem& problem);
// The widest space of a pass, for the knobs, which depend on no problem.
RowSpace space(Pass pass);

}  // namespace kernels::grpo_loss

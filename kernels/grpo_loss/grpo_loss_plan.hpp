// The launches of GRPO's loss: of its own programs and of an unfused framework.
#pragma once

#include <string>

#include "kernels/catalog/eager_plan.hpp"
#include "kernels/grpo_loss/grpo_loss_arguments.hpp"

namespace kernels::grpo_loss {

// Sizes of a problem: depth sequences (at least one) of rows / depth tokens.
struct Sizes {
  std::int64_t sequences = 1, length = 0;
};
Sizes sizes_of(const Problem& problem);

bool reduces(const Problem& problem);
bool by_sequence(const Problem& problem);
bool has_kl(const Problem& problem);
Defines loss_defines(const Problem& problem);
std::string gradient_name(const Problem& problem);

void add_launches(RowPlan& plan, Pass pass);
void add_eager(EagerPlan& plan, Pass pass);

}  // namespace kernels::grpo_loss

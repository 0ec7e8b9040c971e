// Cross entropy as an unfused framework runs it.
#pragma once

#include "kernels/catalog/eager_plan.hpp"

namespace kernels::cross_entropy {

// Loss and gradient of rows of logits: `logits` of fp32 or of the problem's type is read and the gradient written to
// `gradient` of the problem's type, which may be the same matrix. For operations whose plans have logits of their own.
// `reductions`: whether rows' losses are reduced to the outputs; `has_gradient`: whether there is a gradient.
struct EagerParts {
  bool reductions = true, has_gradient = true;
};
void add_eager_forward(EagerPlan& plan, const Problem& problem, const Operand& logits, const Operand& gradient,
                       const EagerParts& parts = {});

Plan eager_plan(Pass pass, const Problem& problem, const Target& target);

}  // namespace kernels::cross_entropy

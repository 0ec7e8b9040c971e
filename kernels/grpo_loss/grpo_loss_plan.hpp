// The launches of GRPO's loss: of its own programs and of an unfused framework.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/catalog/row_config.hpp"

namespace kernels::grpo_loss {

// Sizes of a problem: depth sequences (at least one) of rows / depth tokens.
struct Sizes {
  std::int64_t sequences = 1, length = 0;
};
Sizes sizes_of(const Problem& problem);

bool reduces(const Problem& problem);
bool by_sequence(const Problem& problem);
bool has_kl(const Problem& problem);
std::vector<std::pair<std::string, std::string>> loss_defines(const Problem& problem);
std::string gradient_name(const Problem& problem);

// `prefix` of the entries: "grpo_loss_" or "eager_". Forward: everything behind the log probabilities. Backward: everything
// before the gradient of the logits, which then stands in the scratch `dlogp`.
void add_token_losses(const std::string& prefix, const Problem& problem, const RowConfig& config, Plan& plan);
void add_token_gradients(const std::string& prefix, const Problem& problem, const RowConfig& config, Plan& plan);
void add_last_positions(const std::string& prefix, const Problem& problem, const RowConfig& config, Plan& plan);

Plan launches(Pass pass, const Problem& problem, const RowConfig& config);
Plan eager_plan(Pass pass, const Problem& problem, const Target& target);

}  // namespace kernels::grpo_loss

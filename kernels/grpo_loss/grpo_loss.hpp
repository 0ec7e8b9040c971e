// GRPO's loss over a policy's logits as tile programs: the formulas are in grpo_loss_tokens.hpp, the programs in
// grpo_loss_rows.hpp.
#pragma once

#include "kernels/grpo_loss/grpo_loss_rows.hpp"

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(grpo_loss_log_probabilities, grpo_loss::log_probabilities)
TILE_ENTRY(grpo_loss_sequence, grpo_loss::sequence)
TILE_ENTRY(grpo_loss_tokens, grpo_loss::tokens)
TILE_ENTRY(grpo_loss_sequence_sums, grpo_loss::sequence_sums)
TILE_ENTRY(grpo_loss_reduce, grpo_loss::reduce)
#else
TILE_ENTRY(grpo_loss_sequence_gradient, grpo_loss::sequence_gradient)
TILE_ENTRY(grpo_loss_token_gradients, grpo_loss::token_gradients)
TILE_ENTRY(grpo_loss_backward, grpo_loss::backward)
TILE_ENTRY(grpo_loss_last_positions, grpo_loss::last_positions)
#endif

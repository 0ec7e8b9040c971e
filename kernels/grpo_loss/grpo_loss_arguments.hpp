// The arguments of the programs in grpo_loss_rows.hpp that have many, for the host and the programs. Pointers to what the options
// leave out are null.
#pragma once

#include "kernels/tile/arguments.hpp"

namespace grpo_loss {

// What is known of tokens and of their sequences. `ratio_of_sequence`: `ratio` has one value for a sequence, not for a token.
template <template <class> class Slot>
struct InputsOf {
  Slot<const float*> logp, old, ref, mask, advantages, ratio, rho, phi;
  Slot<std::int64_t> length, sequences, ratio_of_sequence;
};

// Numbers of the options. `eps_high` is the bound itself for cispo, its distance from 1 otherwise.
template <template <class> class Slot>
struct NumbersOf {
  alignas(8) Slot<float> beta, eps_low, eps_high, delta, tau_positive, tau_negative;
};

template <template <class> class Slot>
struct TokenArguments {
  Slot<float*> losses, kls, clips;
  InputsOf<Slot> in;
  NumbersOf<Slot> numbers;
};

// What a token's gradient is multiplied by: the gradient of its loss, or of the reduced one.
template <template <class> class Slot>
struct UpstreamOf {
  Slot<const float*> dloss, counts;
  alignas(8) Slot<float> normalizer;
};

template <template <class> class Slot>
struct TokenGradientArguments {
  Slot<float*> dlogp;
  Slot<const float*> sequence_gradients;
  UpstreamOf<Slot> upstream;
  InputsOf<Slot> in;
  NumbersOf<Slot> numbers;
};

}  // namespace grpo_loss

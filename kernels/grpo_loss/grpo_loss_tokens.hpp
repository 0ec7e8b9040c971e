// What GRPO's loss makes of one token, as arithmetic on scalars: what the tile programs of grpo_loss compute for each row.
//   rho = e^(logp - old)  (sequence level: the mean of logp - old over the sequence's tokens in the exponent)
//   LOSS_TYPE 0, clipped (GRPO: Shao et al. 2024, arXiv:2402.03300, equation 3; the upper bound of its own: DAPO, Yu et al. 2025,
//     arXiv:2503.14476; delta: INTELLECT-2, arXiv:2505.07291):  -min(min(rho, delta) A, clamp(rho, 1 - eps_low, 1 + eps_high) A)
//   LOSS_TYPE 1, cispo (MiniMax-M1, arXiv:2506.13585):  -min(rho, eps_high) A logp, the first factor a constant
//   LOSS_TYPE 2, sapo (arXiv:2511.20347):  -4 / tau sigmoid(tau (rho - 1)) A, tau by the sign of A
//   LOSS_TYPE 3, vespo:  -phi A logp, phi a constant of the sequence
//   plus beta * kl, kl = e^(ref - logp) - (ref - logp) - 1 (times rho where the bias is corrected)
// An importance ratio of the sampler multiplies everything before the kl. IS_SEQUENCE: rho is one number for a sequence. HAS_OLD 0:
// old is logp itself, a constant.
#pragma once

#include "kernels/grpo_loss/grpo_loss_arguments.hpp"
#include "kernels/tile/tile.hpp"

#ifndef LOSS_TYPE
#define LOSS_TYPE 0
#endif
#ifndef IS_SEQUENCE
#define IS_SEQUENCE 0
#endif
#ifndef HAS_OLD
#define HAS_OLD 1
#endif
#ifndef HAS_MASK
#define HAS_MASK 0
#endif
#ifndef HAS_KL
#define HAS_KL 1
#endif
#ifndef HAS_RATIO
#define HAS_RATIO 0
#endif
#ifndef HAS_DELTA
#define HAS_DELTA 0
#endif
#ifndef CORRECTS_KL
#define CORRECTS_KL 0
#endif

namespace grpo_loss {

constexpr int loss_type = LOSS_TYPE;
constexpr bool is_sequence = IS_SEQUENCE != 0, has_old = HAS_OLD != 0, has_mask = HAS_MASK != 0, has_kl = HAS_KL != 0;
constexpr bool has_ratio = HAS_RATIO != 0, has_delta = HAS_DELTA != 0, corrects_kl = CORRECTS_KL != 0;

using Numbers = NumbersOf<tile::Value>;

struct Token {
  float logp, old, ref, advantage, ratio, rho, phi;
};

TILE_FN float clipped(float rho, const Numbers& n) {
  return tile::minimum(tile::maximum(rho, 1.0f - n.eps_low), 1.0f + n.eps_high);
}
TILE_FN float tau(const Token& t, const Numbers& n) { return t.advantage > 0.0f ? n.tau_positive : n.tau_negative; }

// The loss without kl.
TILE_FN float policy_loss(const Token& t, const Numbers& n) {
  const float A = t.advantage;
  if constexpr (loss_type == 0) {
    const float rho = has_delta ? tile::minimum(t.rho, n.delta) : t.rho;
    return -tile::minimum(rho * A, clipped(t.rho, n) * A);
  }
  if constexpr (loss_type == 1) return -tile::minimum(t.rho, n.eps_high) * A * t.logp;
  if constexpr (loss_type == 2) return -4.0f / tau(t, n) * tile::sigmoid(tau(t, n) * (t.rho - 1.0f)) * A;
  return -t.phi * A * t.logp;
}

// Its derivative by this token's logp, of a sequence-level rho by the mean of the log ratios.
TILE_FN float policy_gradient(const Token& t, const Numbers& n) {
  const float A = t.advantage;
  if constexpr (loss_type == 0) {
    const float rho = has_delta ? tile::minimum(t.rho, n.delta) : t.rho;
    const bool follows = clipped(t.rho, n) * A >= rho * A && (!has_delta || t.rho <= n.delta);
    return follows ? -t.rho * A : 0.0f;
  }
  if constexpr (loss_type == 1) return -tile::minimum(t.rho, n.eps_high) * A;
  if constexpr (loss_type == 2) {
    const float s = tile::sigmoid(tau(t, n) * (t.rho - 1.0f));
    return -A * 4.0f * s * (1.0f - s) * t.rho;
  }
  return -t.phi * A;
}

// 1 where the ratio is cut off, against the direction that the advantage would take it.
TILE_FN float is_clipped(const Token& t, const Numbers& n) {
  if constexpr (loss_type == 0) {
    const bool low = t.rho < 1.0f - n.eps_low && t.advantage < 0.0f;
    const bool high = t.rho > 1.0f + n.eps_high && t.advantage > 0.0f;
    return low || high ? 1.0f : 0.0f;
  }
  if constexpr (loss_type == 1) return t.rho > n.eps_high && t.advantage > 0.0f ? 1.0f : 0.0f;
  return 0.0f;
}

// The ratio that corrects kl's bias: the token's own, or the sequence's.
TILE_FN float kl_ratio(const Token& t) {
  if constexpr (!corrects_kl) return 1.0f;
  return is_sequence ? t.rho : tile::exp(t.logp - t.old);
}
TILE_FN float divergence(const Token& t) {
  const float d = t.ref - t.logp;
  return (tile::exp(d) - d - 1.0f) * kl_ratio(t);
}
// Its derivative by logp: with the correction the product rule leaves rho (logp - ref).
TILE_FN float divergence_gradient(const Token& t) {
  if constexpr (corrects_kl) return kl_ratio(t) * (t.logp - t.ref);
  return 1.0f - tile::exp(t.ref - t.logp);
}

}  // namespace grpo_loss

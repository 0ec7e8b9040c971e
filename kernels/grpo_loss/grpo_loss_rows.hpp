// The tile programs of GRPO's loss (formulas: grpo_loss_tokens.hpp). Logits are those of `sequences` sequences of `length` tokens
// and one position more each, whose logits predict nothing; rows of a program are tokens, and token t's logits are row
// t + t / length.
//   forward:  log probabilities (the only reading of the logits), sequences, tokens, and with a reduction sums and result
//   backward: sequence gradients (of a sequence-level ratio), token gradients d loss / d logp, logits, zeros of the last positions
// REDUCTION 0: losses of tokens, those without mask 0. Otherwise loss = sum of weight * token loss, the weight by the loss's
// type: 1 of sequences (grpo, sapo) 1 / (B n_b); 2 of all tokens (bnpo, dapo, cispo, vespo) 1 / N or of `normalizer` tokens;
// 3 constant (dr_grpo) 1 / (B normalizer); 4 by length (luspo) n_b / (B L). n_b: tokens with mask of a sequence, N: of all.
#pragma once

#include "kernels/grpo_loss/grpo_loss_tokens.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif
#ifndef REDUCTION
#define REDUCTION 0
#endif

namespace grpo_loss {

using T = tile::ELEMENT;
constexpr int reduction = REDUCTION;

// lse and logp of each token, 0 where it has no mask.
TILE_FN void log_probabilities(tile::RowMachine& machine, tile::Matrix<const T> logits, const std::int64_t* ids,
                               const float* mask, float* lse, float* logp, std::int64_t length,
                               float inverse_temperature) {
  machine.for_rows([&](auto block) {
    const auto none = block.each_row([](int) { return 0.0f; });
    const auto present = has_mask ? block.load_column(mask) : block.each_row([](int) { return 1.0f; });
    if (!block.any([&](int row) { return present[row] != 0.0f; })) {
      block.store_column(lse, none);
      block.store_column(logp, none);
      return;
    }
    const auto x = block.load(logits, [&](std::int64_t row) { return row + row / length; });
    const auto at_id = block.gather(x, block.load_indices(ids));
    const auto total = block.exp_sum([&](auto e) { return x[e] * inverse_temperature; });
    const auto kept = [&](int row, float value) { return present[row] != 0.0f ? value : 0.0f; };
    const auto sums = block.each_row([&](int row) { return total.maximum[row] + tile::log(total.sum[row]); });
    block.store_column(lse, block.each_row([&](int row) { return kept(row, sums[row]); }));
    block.store_column(
        logp, block.each_row([&](int row) { return kept(row, at_id[row] * inverse_temperature - sums[row]); }));
  });
}

// Of this program's sequence: tokens with mask and, at sequence level, rho.
TILE_FN void sequence(tile::Machine& machine, const float* logp, const float* old, const float* mask, float* counts,
                      float* rho, std::int64_t length) {
  const std::int64_t first = machine.program() * length;
  const auto m = machine.row(mask + first);
  const auto p = machine.row(logp + first);
  const auto q = machine.row(old + first);
  const auto tokens = machine.one_row(length);
  const auto sums = tokens.sums([&](auto e) {
    const auto present = [&] {
      if constexpr (has_mask) return m[e];
      return tile::constant(1.0f);
    }();
    if constexpr (is_sequence && has_old) return tile::results(present, (p[e] - q[e]) * present);
    return tile::results(present, tile::constant(0.0f));
  });
  tokens.store_column(counts + machine.program(), sums.of[0]);
  if constexpr (is_sequence) {
    tokens.store_column(rho + machine.program(), tokens.each_row([&](int row) {
      return tile::exp(sums.of[1][row] / tile::maximum(sums.of[0][row], 1.0f));
    }));
  }
}

using Inputs = InputsOf<tile::Value>;
using Upstream = UpstreamOf<tile::Value>;

// The sequence of a row; rows beyond the last one are of the last sequence.
TILE_FN std::int64_t sequence_of(std::int64_t row, const Inputs& in) {
  const std::int64_t sequence = row / in.length;
  return sequence < in.sequences ? sequence : in.sequences - 1;
}

// A token of a block's row; rows beyond the last one read what is there. `in` is not copied: on a CPU each call would copy it again.
template <class B>
TILE_FN auto token_reader(tile::Machine& machine, const B& block, const Inputs& in) {
  const auto logp = block.load_column(in.logp);
  const auto old = has_old ? block.load_column(in.old) : logp;
  const auto ref = has_kl ? block.load_column(in.ref) : logp;
  const auto own_ratio = has_ratio && in.ratio_of_sequence == 0 ? block.load_column(in.ratio) : logp;
  return [=, &machine, &in](int row) {
    const std::int64_t s = sequence_of(block.row(row), in);
    Token t;
    t.logp = logp[row];
    t.old = old[row];
    t.ref = ref[row];
    t.advantage = machine.scalar(in.advantages + s);
    t.ratio = !has_ratio ? 1.0f : in.ratio_of_sequence != 0 ? machine.scalar(in.ratio + s) : own_ratio[row];
    t.rho = is_sequence ? machine.scalar(in.rho + s) : tile::exp(t.logp - t.old);
    t.phi = loss_type == 3 ? machine.scalar(in.phi + s) : 0.0f;
    return t;
  };
}

// Loss, kl and whether it is clipped of each token, 0 where it has no mask.
TILE_FN void tokens(tile::RowMachine& machine, const TokenArguments<tile::Value>& a) {
  machine.for_rows([&](auto block) {
    const auto token = token_reader(machine, block, a.in);
    const auto one = block.each_row([](int) { return 1.0f; });
    const auto present = has_mask ? block.load_column(a.in.mask) : one;
    const auto kept = [&](int row, float value) { return present[row] != 0.0f ? value : 0.0f; };
    block.store_column(a.losses, block.each_row([&](int row) {
      const Token t = token(row);
      float loss = policy_loss(t, a.numbers) * (loss_type == 3 ? 1.0f : t.ratio);
      if constexpr (has_kl) loss += a.numbers.beta * divergence(t);
      return kept(row, loss);
    }));
    block.store_column(a.clips, block.each_row([&](int row) { return kept(row, is_clipped(token(row), a.numbers)); }));
    if constexpr (has_kl) {
      block.store_column(a.kls, block.each_row([&](int row) { return kept(row, divergence(token(row))); }));
    }
  });
}

// The weight of a sequence's tokens in the reduced loss.
// Of no tokens the weight is finite, so that their sum is zero.
TILE_FN float nonzero(float divisor) { return divisor > 0.0f ? divisor : 1.0f; }
TILE_FN float weight_of(float count, float all, float sequences, float length, float normalizer) {
  if constexpr (reduction == 1) return 1.0f / (sequences * tile::maximum(count, 1.0f));
  if constexpr (reduction == 2) return 1.0f / tile::maximum(normalizer > 0.0f ? normalizer : all, 1.0f);
  if constexpr (reduction == 3) return 1.0f / nonzero(sequences * (normalizer > 0.0f ? normalizer : length));
  if constexpr (reduction == 4) return count / nonzero(sequences * length);
  return 1.0f;
}

// The sum of counts, for every program the same.
TILE_FN float all_tokens(tile::Machine& machine, const float* counts, std::int64_t sequences) {
  const auto c = machine.row(counts);
  return machine.one_row(sequences).sum([&](auto e) { return c[e]; })[0];
}

// This program's sequence: sums[0] of weighted losses, sums[1] of kls, sums[2] of clips (three rows of `sequences`).
TILE_FN void sequence_sums(tile::Machine& machine, float* sums, const float* losses, const float* kls,
                           const float* clips, const float* counts, std::int64_t length, std::int64_t sequences,
                           float normalizer) {
  const std::int64_t s = machine.program(), first = s * length;
  const float all = all_tokens(machine, counts, sequences);
  const float weight = weight_of(machine.scalar(counts + s), all, float(sequences), float(length), normalizer);
  const auto l = machine.row(losses + first);
  const auto k = machine.row(kls + first);
  const auto c = machine.row(clips + first);
  const auto block = machine.one_row(length);
  const auto found = block.sums([&](auto e) {
    if constexpr (has_kl) return tile::results(l[e], c[e], k[e]);
    return tile::results(l[e], c[e], tile::constant(0.0f));
  });
  block.store_column(sums + s, block.each_row([&](int row) { return found.of[0][row] * weight; }));
  block.store_column(sums + sequences + s, found.of[2]);
  block.store_column(sums + 2 * sequences + s, found.of[1]);
}

// The reduced loss, and the means of kl and of clips over tokens with mask.
TILE_FN void reduce(tile::Machine& machine, float* loss, float* kl, float* clip, const float* sums, const float* counts,
                    std::int64_t sequences) {
  const float all = tile::maximum(all_tokens(machine, counts, sequences), 1.0f);
  const auto block = machine.one_row(sequences);
  const auto total = [&](int which) {
    const auto row = machine.row(sums + which * sequences);
    return block.sum([&](auto e) { return row[e]; });
  };
  const auto kls = total(1), clips = total(2);
  block.store_column(loss, total(0));
  if constexpr (has_kl) block.store_column(kl, block.each_row([&](int row) { return kls[row] / all; }));
  block.store_column(clip, block.each_row([&](int row) { return clips[row] / all; }));
}

// The gradient of a token's loss before reduction; 0 where it has no mask. `all`: the sum of counts where the reduction needs it.
template <class B>
TILE_FN auto upstream(tile::Machine& machine, const B& block, const Upstream& from, float all, const Inputs& in) {
  const auto one = block.each_row([](int) { return 1.0f; });
  const auto present = has_mask ? block.load_column(in.mask) : one;
  const auto own = reduction == 0 ? block.load_column(from.dloss) : one;
  return block.each_row([&](int row) {
    if (present[row] == 0.0f) return 0.0f;
    if constexpr (reduction == 0) return own[row];
    const float count = machine.scalar(from.counts + sequence_of(block.row(row), in));
    return machine.scalar(from.dloss) * weight_of(count, all, float(in.sequences), float(in.length), from.normalizer);
  });
}

// What reaches this program's sequence-level ratio: the sum over its tokens of their upstream gradients times their ratios.
TILE_FN void sequence_gradient(tile::Machine& machine, float* out, const Upstream& from, const Inputs& in) {
  const std::int64_t s = machine.program(), first = s * in.length;
  const auto m = machine.row(in.mask + first);
  const auto r = machine.row(in.ratio + first);
  const auto d = machine.row(from.dloss + first);
  const auto weight = [&] {
    if constexpr (reduction == 0) return 1.0f;
    return machine.scalar(from.dloss) * weight_of(machine.scalar(from.counts + s),
                                                  all_tokens(machine, from.counts, in.sequences), float(in.sequences),
                                                  float(in.length), from.normalizer);
  }();
  const bool is_common = has_ratio && in.ratio_of_sequence != 0;
  const float common = is_common ? machine.scalar(in.ratio + s) * weight : weight;
  const auto block = machine.one_row(in.length);
  const auto sum = block.sum([&](auto e) {
    auto term = tile::constant(common);
    if constexpr (reduction == 0) term = term * d[e];
    if (has_ratio && !is_common) term = term * r[e];
    if constexpr (has_mask) term = tile::select(m[e] == 0.0f, 0.0f, term);
    return term;
  });
  block.store_column(out + s, sum);
}

// dlogp of each token: d loss / d (logits / temperature) is dlogp ([column is the token's] - p).
TILE_FN void token_gradients(tile::RowMachine& machine, const TokenGradientArguments<tile::Value>& a) {
  const float all = reduction == 2 ? all_tokens(machine, a.upstream.counts, a.in.sequences) : 0.0f;
  machine.for_rows([&](auto block) {
    const auto token = token_reader(machine, block, a.in);
    const auto above = upstream(machine, block, a.upstream, all, a.in);
    block.store_column(a.dlogp, block.each_row([&](int row) {
      const Token t = token(row);
      const std::int64_t s = sequence_of(block.row(row), a.in);
      float gradient = policy_gradient(t, a.numbers);
      if constexpr (is_sequence) {
        gradient *=
            machine.scalar(a.sequence_gradients + s) / tile::maximum(machine.scalar(a.upstream.counts + s), 1.0f);
      } else {
        gradient *= above[row] * (loss_type == 3 ? 1.0f : t.ratio);
      }
      if constexpr (has_kl) gradient += a.numbers.beta * divergence_gradient(t) * above[row];
      return gradient;
    }));
  });
}

// Gradients of the tokens' logits, which may lie where the logits do; zeros for tokens without mask.
TILE_FN void backward(tile::RowMachine& machine, tile::Matrix<T> out, tile::Matrix<const T> logits,
                      const std::int64_t* ids, const float* mask, const float* lse, const float* dlogp,
                      std::int64_t length, float inverse_temperature) {
  machine.for_rows([&](auto block) {
    const auto place = [&](std::int64_t row) { return row + row / length; };
    const auto present = has_mask ? block.load_column(mask) : block.each_row([](int) { return 1.0f; });
    if (!block.any([&](int row) { return present[row] != 0.0f; })) {
      block.map([&](auto) { return tile::constant(0.0f); }, block.rows_of(out, place));
      return;
    }
    const auto x = block.load(logits, place);
    const auto id = block.load_indices(ids);
    const auto level = block.load_column(lse);
    const auto gradient = block.load_column(dlogp);
    const auto scale = block.each_row([&](int row) { return gradient[row] * inverse_temperature; });
    block.map(
        [&](auto e) {
          const auto p = tile::exp_of_difference(x[e] * inverse_temperature, level[e]);
          const auto change = tile::subtract_at(p * -scale[e], id, e, -scale[e]);
          return tile::select(present[e] != 0.0f, change, 0.0f);
        },
        block.rows_of(out, place));
  });
}

// Zeros in every row that predicts nothing: the last of each sequence's length + 1.
TILE_FN void last_positions(tile::RowMachine& machine, tile::Matrix<T> out, std::int64_t length) {
  machine.for_rows([&](auto block) {
    block.map([&](auto) { return tile::constant(0.0f); },
              block.rows_of(out, [&](std::int64_t row) { return row * (length + 1) + length; }));
  });
}

}  // namespace grpo_loss

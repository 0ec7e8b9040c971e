// GRPO's loss in double precision, written from the formulas (sources: grpo_loss_tokens.hpp) token by token, and its gradient by
// the chain rule through log softmax: d logp / d x_j = ((j == id) - p_j) / temperature.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/catalog/row_problem.hpp"

namespace kernels::grpo_loss {

struct Shape {
  std::int64_t tokens, sequences, length, columns;
};

inline Shape shape_of(const Problem& problem) {
  const std::int64_t sequences = std::max<std::int64_t>(problem.depth, 1);
  return {problem.rows, sequences, problem.rows / sequences, problem.columns};
}

class Loss {
 public:
  Loss(const Problem& problem, const Values& values) : problem_(problem), values_(values), shape_(shape_of(problem)) {
    mask_.assign(std::size_t(shape_.tokens), 1.0);
    if (flag_option(problem, "completion_mask")) mask_ = values.at("completion_mask");
    counts_.assign(std::size_t(shape_.sequences), 0.0);
    for (std::int64_t t = 0; t < shape_.tokens; ++t) counts_[sequence(t)] += mask_[t];
    for (const double count : counts_) all_ += count;
    type_ = problem.options.at("loss_type");
    by_sequence_ = problem.options.at("importance_sampling_level") == "sequence";
    temperature_ = number_option(problem, "temperature");
  }

  const double* logits(std::int64_t token) const {
    return values_.at("logits").data() + (token + sequence(token)) * shape_.columns;
  }
  std::size_t sequence(std::int64_t token) const { return std::size_t(token / shape_.length); }
  bool masked(std::int64_t token) const { return mask_[std::size_t(token)] == 0; }

  void find_log_probabilities(std::vector<double>& lse, std::vector<double>& logp) const {
    lse.assign(std::size_t(shape_.tokens), 0.0);
    logp.assign(std::size_t(shape_.tokens), 0.0);
    for (std::int64_t t = 0; t < shape_.tokens; ++t) {
      if (masked(t)) continue;
      const double* x = logits(t);
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int64_t c = 0; c < shape_.columns; ++c) largest = std::max(largest, x[c] / temperature_);
      for (std::int64_t c = 0; c < shape_.columns; ++c) sum += std::exp(x[c] / temperature_ - largest);
      lse[t] = largest + std::log(sum);
      logp[t] = x[std::int64_t(values_.at("completion_ids")[t])] / temperature_ - lse[t];
    }
  }

  std::vector<double> sequence_ratios(const std::vector<double>& logp) const {
    std::vector<double> sums(std::size_t(shape_.sequences), 0.0);
    for (std::int64_t t = 0; t < shape_.tokens; ++t) {
      if (!masked(t)) sums[sequence(t)] += logp[t] - old(t, logp);
    }
    for (std::size_t s = 0; s < sums.size(); ++s) sums[s] = std::exp(sums[s] / std::max(counts_[s], 1.0));
    return sums;
  }

  double old(std::int64_t t, const std::vector<double>& logp) const {
    return flag_option(problem_, "old_logp") ? values_.at("old_logp")[t] : logp[t];
  }
  double rho(std::int64_t t, const std::vector<double>& logp, const std::vector<double>& of_sequences) const {
    return by_sequence_ ? of_sequences[sequence(t)] : std::exp(logp[t] - old(t, logp));
  }
  double sampler_ratio(std::int64_t t) const {
    const std::string& kind = problem_.options.at("vllm_is_ratio");
    if (kind == "no" || type_ == "vespo") return 1;
    return values_.at("vllm_is_ratio")[kind == "token" ? std::size_t(t) : sequence(t)];
  }

  struct Policy {
    double loss, gradient, clipped;  // the gradient by logp through rho, of a sequence's by the mean log ratio
  };
  Policy policy(double r, double A, double logp, double phi) const {
    const double low = number_option(problem_, "eps_low"), high = number_option(problem_, "eps_high"),
                 delta = number_option(problem_, "delta");
    if (type_ == "cispo") return {-std::min(r, high) * A * logp, -std::min(r, high) * A, r > high && A > 0 ? 1.0 : 0.0};
    if (type_ == "vespo") return {-phi * A * logp, -phi * A, 0};
    if (type_ == "sapo") {
      const double tau = number_option(problem_, A > 0 ? "sapo_temperature_pos" : "sapo_temperature_neg");
      const double s = 1 / (1 + std::exp(-tau * (r - 1)));
      return {-4 / tau * s * A, -4 * s * (1 - s) * r * A, 0};
    }
    const double cut = std::clamp(r, 1 - low, 1 + high), bounded = delta != 0 ? std::min(r, delta) : r;
    const bool uncut = bounded * A <= cut * A && (delta == 0 || r <= delta);
    const bool clipped = (r < 1 - low && A < 0) || (r > 1 + high && A > 0);
    return {-std::min(bounded * A, cut * A), uncut ? -r * A : 0, clipped ? 1.0 : 0.0};
  }

  double phi(std::int64_t t) const { return type_ == "vespo" ? values_.at("phi")[sequence(t)] : 0; }
  double advantage(std::int64_t t) const { return values_.at("advantages")[sequence(t)]; }
  double beta() const { return number_option(problem_, "beta"); }

  // kl and its derivative by logp; the ratio of a corrected kl is the token's own or, as a constant, the sequence's.
  std::pair<double, double> divergence(std::int64_t t, const std::vector<double>& logp, double r) const {
    const double d = values_.at("ref_logp")[t] - logp[t], plain = std::exp(d) - d - 1;
    if (!flag_option(problem_, "use_bias_correction_kl")) return {plain, 1 - std::exp(d)};
    const double ratio = by_sequence_ ? r : std::exp(logp[t] - old(t, logp));
    return {plain * ratio, -d * ratio};
  }

  // The weight of a token's loss in the reduced one.
  double weight(std::int64_t t) const {
    const double B = double(shape_.sequences), L = double(shape_.length), n = counts_[sequence(t)];
    const double longest = number_option(problem_, "max_completion_length"),
                 items = number_option(problem_, "num_items_in_batch");
    if (type_ == "grpo" || type_ == "sapo") return 1 / (B * std::max(n, 1.0));
    if (type_ == "bnpo") return 1 / std::max(all_, 1.0);
    if (type_ == "dr_grpo") return 1 / (B * (longest > 0 ? longest : L));
    if (type_ == "luspo") return n / (B * L);
    return 1 / std::max(items > 0 ? items : all_, 1.0);
  }
  double mean_weight() const { return 1 / std::max(all_, 1.0); }
  const std::vector<double>& counts() const { return counts_; }
  double count(std::size_t s) const { return std::max(counts_[s], 1.0); }
  bool by_sequence() const { return by_sequence_; }
  const Shape& shape() const { return shape_; }

 private:
  const Problem& problem_;
  const Values& values_;
  Shape shape_;
  std::vector<double> mask_, counts_;
  double all_ = 0, temperature_ = 1;
  std::string type_;
  bool by_sequence_ = false;
};

inline void forward(const Problem& problem, Values& values) {
  const Loss loss(problem, values);
  const std::int64_t tokens = loss.shape().tokens;
  std::vector<double> lse, logp;
  loss.find_log_probabilities(lse, logp);
  const std::vector<double> ratios = loss.sequence_ratios(logp);
  std::vector<double> losses(std::size_t(tokens), 0.0), kls = losses, clips = losses;
  for (std::int64_t t = 0; t < tokens; ++t) {
    if (loss.masked(t)) continue;
    const double r = loss.rho(t, logp, ratios);
    const auto policy = loss.policy(r, loss.advantage(t), logp[t], loss.phi(t));
    losses[t] = policy.loss * loss.sampler_ratio(t);
    clips[t] = policy.clipped;
    if (loss.beta() == 0) continue;
    kls[t] = loss.divergence(t, logp, r).first;
    losses[t] += loss.beta() * kls[t];
  }
  if (flag_option(problem, "reduce")) {
    double total = 0, kl = 0, clipped = 0;
    for (std::int64_t t = 0; t < tokens; ++t) {
      total += losses[t] * loss.weight(t);
      kl += kls[t] * loss.mean_weight();
      clipped += clips[t] * loss.mean_weight();
    }
    losses = {total}, kls = {kl}, clips = {clipped};
  }
  values["loss"] = std::move(losses);
  values["is_clipped"] = std::move(clips);
  if (loss.beta() != 0) values["kl"] = std::move(kls);
  values["lse"] = std::move(lse);
  values["logp"] = std::move(logp);
  if (loss.by_sequence()) values["rho"] = ratios;
  if (loss.by_sequence() || flag_option(problem, "reduce")) values["counts"] = loss.counts();
}

inline void backward(const Problem& problem, Values& values) {
  const Loss loss(problem, values);
  const Shape& shape = loss.shape();
  const std::vector<double>&lse = values.at("lse"), &logp = values.at("logp");
  const std::vector<double> ratios = loss.by_sequence() ? values.at("rho") : std::vector<double>{};
  const bool reduces = flag_option(problem, "reduce");
  const auto upstream = [&](std::int64_t t) {
    if (loss.masked(t)) return 0.0;
    return reduces ? values.at("dloss")[0] * loss.weight(t) : values.at("dloss")[t];
  };
  std::vector<double> of_sequences(std::size_t(shape.sequences), 0.0);
  for (std::int64_t t = 0; t < shape.tokens; ++t) of_sequences[loss.sequence(t)] += upstream(t) * loss.sampler_ratio(t);
  const double temperature = number_option(problem, "temperature");
  std::vector<double> dlogits(values.at("logits").size(), 0.0);
  for (std::int64_t t = 0; t < shape.tokens; ++t) {
    if (loss.masked(t)) continue;
    const double r = loss.rho(t, logp, ratios);
    double dlogp = loss.policy(r, loss.advantage(t), logp[t], loss.phi(t)).gradient;
    const std::size_t s = loss.sequence(t);
    dlogp *= loss.by_sequence() ? of_sequences[s] / loss.count(s) : upstream(t) * loss.sampler_ratio(t);
    if (loss.beta() != 0) dlogp += loss.beta() * loss.divergence(t, logp, r).second * upstream(t);
    const auto id = std::int64_t(values.at("completion_ids")[t]);
    const double* x = loss.logits(t);
    double* out = dlogits.data() + (t + std::int64_t(s)) * shape.columns;
    for (std::int64_t c = 0; c < shape.columns; ++c) {
      out[c] = ((c == id ? 1 : 0) - std::exp(x[c] / temperature - lse[t])) * dlogp / temperature;
    }
  }
  values[flag_option(problem, "in_place") ? "logits" : "dlogits"] = std::move(dlogits);
}

inline void reference(Pass pass, const Problem& problem, Values& values) {
  if (pass == Pass::forward) {
    forward(problem, values);
  } else {
    backward(problem, values);
  }
}

}  // namespace kernels::grpo_loss

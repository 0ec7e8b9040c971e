// Cross entropy in double precision, written from the definition: the loss of a row is the cross entropy of the smoothed label
// distribution (Szegedy et al. 2016, arXiv:1512.00567, section 7) with class weights, plus the z loss (Chowdhery et al. 2022,
// arXiv:2204.02311, section 5). fused_linear_cross_entropy takes the loss of a row from here.
#pragma once

#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/cross_entropy/cross_entropy_loss.hpp"

namespace kernels::cross_entropy {

struct LossOptions {
  double ignore_index = -100, smoothing = 0, lse_square_scale = 0, softcap = 0;
  bool mean = true, weighted = false, token_scaling = false;
};

inline LossOptions loss_options(const Problem& problem) {
  LossOptions options;
  options.ignore_index = number_option(problem, "ignore_index");
  options.smoothing = number_option(problem, "label_smoothing");
  options.lse_square_scale = number_option(problem, "lse_square_scale");
  options.softcap = number_option(problem, "softcap");
  options.mean = problem.options.at("reduction") == "mean";
  options.weighted = flag_option(problem, class_weight_name(problem));
  const auto scaling = problem.options.find("use_token_scaling");
  options.token_scaling = scaling != problem.options.end() && scaling->second == "yes";
  return options;
}

struct LossTotals {
  double rows = 0, weights_of_labels = 0;  // of the rows that are not ignored
};

inline LossTotals loss_totals(const LossOptions& options, const std::vector<double>& target,
                              const std::vector<double>* weights) {
  LossTotals totals;
  for (const double label : target) {
    if (label == options.ignore_index) continue;
    totals.rows += 1;
    totals.weights_of_labels += weights ? weights->at(std::size_t(label)) : 1;
  }
  return totals;
}

struct LossRows {
  std::vector<double> loss, z_loss, hit, prediction;
};

// Appends one row's results and writes its gradient (columns values) where that is wanted. With q the smoothed label distribution
// weighted by class, loss = -sum q_i log p_i and d loss / d x_j = p_j sum(q) - q_j.
inline void loss_row(const LossOptions& options, const LossTotals& totals, const double* logits, std::int64_t columns,
                     double label, const std::vector<double>* weights, double* gradient, LossRows& results) {
  if (label == options.ignore_index) {
    for (std::int64_t c = 0; gradient && c < columns; ++c) gradient[c] = 0;
    results.loss.push_back(0);
    results.z_loss.push_back(0);
    results.hit.push_back(0);
    results.prediction.push_back(-1);
    return;
  }
  std::vector<double> x(logits, logits + columns), slope(columns, 1.0), q(columns);
  if (options.softcap != 0) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const double t = std::tanh(logits[c] / options.softcap);
      x[c] = options.softcap * t;
      slope[c] = 1 - t * t;
    }
  }
  double largest = -std::numeric_limits<double>::infinity(), sum = 0, q_sum = 0, loss = 0;
  std::int64_t prediction = -1;
  for (std::int64_t c = 0; c < columns; ++c) {
    if (x[c] > largest) largest = x[c], prediction = c;
  }
  for (std::int64_t c = 0; c < columns; ++c) sum += std::exp(x[c] - largest);
  const double lse = largest + std::log(sum);
  const auto y = std::int64_t(label);
  for (std::int64_t c = 0; c < columns; ++c) {
    q[c] = options.smoothing / double(columns) + (c == y ? 1 - options.smoothing : 0);
    q[c] *= weights ? weights->at(std::size_t(c)) : 1;
    if (options.mean) q[c] /= totals.weights_of_labels;
    q_sum += q[c];
    if (q[c] != 0) loss += q[c] * (lse - x[c]);
  }
  const double z_share = options.lse_square_scale / (options.mean ? totals.rows : 1), z = z_share * lse * lse;
  const double scale = options.token_scaling ? std::exp(x[y] - lse) : 1;
  for (std::int64_t c = 0; gradient && c < columns; ++c) {
    const double p = std::exp(x[c] - largest) / sum;
    gradient[c] = scale * slope[c] * (p * q_sum - q[c] + 2 * z_share * lse * p);
  }
  results.loss.push_back(scale * (loss + z));
  results.z_loss.push_back(scale * z);
  results.hit.push_back(prediction == y ? 1 : 0);
  results.prediction.push_back(double(prediction));
}

// Row results as the problem's outputs: summed up unless there is no reduction.
inline void put_losses(const Problem& problem, const LossTotals& totals, const LossRows& results, Values& values) {
  const auto total = [](const std::vector<double>& rows) { return std::accumulate(rows.begin(), rows.end(), 0.0); };
  const bool none = problem.options.at("reduction") == "none";
  values["loss"] = none ? results.loss : std::vector<double>{total(results.loss)};
  if (flag_option(problem, "return_z_loss")) {
    values["z_loss"] = none ? results.z_loss : std::vector<double>{total(results.z_loss)};
  }
  if (flag_option(problem, "return_token_accuracy")) {
    const double kept = totals.rows > 0 ? totals.rows : 1;
    values["token_accuracy"] = none ? results.hit : std::vector<double>{total(results.hit) / kept};
  }
  if (flag_option(problem, "return_predicted_tokens")) values["predicted_tokens"] = results.prediction;
}

inline void reference(Pass pass, const Problem& problem, Values& values) {
  const std::int64_t rows = problem.rows, columns = problem.columns;
  const bool none = problem.options.at("reduction") == "none";
  if (pass == Pass::backward) {
    std::vector<double>& gradient = values.at("logits");
    const std::vector<double>& dloss = values.at("dloss");
    for (std::int64_t i = 0; i < rows * columns; ++i) gradient[i] *= dloss[none ? i / columns : 0];
    return;
  }
  const std::vector<double>& target = values.at("target");
  const LossOptions options = loss_options(problem);
  const auto weight = values.find("weight");
  const std::vector<double>* weights = weight == values.end() || !options.weighted ? nullptr : &weight->second;
  const LossTotals totals = loss_totals(options, target, weights);
  std::vector<double> gradient(values.at("logits").size());
  LossRows results;
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* logits = values.at("logits").data() + r * columns;
    loss_row(options, totals, logits, columns, target[r], weights, gradient.data() + r * columns, results);
  }
  put_losses(problem, totals, results, values);
  values["logits"] = std::move(gradient);
}

}  // namespace kernels::cross_entropy

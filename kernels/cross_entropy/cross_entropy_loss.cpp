// See cross_entropy_loss.hpp.
#include "kernels/cross_entropy/cross_entropy_loss.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/catalog/row_problem.hpp"
#include "kernels/cross_entropy/cross_entropy_options.hpp"

namespace kernels::cross_entropy {

LossOptions loss_options(const Problem& problem) {
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

LossTotals loss_totals(const LossOptions& options, const std::vector<double>& target,
                       const std::vector<double>* weights) {
  LossTotals totals;
  for (const double label : target) {
    if (label == options.ignore_index) continue;
    totals.rows += 1;
    totals.weights_of_labels += weights ? weights->at(std::size_t(label)) : 1;
  }
  return totals;
}

// With q the smoothed label distribution weighted by class, loss = -sum q_i log p_i and d loss / d x_j = p_j sum(q) - q_j.
void loss_row(const LossOptions& options, const LossTotals& totals, const double* logits, std::int64_t columns,
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

void put_losses(const Problem& problem, const LossTotals& totals, const LossRows& results, Values& values) {
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

}  // namespace kernels::cross_entropy

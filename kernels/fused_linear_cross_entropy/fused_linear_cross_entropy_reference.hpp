// In double precision, from the formulas: logits = x W^T + b, the loss of each row as in cross_entropy_reference.hpp, and by the chain rule
// dx = G W, dW = G^T x, db = the sum of G's rows, G = d loss / d logits.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/cross_entropy/cross_entropy_reference.hpp"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_config.hpp"

namespace kernels::fused_linear_cross_entropy {

// The nearest value of a 16-bit type, ties to even: `digits` binary digits, no exponent below `lowest` (as frexp has it).
inline double rounded(DType dtype, double value) {
  if (dtype == DType::fp32 || value == 0 || !std::isfinite(value)) return value;
  const int digits = dtype == DType::bf16 ? 8 : 11, lowest = dtype == DType::bf16 ? -125 : -13;
  int exponent = 0;
  std::frexp(value, &exponent);
  const double step = std::ldexp(1.0, std::max(exponent, lowest) - digits);
  const double nearest = std::nearbyint(value / step) * step;
  const double most = dtype == DType::bf16 ? 0x1.FEp127 : 65504;
  return std::fabs(nearest) > most ? std::copysign(std::numeric_limits<double>::infinity(), value) : nearest;
}

inline const std::vector<double>* optional(const Values& values, const std::string& name, bool present) {
  return present ? &values.at(name) : nullptr;
}

// Adds one row's part of the gradients, g = d loss / d logits of the row.
inline void add_gradients(const Problem& problem, const Values& values, std::int64_t row, const std::vector<double>& g,
                          std::vector<double>& dinput, std::vector<double>& dweight, std::vector<double>& dbias) {
  const std::int64_t hidden = problem.depth;
  const double *x = values.at("input").data() + row * hidden, *weight = values.at("weight").data();
  for (std::int64_t c = 0; c < problem.columns; ++c) {
    const double slope = g[std::size_t(c)];
    dbias[std::size_t(c)] += slope;
    for (std::int64_t h = 0; h < hidden; ++h) {
      dinput[std::size_t(row * hidden + h)] += slope * weight[c * hidden + h];
      dweight[std::size_t(c * hidden + h)] += slope * x[h];
    }
  }
}

// The logits of a row (columns values, bias added): products summed in double precision and rounded to the problem's type
// where that has 16 bits, as a layer's output is.
inline std::vector<double> logits_of_row(const Problem& problem, const Values& values, std::int64_t row) {
  const std::int64_t hidden = problem.depth;
  const double *x = values.at("input").data() + row * hidden, *weight = values.at("weight").data();
  const std::vector<double>* bias = optional(values, "bias", flag_option(problem, "bias"));
  std::vector<double> logits;
  for (std::int64_t c = 0; c < problem.columns; ++c) {
    double sum = 0;
    for (std::int64_t h = 0; h < hidden; ++h) sum += x[h] * weight[c * hidden + h];
    logits.push_back(rounded(problem.dtype, sum) + (bias ? bias->at(std::size_t(c)) : 0));
  }
  return logits;
}

inline void reference(Pass pass, const Problem& problem, Values& values) {
  const bool has_bias = flag_option(problem, "bias");
  if (scales_gradients(pass, problem)) {
    const double dloss = values.at("dloss").at(0);
    for (const char* name : {"dinput", "dweight", "dbias"}) {
      if (std::string(name) == "dbias" && !has_bias) continue;
      for (double& gradient : values.at(name)) gradient *= dloss;
    }
    return;
  }
  const bool gradients = has_gradients(pass, problem);
  const cross_entropy::LossOptions options = cross_entropy::loss_options(problem);
  const std::vector<double>& target = values.at("target");
  const std::vector<double>* weights = optional(values, "ce_weight", options.weighted);
  const cross_entropy::LossTotals totals = cross_entropy::loss_totals(options, target, weights);
  std::vector<double> g(std::size_t(problem.columns));
  std::vector<double> dinput(std::size_t(problem.rows * problem.depth)), dbias(g.size());
  std::vector<double> dweight(std::size_t(problem.columns * problem.depth));
  cross_entropy::LossRows results;
  for (std::int64_t row = 0; row < problem.rows; ++row) {
    const std::vector<double> logits = logits_of_row(problem, values, row);
    const double label = target[std::size_t(row)];
    cross_entropy::loss_row(options, totals, logits.data(), problem.columns, label, weights,
                            gradients ? g.data() : nullptr, results);
    if (!gradients) continue;
    if (pass == Pass::backward && label != options.ignore_index) {
      for (double& slope : g) slope *= values.at("dloss").at(std::size_t(row));
    }
    add_gradients(problem, values, row, g, dinput, dweight, dbias);
  }
  if (pass == Pass::forward) cross_entropy::put_losses(problem, totals, results, values);
  if (!gradients) return;
  values["dinput"] = std::move(dinput);
  values["dweight"] = std::move(dweight);
  if (has_bias) values["dbias"] = std::move(dbias);
}

}  // namespace kernels::fused_linear_cross_entropy

#include "stages/optimize/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hone::stages {

namespace {

// Settings that take e times as long as the incumbent are all equally uninteresting; their exact size would bend the model.
constexpr double kLargestLogRatio = 1.0;
constexpr double kSmallestVariance = 0.02 * 0.02;

// log of a weak prior that keeps a scale near 1 while few values are known
double prior(double scale) { return -0.15 * std::log(scale) * std::log(scale); }

}  // namespace

Surrogate::Surrogate(std::size_t knobs) : knobs_(knobs) { parameters_.scales.assign(knobs, 1.0); }

double Surrogate::covariance(const Parameters& parameters, double position_a, const std::vector<double>& a,
                             double position_b, const std::vector<double>& b) const {
  double distance = 0, sum = 0;
  for (std::size_t k = 0; k < knobs_; ++k) {
    const double d = std::abs(a[k] - b[k]) / parameters.scales[k];
    distance += d;
    sum += std::exp(-d);
  }
  const double additive = knobs_ == 0 ? 1 : sum / static_cast<double>(knobs_);
  const double shape = parameters.additive * additive + (1 - parameters.additive) * std::exp(-distance);
  return variance_ * shape * std::exp(-std::abs(position_a - position_b) / parameters.size_scale);
}

double Surrogate::factor(const Parameters& parameters, std::vector<double>& lower, std::vector<double>& weights) const {
  const std::size_t n = observations_.size();
  lower.assign(n * n, 0);
  double log_determinant = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Observation& a = observations_[i];
    for (std::size_t j = 0; j <= i; ++j) {
      const Observation& b = observations_[j];
      double value = covariance(parameters, a.position, a.point, b.position, b.point);
      if (i == j) value += a.deviation * a.deviation + parameters.roughness;
      for (std::size_t k = 0; k < j; ++k) value -= lower[i * n + k] * lower[j * n + k];
      lower[i * n + j] = i == j ? std::sqrt(std::max(value, 1e-12)) : value / lower[j * n + j];
    }
    log_determinant += std::log(lower[i * n + i]);
  }
  weights.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    double value = std::min(observations_[i].value, kLargestLogRatio) - mean_;
    for (std::size_t k = 0; k < i; ++k) value -= lower[i * n + k] * weights[k];
    weights[i] = value / lower[i * n + i];
  }
  double fit = 0;
  for (const double w : weights) fit += w * w;
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) weights[i] -= lower[k * n + i] * weights[k];
    weights[i] /= lower[i * n + i];
  }
  return -0.5 * fit - log_determinant;
}

void Surrogate::tune_parameters() {
  std::vector<double> lower, weights;
  const auto score = [&](const Parameters& p) {
    double penalty = prior(p.size_scale);
    for (const double scale : p.scales) penalty += prior(scale);
    return factor(p, lower, weights) + penalty;
  };
  double best = score(parameters_);
  const auto try_values = [&](auto&& set, std::initializer_list<double> values) {
    for (const double value : values) {
      Parameters candidate = parameters_;
      set(candidate, value);
      const double s = score(candidate);
      if (s > best) best = s, parameters_ = candidate;
    }
  };
  for (std::size_t k = 0; k < knobs_; ++k) {
    try_values([k](Parameters& p, double v) { p.scales[k] = v; }, {0.2, 0.5, 1, 2.5, 8, 40});
  }
  try_values([](Parameters& p, double v) { p.size_scale = v; }, {0.3, 1, 3, 10});
  try_values([](Parameters& p, double v) { p.additive = v; }, {0.05, 0.35, 0.65, 0.95});
  try_values([](Parameters& p, double v) { p.roughness = v; }, {1e-6, 1e-5, 1e-4, 1e-3});
}

void Surrogate::fit(std::vector<Observation> observations, bool tune) {
  observations_ = std::move(observations);
  const double n = static_cast<double>(observations_.size());
  mean_ = 0;
  for (const Observation& o : observations_) mean_ += std::min(o.value, kLargestLogRatio) / n;
  variance_ = 0;
  for (const Observation& o : observations_) variance_ += std::pow(std::min(o.value, kLargestLogRatio) - mean_, 2) / n;
  variance_ = std::max(variance_, kSmallestVariance);
  if (tune) tune_parameters();
  factor(parameters_, lower_, weights_);
}

Prediction Surrogate::predict(double position, const std::vector<double>& point) const {
  const std::size_t n = observations_.size();
  std::vector<double> v(n);
  double mean = mean_, reduction = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double k = covariance(parameters_, position, point, observations_[i].position, observations_[i].point);
    mean += k * weights_[i];
    v[i] = k;
    for (std::size_t j = 0; j < i; ++j) v[i] -= lower_[i * n + j] * v[j];
    v[i] /= lower_[i * n + i];
    reduction += v[i] * v[i];
  }
  return {mean, std::sqrt(std::max(variance_ - reduction, 0.0) + parameters_.roughness)};
}

}  // namespace hone::stages

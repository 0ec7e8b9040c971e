// A Gaussian process over (size, settings): predicts the time of settings not measured yet from those that were, at this size
// and at its neighbours. Pure arithmetic; knows no kernel. Formulas: Rasmussen and Williams, Gaussian Processes for Machine
// Learning, 2006, algorithm 2.1 (prediction) and eq. 5.8 (marginal likelihood).
#pragma once

#include <cstddef>
#include <vector>

namespace hone::stages {

// One measured value: log(time / incumbent's time) with the standard deviation of its measurement.
struct Observation {
  double position = 0;        // of the size, 0..1
  std::vector<double> point;  // settings, one coordinate in 0..1 for each knob
  double value = 0, deviation = 0;
};

struct Prediction {
  double mean = 0, deviation = 0;
};

class Surrogate {
 public:
  explicit Surrogate(std::size_t knobs);

  // Takes the observations; `tune` also fits the length scales by the marginal likelihood.
  void fit(std::vector<Observation> observations, bool tune);
  // Of settings not measured yet: the deviation includes what is peculiar to each configuration.
  Prediction predict(double position, const std::vector<double>& point) const;

 private:
  struct Parameters {
    std::vector<double> scales;  // length scale of each knob: large means the knob hardly matters
    double size_scale = 1;       // of the size
    double additive = 0.5;       // share of the variance that is a sum over knobs; the rest is their interaction
    double roughness = 1e-4;     // variance of what is peculiar to one configuration, beyond the measurement's noise
  };

  double covariance(const Parameters& parameters, double position_a, const std::vector<double>& a, double position_b,
                    const std::vector<double>& b) const;
  // Factors the covariance matrix and solves for the weights; returns the log marginal likelihood.
  double factor(const Parameters& parameters, std::vector<double>& lower, std::vector<double>& weights) const;
  void tune_parameters();

  std::size_t knobs_;
  Parameters parameters_;
  std::vector<Observation> observations_;
  double mean_ = 0, variance_ = 1;
  std::vector<double> lower_, weights_;  // Cholesky factor (row by row) and K^-1 y
};

}  // namespace hone::stages

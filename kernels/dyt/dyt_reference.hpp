// DyT in double precision, written from the formula (Zhu et al. 2025, arXiv:2503.10622, section 4) and its derivative:
// tanh' = 1 - tanh^2.
#pragma once

#include <cmath>

#include "kernels/catalog/row_problem.hpp"

namespace kernels::dyt {

inline void reference(Pass pass, const Problem& problem, Values& values) {
  const std::int64_t rows = problem.rows, columns = problem.columns;
  const bool has_beta = flag_option(problem, "beta");
  const std::vector<double>&x = values.at("x"), &gamma = values.at("gamma");
  const double alpha = values.at("alpha").at(0);
  if (pass == Pass::forward) {
    std::vector<double> y(x.size());
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        y[r * columns + c] = gamma[c] * std::tanh(alpha * x[r * columns + c]) + (has_beta ? values.at("beta")[c] : 0);
      }
    }
    values["y"] = std::move(y);
    return;
  }
  const std::vector<double>& dy = values.at("dy");
  std::vector<double> dx(x.size()), dgamma(columns, 0.0), dbeta(columns, 0.0);
  double dalpha = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const double xi = x[r * columns + c], g = dy[r * columns + c], t = std::tanh(alpha * xi);
      const double through = g * gamma[c] * (1 - t * t);
      dx[r * columns + c] = through * alpha;
      dalpha += through * xi;
      dgamma[c] += g * t;
      dbeta[c] += g;
    }
  }
  values["dx"] = std::move(dx);
  values["dalpha"] = {dalpha};
  values["dgamma"] = std::move(dgamma);
  if (has_beta) values["dbeta"] = std::move(dbeta);
}

}  // namespace kernels::dyt

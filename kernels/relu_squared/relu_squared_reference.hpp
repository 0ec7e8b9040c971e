// Squared ReLU in double precision, written from the formula (So et al. 2021, arXiv:2109.08668, section 4) and its derivative.
#pragma once

#include "kernels/catalog/row_problem.hpp"

namespace kernels::relu_squared {

inline double relu(double x) { return x < 0 ? 0 : x; }  // NaN stays NaN

inline void reference(Pass pass, const Problem& problem, Values& values) {
  const std::vector<double>& x = values.at("x");
  std::vector<double> result(x.size());
  if (pass == Pass::forward) {
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = relu(x[i]) * relu(x[i]);
    values["y"] = std::move(result);
  } else {
    const std::vector<double>& dy = values.at("dy");
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = 2 * relu(x[i]) * dy[i];
    values[dx_name(problem)] = std::move(result);
  }
}

}  // namespace kernels::relu_squared

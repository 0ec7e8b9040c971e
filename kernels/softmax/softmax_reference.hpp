// Softmax in double precision, written from its definition and its derivative: dy_j/dx_i = y_j ((i == j) - y_i).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/catalog/operation.hpp"

namespace kernels::softmax {

inline std::vector<double> forward(const Problem& problem, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (std::int64_t r = 0; r < problem.rows; ++r) {
    const std::int64_t begin = r * problem.columns, end = begin + problem.columns;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t i = begin; i < end; ++i) largest = std::max(largest, x[i]);
    for (std::int64_t i = begin; i < end; ++i) sum += std::exp(x[i] - largest);
    for (std::int64_t i = begin; i < end; ++i) y[i] = std::exp(x[i] - largest) / sum;
  }
  return y;
}

inline std::vector<double> backward(const Problem& problem, const std::vector<double>& dy,
                                    const std::vector<double>& y) {
  std::vector<double> dx(y.size());
  for (std::int64_t r = 0; r < problem.rows; ++r) {
    const std::int64_t begin = r * problem.columns, end = begin + problem.columns;
    double dot = 0;
    for (std::int64_t i = begin; i < end; ++i) dot += dy[i] * y[i];
    for (std::int64_t i = begin; i < end; ++i) dx[i] = y[i] * (dy[i] - dot);
  }
  return dx;
}

inline void reference(Pass pass, const Problem& problem, Values& values) {
  if (pass == Pass::forward) {
    values["y"] = forward(problem, values.at("x"));
  } else {
    values["dx"] = backward(problem, values.at("dy"), values.at("y"));
  }
}

}  // namespace kernels::softmax

// LayerNorm in double precision, written from the formula (Ba, Kiros and Hinton 2016, arXiv:1607.06450, equations 3 and 4, with
// eps inside the root) and its derivative.
#pragma once

#include <cmath>

#include "kernels/catalog/row_problem.hpp"

namespace kernels::layer_norm {

inline void forward(const Problem& problem, Values& values) {
  const std::int64_t rows = problem.rows, columns = problem.columns;
  const double eps = number_option(problem, "eps"), n = columns > 0 ? double(columns) : 1;
  const std::vector<double>&x = values.at("x"), &weight = values.at("weight"), &bias = values.at("bias");
  std::vector<double> y(x.size()), means(rows), rstds(rows);
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* row = x.data() + r * columns;
    double sum = 0, squares = 0;
    for (std::int64_t c = 0; c < columns; ++c) sum += row[c];
    means[r] = sum / n;
    for (std::int64_t c = 0; c < columns; ++c) squares += (row[c] - means[r]) * (row[c] - means[r]);
    rstds[r] = 1 / std::sqrt(squares / n + eps);
    for (std::int64_t c = 0; c < columns; ++c) {
      y[r * columns + c] = (row[c] - means[r]) * rstds[r] * weight[c] + bias[c];
    }
  }
  values["y"] = std::move(y);
  values["mean"] = std::move(means);
  values["rstd"] = std::move(rstds);
}

// With h_j = (x_j - m) R and g_j = dy_j w_j: dh_j/dx_i = R ((i == j) - 1/n - h_i h_j / n), hence
// dx_i = R (g_i - mean(g) - h_i mean(g h)).
inline void backward(const Problem& problem, Values& values) {
  const std::int64_t rows = problem.rows, columns = problem.columns;
  const std::vector<double>&x = values.at("x"), &dy = values.at("dy"), &weight = values.at("weight"),
        &means = values.at("mean"), &rstds = values.at("rstd");
  std::vector<double> dx(x.size()), dweight(columns, 0.0), dbias(columns, 0.0), h(columns);
  for (std::int64_t r = 0; r < rows; ++r) {
    const double *dyr = dy.data() + r * columns, *xr = x.data() + r * columns;
    double mean_g = 0, mean_gh = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      h[c] = (xr[c] - means[r]) * rstds[r];
      mean_g += dyr[c] * weight[c] / double(columns);
      mean_gh += dyr[c] * weight[c] * h[c] / double(columns);
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      dx[r * columns + c] = rstds[r] * (dyr[c] * weight[c] - mean_g - h[c] * mean_gh);
      dweight[c] += dyr[c] * h[c];
      dbias[c] += dyr[c];
    }
  }
  values["dx"] = std::move(dx);
  values["dweight"] = std::move(dweight);
  values["dbias"] = std::move(dbias);
}

inline void reference(Pass pass, const Problem& problem, Values& values) {
  if (pass == Pass::forward) {
    forward(problem, values);
  } else {
    backward(problem, values);
  }
}

}  // namespace kernels::layer_norm

// RMSNorm in double precision, written from the formula (Zhang and Sennrich 2019, arXiv:1910.07467, equation 4, with eps
// inside the root) and its derivative; no rounding of any casting mode is repeated here.
#pragma once

#include <cmath>

#include "kernels/catalog/row_problem.hpp"

namespace kernels::rms_norm {

struct Shape {
  std::int64_t rows, columns;
  bool weight;
  double offset;
};

inline double scale_at(const Shape& shape, const Values& values, std::int64_t column) {
  return shape.weight ? shape.offset + values.at("weight")[column] : 1.0;
}

inline void forward(const Shape& shape, double eps, Values& values) {
  const std::vector<double>& x = values.at("x");
  std::vector<double> y(x.size()), rstd(shape.rows);
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    double squares = 0;
    for (std::int64_t c = 0; c < shape.columns; ++c) squares += x[r * shape.columns + c] * x[r * shape.columns + c];
    const double mean = shape.columns > 0 ? squares / double(shape.columns) : 0;
    rstd[r] = 1 / std::sqrt(mean + eps);
    for (std::int64_t c = 0; c < shape.columns; ++c) {
      y[r * shape.columns + c] = x[r * shape.columns + c] * rstd[r] * scale_at(shape, values, c);
    }
  }
  values["y"] = std::move(y);
  values["rstd"] = std::move(rstd);
}

// y_j = x_j R s_j with R = (mean(x^2) + eps)^(-1/2) and dR/dx_i = -R^3 x_i / n, hence
// dx_i = R s_i dy_i - R^3 x_i / n * sum_j dy_j s_j x_j.
inline void backward(const Shape& shape, const std::string& dx_name, Values& values) {
  const std::vector<double>&x = values.at("x"), &dy = values.at("dy"), &rstd = values.at("rstd");
  std::vector<double> dx(x.size()), dweight(shape.columns, 0.0);
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const double *xr = x.data() + r * shape.columns, *dyr = dy.data() + r * shape.columns, R = rstd[r];
    double dot = 0;
    for (std::int64_t c = 0; c < shape.columns; ++c) dot += dyr[c] * scale_at(shape, values, c) * xr[c];
    for (std::int64_t c = 0; c < shape.columns; ++c) {
      dx[r * shape.columns + c] =
          R * scale_at(shape, values, c) * dyr[c] - R * R * R * xr[c] / double(shape.columns) * dot;
      dweight[c] += dyr[c] * xr[c] * R;
    }
  }
  if (shape.weight) values["dweight"] = std::move(dweight);
  values[dx_name] = std::move(dx);
}

inline Shape shape_of(const Problem& problem) {
  return {problem.rows, problem.columns, flag_option(problem, "weight"), number_option(problem, "offset")};
}

inline void reference(Pass pass, const Problem& problem, Values& values) {
  const Shape shape = shape_of(problem);
  if (pass == Pass::forward) {
    forward(shape, number_option(problem, "eps"), values);
  } else {
    backward(shape, dx_name(problem), values);
  }
}

}  // namespace kernels::rms_norm

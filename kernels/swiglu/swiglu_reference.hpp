// SwiGLU in double precision, written from the formula (Shazeer 2020, arXiv:2002.05202, section 2, with the gate scaled) and
// its derivative: silu'(x) = sigmoid(x) (1 + x (1 - sigmoid(x))).
#pragma once

#include <cmath>

#include "kernels/catalog/row_problem.hpp"

namespace kernels::swiglu {

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

inline void reference(Pass pass, const Problem& problem, Values& values) {
  const double s = number_option(problem, "gate_multiplier");
  const std::vector<double>&a = values.at("a"), &b = values.at("b");
  if (pass == Pass::forward) {
    std::vector<double> c(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) c[i] = s * a[i] * sigmoid(s * a[i]) * b[i];
    values["c"] = std::move(c);
    return;
  }
  const std::vector<double>& dc = values.at("dc");
  std::vector<double> da(a.size()), db(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = s * a[i], g = sigmoid(x);
    da[i] = dc[i] * b[i] * s * g * (1 + x * (1 - g));
    db[i] = dc[i] * x * g;
  }
  values[in_place(problem) ? "a" : "da"] = std::move(da);
  values[in_place(problem) ? "b" : "db"] = std::move(db);
}

}  // namespace kernels::swiglu

// GEGLU in double precision, written from the formula (Shazeer 2020, arXiv:2002.05202, section 2; the tanh form of GELU:
// Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2) and its derivative.
#pragma once

#include <cmath>

#include "kernels/catalog/row_problem.hpp"

namespace kernels::geglu {

inline const double kRootTwoOverPi = std::sqrt(2 / std::acos(-1.0));

inline double inner(double a) { return kRootTwoOverPi * (a + 0.044715 * a * a * a); }

inline double gelu(double a) { return 0.5 * a * (1 + std::tanh(inner(a))); }

inline double gelu_derivative(double a) {
  const double t = std::tanh(inner(a)), slope = kRootTwoOverPi * (1 + 3 * 0.044715 * a * a);
  return 0.5 * (1 + t) + 0.5 * a * (1 - t * t) * slope;
}

inline void reference(Pass pass, const Problem& problem, Values& values) {
  const std::vector<double>&a = values.at("a"), &b = values.at("b");
  if (pass == Pass::forward) {
    std::vector<double> c(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) c[i] = gelu(a[i]) * b[i];
    values["c"] = std::move(c);
    return;
  }
  const std::vector<double>& dc = values.at("dc");
  std::vector<double> da(a.size()), db(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    da[i] = dc[i] * b[i] * gelu_derivative(a[i]);
    db[i] = dc[i] * gelu(a[i]);
  }
  values[in_place(problem) ? "a" : "da"] = std::move(da);
  values[in_place(problem) ? "b" : "db"] = std::move(db);
}

}  // namespace kernels::geglu

// The least that cross entropy moves and computes: every logit read once and its gradient written once, and the vectors.
// Operations for each logit, an exponential counted as one: forward a comparison, a difference, exp, a sum, and for the
// gradient a difference, exp, the product and the comparison with the label; a tanh in each of the two readings and three
// operations of its derivative where there is a softcap; two for the smoothing's sum and one for its gradient. Backward: one
// product.
#pragma once

#include "kernels/catalog/row_problem.hpp"

namespace kernels::cross_entropy {

inline double operations(Pass pass, const Problem& problem) {
  const double elements = double(problem.rows) * double(problem.columns);
  if (pass == Pass::backward) return elements;
  const double softcap = number_option(problem, "softcap") != 0 ? 9 : 0;
  const double smoothing = number_option(problem, "label_smoothing") != 0 ? 3 : 0;
  return (8 + softcap + smoothing) * elements;
}

}  // namespace kernels::cross_entropy

// Cross entropy in double precision, written from the definition: the loss of a row is the cross entropy of the smoothed label
// distribution (Szegedy et al. 2016, arXiv:1512.00567, section 7) with class weights, plus the z loss (Chowdhery et al. 2022,
// arXiv:2204.02311, section 5).
#include "kernels/cross_entropy/cross_entropy_reference.hpp"

#include "kernels/cross_entropy/cross_entropy_loss.hpp"

namespace kernels::cross_entropy {

void reference(Pass pass, const Problem& problem, Values& values) {
  const std::int64_t rows = problem.rows, columns = problem.columns;
  const bool none = problem.options.at("reduction") == "none";
  if (pass == Pass::backward) {
    std::vector<double>& gradient = values.at("logits");
    const std::vector<double>& dloss = values.at("dloss");
    for (std::int64_t i = 0; i < rows * columns; ++i) gradient[i] *= dloss[none ? i / columns : 0];
    return;
  }
  const std::vector<double>& target = values.at("target");
  const LossOptions options = loss_options(problem);
  const auto weight = values.find("weight");
  const std::vector<double>* weights = weight == values.end() || !options.weighted ? nullptr : &weight->second;
  const LossTotals totals = loss_totals(options, target, weights);
  std::vector<double> gradient(values.at("logits").size());
  LossRows results;
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* logits = values.at("logits").data() + r * columns;
    loss_row(options, totals, logits, columns, target[r], weights, gradient.data() + r * columns, results);
  }
  put_losses(problem, totals, results, values);
  values["logits"] = std::move(gradient);
}

}  // namespace kernels::cross_entropy

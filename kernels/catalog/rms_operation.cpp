// See rms_operation.hpp.
#include "kernels/catalog/rms_operation.hpp"

namespace kernels {

std::vector<OptionSpec> RmsOperation::options() const {
  const std::string besides = is_computed_ ? " besides " + normalized_ : "";
  return {{"casting_mode",
           {"llama", "gemma", "none"},
           "where 16-bit values are rounded" + besides + ": llama: " + normalized_ +
               " * rstd, then the product with the weight; gemma: the result alone; none: every intermediate value"},
          {"offset", {}, "added to the weight (gemma models: 1)", "0", {"0", "1"}},
          {"eps", {}, "added to the mean square", "1e-6", {"1e-6", "0.001"}},
          own_option(),
          {"in_place", {"no", "yes"}, "whether backward writes dx over dy"}};
}

// The scale, offset + w, is around 1.
TensorSpec RmsOperation::weight_tensor(const Problem& problem) {
  TensorSpec weight = row_vector("weight", problem);
  weight.offset = 1 - number_option(problem, "offset");
  weight.scale = 0.25;
  return weight;
}

// y: the rounding of the result, of x * rstd (llama) and of rstd and the scale (none), each half a unit, doubled for ties
// with the fp32 roundings; plus half the relative error of the mean square, since rstd is its root; and the rounding of a sum
// that is normalized. dx: rounded once, its dot product in fp32. dw: every term holds a rounded x * rstd (see term_sizes), and the
// sum is rounded once more.
double RmsOperation::tolerance(Pass pass, const std::string& tensor, const Problem& problem) const {
  const double u = unit_roundoff(problem.dtype), fp32 = sum_error(problem.columns) + 0x1p-20;
  const double of_sum = is_computed_ ? 1 : 0;
  const double roundings = casting(problem) == "none" ? 5 : casting(problem) == "llama" ? 2 : 1;
  if (tensor == "rstd") return fp32 + (of_sum + (rstd_dtype(problem) == DType::fp32 ? 0 : 1)) * u;
  if (pass == Pass::forward) return tensor == normalized_ ? u : 1.5 * (roundings + of_sum) * u + fp32;
  if (tensor == "dweight") return 1.02 * u + fp32 + sum_error(problem.rows);
  return 2 * u + fp32;
}

// dx is what remains of its first term, rstd * dy * (offset + w), orthogonal to x: with one column next to nothing.
double RmsOperation::value_scale(Pass pass, const std::string& tensor, const Problem& problem, const Values& inputs,
                                 const Values& results) const {
  if (tensor == "dweight") return smallest_normal(problem.dtype);
  if (pass == Pass::forward) return Operation::value_scale(pass, tensor, problem, inputs, results);
  const std::vector<double>&dy = inputs.at("dy"), &rstd = inputs.at("rstd");
  const std::size_t columns = std::size_t(problem.columns);
  std::vector<double> terms(dy.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double scale = has_weight(problem) ? number_option(problem, "offset") + inputs.at("weight")[i % columns] : 1;
    terms[i] = rstd[i / columns] * dy[i] * scale;
  }
  return root_mean_square(terms);
}

std::vector<double> RmsOperation::term_sizes(Pass pass, const std::string& tensor, const Problem& problem,
                                             const Values& inputs) const {
  if (pass == Pass::forward || tensor != "dweight") return {};
  const std::vector<double>&dy = inputs.at("dy"), &x = inputs.at(normalized_), &rstd = inputs.at("rstd");
  std::vector<double> terms(dy.size());
  for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = dy[i] * x[i] * rstd[i / std::size_t(problem.columns)];
  return rounded_terms(terms, problem.columns);
}

void RmsOperation::add_eager_rstd(EagerPlan& plan, const Operand& values) {
  const std::int64_t rows = plan.problem().rows;
  const Operand squares = plan.temporary("squares"), mean = plan.vector("mean_square", rows),
                sum = plan.vector("mean_square_eps", rows);
  plan.over_rows("eager_square", {squares, values});
  plan.row_reduction("eager_mean", mean.name, squares, column_share(plan.problem()));
  plan.over_vector("eager_add_eps", {sum, mean}, rows, {1, eps(plan.problem())});
  plan.over_vector("eager_rsqrt", {{"rstd", rows}, sum}, rows);
}

std::string RmsOperation::add_eager_scale(EagerPlan& plan) {
  const std::int64_t columns = plan.problem().columns;
  const Operand scale = plan.vector("scale", columns);
  plan.over_vector("eager_weight", {scale, {"weight", columns}}, columns, {1, offset(plan.problem())});
  return scale.name;
}

std::string RmsOperation::add_eager_mean_gradient(EagerPlan& plan, const Operand& terms, float factor) {
  const std::int64_t rows = plan.problem().rows;
  const Operand dot = plan.vector("dot", rows, DType::fp32), gradient = plan.vector("dmean", rows, DType::fp32);
  plan.row_reduction("eager_dot", dot.name, terms, 1);
  plan.over_vector("eager_mean_square_gradient", {gradient, dot, {"rstd", rows}}, rows,
                   {factor * column_share(plan.problem())});
  return gradient.name;
}

Defines RmsOperation::option_defines(const Problem& problem) const {
  return {{"CASTING_MODE", casting(problem) == "llama" ? "0" : casting(problem) == "gemma" ? "1" : "2"}};
}

std::string RmsOperation::check_values(const Problem& problem) const {
  return number_option(problem, "eps") < 0 ? "eps must not be negative" : "";
}

}  // namespace kernels

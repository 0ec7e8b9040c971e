// DyT as an operation of the catalogue.
#include "kernels/dyt/dyt_operation.hpp"

#include <cmath>

#include "kernels/catalog/eager_plan.hpp"
#include "kernels/catalog/row_operation.hpp"
#include "kernels/dyt/dyt_config.hpp"
#include "kernels/dyt/dyt_reference.hpp"
#include "kernels/dyt/dyt_traffic.hpp"

namespace kernels {
namespace {

bool has_beta(const Problem& problem) { return flag_option(problem, "beta"); }

Plan dyt_forward_plan(const Problem& problem, const RowConfig& config) {
  const RowGrid grid = independent_rows(config, problem);
  const std::int64_t stride = row_stride(problem);
  Plan plan;
  plan.launches.push_back(
      {"dyt_forward",
       grid.programs,
       config.num_threads,
       config.shared_bytes,
       1,
       {tensor("y"), stride, tensor("x"), stride, tensor("alpha"), tensor("gamma"),
        tensor_or_null("beta", has_beta(problem)), problem.rows, grid.rows_per_program, problem.columns}});
  return plan;
}

Plan dyt_backward_plan(const Problem& problem, const RowConfig& config) {
  const RowGrid grid = accumulated_rows(config, problem);
  const std::int64_t stride = row_stride(problem);
  const bool beta = has_beta(problem);
  Plan plan;
  plan.scratch.push_back({"dalpha_partial", DType::fp32, grid.programs, 1, 1});
  plan.scratch.push_back({"dgamma_partial", DType::fp32, grid.programs, problem.columns, problem.columns});
  if (beta) plan.scratch.push_back({"dbeta_partial", DType::fp32, grid.programs, problem.columns, problem.columns});
  plan.launches.push_back(
      {"dyt_backward",
       grid.programs,
       config.num_threads,
       config.shared_bytes,
       1,
       {tensor("dx"), stride, tensor("dy"), stride, tensor("x"), stride, tensor("alpha"), tensor("gamma"),
        tensor("dalpha_partial"), tensor("dgamma_partial"), tensor_or_null("dbeta_partial", beta), problem.rows,
        grid.rows_per_program, problem.columns}});
  std::vector<ColumnSum> sums = {{"dgamma", "dgamma_partial", problem.columns}};
  if (beta) sums.push_back({"dbeta", "dbeta_partial", problem.columns});
  sums.push_back({"dalpha", "dalpha_partial", 1});
  plan.launches.push_back(column_sums_launch(config, "dyt_column_sums", sums, grid.programs));
  plan.launches.back().threads = config.num_threads;
  return plan;
}

class Dyt final : public RowOperation {
 public:
  std::string name() const override { return "dyt"; }
  int tier() const override { return 1; }
  std::string tier_reason() const override {
    return "each element depends on its own input alone; only the parameters' gradients are sums";
  }
  std::string formula() const override {
    return "forward: y = tanh(alpha x) * gamma + beta\n"
           "backward: dx = alpha u, u = (1 - tanh(alpha x)^2) * dy * gamma; dalpha = sum of x * u; dgamma = sum over "
           "rows "
           "of dy * tanh(alpha x); dbeta = sum over rows of dy\n"
           "(Zhu, Chen, He, LeCun and Liu 2025, arXiv:2503.10622)";
  }
  std::vector<OptionSpec> options() const override {
    return {{"beta", {"yes", "no"}, "whether a shift beta is added"}};
  }
  SourceNotes source_notes(const Problem& problem) const override {
    return {
        "unit stride along a row, rows contiguous or padded; each element is read once",
        "with STREAMING_STORES = 1 the rows of y and dx bypass the caches",
        "none: y and dx have memory of their own",
        "nothing is saved besides the inputs; tanh(alpha x) is recomputed in backward",
        "tanh, products and sums in fp32; " + std::string(problem.dtype == DType::fp32 ? "nothing" : "results") +
            " rounded to nearest even",
        "fp32 throughout, one rounding of each result",
        "one map over each row; backward accumulates dgamma and dbeta for each column and dalpha over all elements of "
        "a program, then sums the programs",
        "ELEMENT, HAS_BETA, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH, STREAMING_STORES"};
  }
  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    std::vector<TensorSpec> tensors;
    for (const char* name : {"x", "y", "dy", "dx"}) tensors.push_back(row_matrix(name, problem));
    for (const char* name : {"alpha", "dalpha"}) tensors.push_back({name, problem.dtype, 1, 1, 1});
    for (const char* name : {"gamma", "dgamma"}) tensors.push_back(row_vector(name, problem));
    if (has_beta(problem)) {
      for (const char* name : {"beta", "dbeta"}) tensors.push_back(row_vector(name, problem));
    }
    for (TensorSpec& spec : tensors) {
      if (spec.name == "alpha") spec.offset = 0.5, spec.scale = 0.125;
      if (spec.name == "gamma") spec.offset = 1, spec.scale = 0.25;
    }
    return tensors;
  }
  PassSpec pass(Pass pass, const Problem& problem) const override {
    PassSpec spec;
    if (pass == Pass::forward) {
      spec = {{"x", "alpha", "gamma"}, {"y"}, {}, {}};
      if (has_beta(problem)) spec.inputs.push_back("beta");
    } else {
      spec = {{"dy", "x", "alpha", "gamma"}, {"dx", "dalpha", "dgamma"}, {}, {}};
      if (has_beta(problem)) spec.outputs.push_back("dbeta");
    }
    return spec;
  }
  Traffic traffic(Pass pass, const Problem& problem) const override { return dyt::traffic(pass, problem); }
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    dyt::reference(pass, problem, values);
  }
  // Rounded once; tanh within 4 units of fp32 and the handful of roundings around it. 1 - tanh^2 loses digits where it is
  // small, not against its scale.
  double tolerance(Pass, const std::string& tensor, const Problem& problem) const override {
    const double once = 1.5 * unit_roundoff(problem.dtype) + 0x1p-20;
    if (tensor == "dalpha") return once + sum_error(problem.rows * problem.columns);
    return tensor == "y" || tensor == "dx" ? once : once + sum_error(problem.rows);
  }
  // dalpha is one sum over all elements, whose terms' errors are as independent as the terms: their norm is its size.
  double value_scale(Pass pass, const std::string& tensor, const Problem& problem, const Values& inputs,
                     const Values& results) const override {
    if (tensor != "dalpha") return Operation::value_scale(pass, tensor, problem, inputs, results);
    const std::vector<double>&x = inputs.at("x"), &dx = results.at("dx");
    const double alpha = inputs.at("alpha").at(0);
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double term = x[i] * dx[i] / alpha;
      if (std::isfinite(term)) squares += term * term;
    }
    return std::sqrt(squares);
  }
  Plan eager_plan(Pass pass, const Problem& problem, const Target& target) const override;

 protected:
  RowSpace space(Pass pass) const override { return dyt::space(pass); }
  RowSpace space(Pass pass, const Problem& problem) const override { return dyt::space(pass, problem); }
  Plan launches(Pass pass, const Problem& problem, const RowConfig& config) const override {
    return pass == Pass::forward ? dyt_forward_plan(problem, config) : dyt_backward_plan(problem, config);
  }
  std::vector<std::pair<std::string, std::string>> option_defines(const Problem& problem) const override {
    return {{"HAS_BETA", has_beta(problem) ? "1" : "0"}};
  }
};

// alpha * x, tanh, * gamma, + beta; and the chain rule through them.
Plan Dyt::eager_plan(Pass pass, const Problem& problem, const Target& target) const {
  EagerPlan plan("kernels/dyt/dyt_eager.hpp", pass, problem, problem.dtype, target);
  const Operand x = plan.matrix("x"), t = plan.temporary("tanh", problem.dtype);
  const bool beta = has_beta(problem);
  if (pass == Pass::forward) {
    const Operand scaled = plan.temporary("scaled", problem.dtype), y = plan.matrix("y");
    plan.over_rows("eager_scale", {scaled, x}, {"alpha"});
    plan.over_rows("eager_tanh_plain", {t, scaled});
    const Operand product = beta ? plan.temporary("product", problem.dtype) : y;
    plan.over_rows("eager_scale_columns", {product, t}, {"gamma"});
    if (beta) plan.over_rows("eager_add_columns", {y, product}, {"beta"});
    return plan.take();
  }
  const Operand dy = plan.matrix("dy"), terms = plan.temporary("gamma_terms", problem.dtype),
                dt = plan.temporary("dtanh", problem.dtype), u = plan.temporary("dscaled", problem.dtype),
                products = plan.temporary("alpha_terms", DType::fp32);
  const Operand sums = plan.vector("alpha_sums", DType::fp32, problem.rows);
  plan.over_rows("eager_tanh", {t, x}, {"alpha"});
  if (beta) plan.column_sum("dbeta", dy);
  plan.over_rows("eager_multiply", {terms, dy, t});
  plan.column_sum("dgamma", terms);
  plan.over_rows("eager_scale_columns", {dt, dy}, {"gamma"});
  plan.over_rows("eager_tanh_backward", {u, dt, t});
  plan.over_rows("eager_scale", {plan.matrix("dx"), u}, {"alpha"});
  plan.over_rows("eager_multiply_wide", {products, u, x});
  plan.row_reduction("eager_sum", sums.name, products, 1);
  plan.launch("eager_sum_of_vector", 1, {tensor("dalpha"), tensor(sums.name), problem.rows});
  return plan.take();
}

}  // namespace

std::unique_ptr<Operation> make_dyt() { return std::make_unique<Dyt>(); }

}  // namespace kernels

// DyT as an operation of the catalogue.
#include <cmath>

#include "kernels/catalog/row_operation.hpp"
#include "kernels/dyt/dyt_reference.hpp"

namespace kernels {
namespace {

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
           "rows of dy * tanh(alpha x); dbeta = sum over rows of dy\n"
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
        "tanh, products and sums in fp32; " + rounding_note(problem),
        "fp32 throughout, one rounding of each result",
        "one map over each row; backward accumulates dgamma and dbeta for each column and dalpha over all elements of "
        "a program, then sums the programs",
        "ELEMENT, HAS_BETA, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH, STREAMING_STORES"};
  }
  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    std::vector<TensorSpec> tensors = row_matrices({"x", "y", "dy", "dx"}, problem);
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
    PassSpec spec = {{"x", "alpha", "gamma"}, {"y"}, {}, {}};
    if (pass == Pass::backward) spec = {{"dy", "x", "alpha", "gamma"}, {"dx", "dalpha", "dgamma"}, {}, {}};
    if (has_beta(problem)) pass == Pass::forward ? spec.inputs.push_back("beta") : spec.outputs.push_back("dbeta");
    return spec;
  }
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

 protected:
  RowSpace space(Pass pass) const override {
    RowSpace space;
    space.rows_share = true;
    space.most_vectors = 4;  // the exponential in tanh takes a dozen registers beside each vector in flight
    space.streamed_operands = 1;
    space.shared_rows = 2;
    space.registers = 20;
    space.registers_per_vector = 20;
    if (pass == Pass::backward) {
      space.streamed_operands = 2;
      space.unrolls = {1, 2};
      space.has_programs_per_thread = true;
      space.registers = 36;
      space.registers_per_vector = 44;
    }
    return space;
  }
  // tanh counted as one: forward the product, tanh, the product and the sum; backward the product, tanh, u (4), dx, dgamma (2),
  // dalpha (2), dbeta.
  double operations(Pass pass, const Problem& problem) const override {
    return (pass == Pass::forward ? 3 : 11) + (has_beta(problem) ? 1 : 0);
  }
  void add_launches(RowPlan& plan, Pass pass, const Problem& problem) const override {
    const bool beta = has_beta(problem);
    if (pass == Pass::forward) {
      plan.over_rows("dyt_forward", {"y", "x"}, {"alpha", "gamma", beta ? "beta" : ""});
      return;
    }
    const std::int64_t programs =
        plan.accumulate_rows("dyt_backward", {"dx", "dy", "x"},
                             {"alpha", "gamma", "dalpha_partial", "dgamma_partial", beta ? "dbeta_partial" : ""});
    std::vector<RowSum> sums = {{"dgamma", problem.columns}, {"dalpha", 1}};
    if (beta) sums.insert(sums.begin() + 1, {"dbeta", problem.columns});
    plan.column_sums("dyt_column_sums", sums, programs);
  }
  DType eager_dtype(const Problem& problem) const override { return problem.dtype; }
  void add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const override;
  Defines option_defines(const Problem& problem) const override { return {{"HAS_BETA", flag(has_beta(problem))}}; }

 private:
  static bool has_beta(const Problem& problem) { return flag_option(problem, "beta"); }
};

// alpha * x, tanh, * gamma, + beta; and the chain rule through them.
void Dyt::add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const {
  const Operand t = plan.temporary("tanh");
  const bool beta = has_beta(problem);
  if (pass == Pass::forward) {
    const Operand scaled = plan.temporary("scaled");
    plan.over_rows("eager_scale", {scaled, "x"}, {"alpha"});
    plan.over_rows("eager_tanh_plain", {t, scaled});
    const Operand product = beta ? plan.temporary("product") : "y";
    plan.over_rows("eager_scale_columns", {product, t}, {"gamma"});
    if (beta) plan.over_rows("eager_add_columns", {"y", product}, {"beta"});
    return;
  }
  const Operand terms = plan.temporary("gamma_terms"), dt = plan.temporary("dtanh"), u = plan.temporary("dscaled"),
                products = plan.temporary("alpha_terms", DType::fp32);
  const std::string sums = plan.vector("alpha_sums", problem.rows, DType::fp32).name;
  plan.over_rows("eager_tanh", {t, "x"}, {"alpha"});
  if (beta) plan.column_sum("dbeta", "dy");
  plan.over_rows("eager_multiply", {terms, "dy", t});
  plan.column_sum("dgamma", terms);
  plan.over_rows("eager_scale_columns", {dt, "dy"}, {"gamma"});
  plan.over_rows("eager_tanh_backward", {u, dt, t});
  plan.over_rows("eager_scale", {"dx", u}, {"alpha"});
  plan.over_rows("eager_multiply_wide", {products, u, "x"});
  plan.row_reduction("eager_sum", sums, products, 1);
  plan.launch("eager_sum_of_vector", 1, {tensor("dalpha"), tensor(sums), problem.rows});
}

}  // namespace

std::unique_ptr<Operation> make_dyt() { return std::make_unique<Dyt>(); }

}  // namespace kernels

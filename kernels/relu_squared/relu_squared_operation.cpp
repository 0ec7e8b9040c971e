// Squared ReLU as an operation of the catalogue.
#include "kernels/relu_squared/relu_squared_operation.hpp"

#include "kernels/catalog/eager_plan.hpp"
#include "kernels/catalog/row_operation.hpp"
#include "kernels/relu_squared/relu_squared_config.hpp"
#include "kernels/relu_squared/relu_squared_reference.hpp"
#include "kernels/relu_squared/relu_squared_traffic.hpp"

namespace kernels {
namespace {

class ReluSquared final : public RowOperation {
 public:
  std::string name() const override { return "relu_squared"; }
  int tier() const override { return 1; }
  std::string tier_reason() const override { return "each element depends on its own inputs alone"; }
  std::string formula() const override {
    return "forward: y = max(x, 0)^2\n"
           "backward: dx = 2 * max(x, 0) * dy\n"
           "(So et al. 2021, arXiv:2109.08668)";
  }
  std::vector<OptionSpec> options() const override {
    return {{"in_place", {"no", "yes"}, "whether backward writes dx over dy"}};
  }
  SourceNotes source_notes(const Problem& problem) const override {
    return {"unit stride along a row, rows contiguous or padded; each element is read once",
            "with STREAMING_STORES = 1 the rows of y and dx bypass the caches",
            flag_option(problem, "in_place") ? "backward writes dx over dy, element by element after reading"
                                             : "none: dx has memory of its own",
            "nothing is saved besides the input; the maximum is recomputed in backward",
            "none: a maximum and products in fp32, results rounded to the type, to nearest even",
            "fp32 inside",
            "one map over each row",
            "ELEMENT, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH, STREAMING_STORES"};
  }
  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    std::vector<TensorSpec> tensors;
    for (const char* name : {"x", "y", "dy"}) tensors.push_back(row_matrix(name, problem));
    if (!flag_option(problem, "in_place")) tensors.push_back(row_matrix("dx", problem));
    return tensors;
  }
  PassSpec pass(Pass pass, const Problem& problem) const override {
    if (pass == Pass::forward) return {{"x"}, {"y"}, {}, {}};
    PassSpec spec = {{"dy", "x"}, {dx_name(problem)}, {}, {}};
    if (flag_option(problem, "in_place")) spec.overwritten = {"dy"};
    return spec;
  }
  Traffic traffic(Pass pass, const Problem& problem) const override { return relu_squared::traffic(pass, problem); }
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    relu_squared::reference(pass, problem, values);
  }
  // The rounding of the result, and two in fp32.
  double tolerance(Pass, const std::string&, const Problem& problem) const override {
    return 1.5 * unit_roundoff(problem.dtype) + 0x1p-22;
  }
  Plan eager_plan(Pass pass, const Problem& problem, const Target& target) const override;

 protected:
  RowSpace space(Pass pass) const override { return relu_squared::space(pass); }
  RowSpace space(Pass pass, const Problem& problem) const override { return relu_squared::space(pass, problem); }
  Plan launches(Pass pass, const Problem& problem, const RowConfig& config) const override {
    Plan plan;
    if (pass == Pass::forward) {
      plan.launches = {independent_launch("relu_squared_forward", {"y", "x"}, problem, config)};
    } else {
      plan.launches = {independent_launch("relu_squared_backward", {dx_name(problem), "dy", "x"}, problem, config)};
    }
    return plan;
  }
};

// relu, then the square. Backward 2 h, times dy, then zero where h is not positive, for which x serves as well as h.
Plan ReluSquared::eager_plan(Pass pass, const Problem& problem, const Target& target) const {
  EagerPlan plan("kernels/relu_squared/relu_squared_eager.hpp", pass, problem, problem.dtype, target);
  const Operand x = plan.matrix("x");
  if (pass == Pass::forward) {
    const Operand positive = plan.temporary("positive", problem.dtype);
    plan.over_rows("eager_relu", {positive, x});
    plan.over_rows("eager_square", {plan.matrix("y"), positive});
    return plan.take();
  }
  const Operand doubled = plan.temporary("doubled", problem.dtype), product = plan.temporary("product", problem.dtype);
  plan.over_rows("eager_scale", {doubled, x}, {}, {2, 0});
  plan.over_rows("eager_multiply", {product, doubled, plan.matrix("dy")});
  plan.over_rows("eager_relu_backward", {plan.matrix(dx_name(problem)), product, x});
  return plan.take();
}

}  // namespace

std::unique_ptr<Operation> make_relu_squared() { return std::make_unique<ReluSquared>(); }

}  // namespace kernels

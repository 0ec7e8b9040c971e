// Squared ReLU as an operation of the catalogue.
#include "kernels/catalog/row_operation.hpp"
#include "kernels/relu_squared/relu_squared_reference.hpp"

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
            in_place(problem) ? "backward writes dx over dy, element by element after reading"
                              : "none: dx has memory of its own",
            "nothing is saved besides the input; the maximum is recomputed in backward",
            "none: a maximum and products in fp32, results rounded to the type, to nearest even",
            "fp32 inside",
            "one map over each row",
            "ELEMENT, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH, STREAMING_STORES"};
  }
  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    if (in_place(problem)) return row_matrices({"x", "y", "dy"}, problem);
    return row_matrices({"x", "y", "dy", "dx"}, problem);
  }
  PassSpec pass(Pass pass, const Problem& problem) const override {
    if (pass == Pass::forward) return {{"x"}, {"y"}, {}, {}};
    PassSpec spec = {{"dy", "x"}, {dx_name(problem)}, {}, {}};
    if (in_place(problem)) spec.overwritten = {"dy"};
    return spec;
  }
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    relu_squared::reference(pass, problem, values);
  }
  // The rounding of the result, and two in fp32.
  double tolerance(Pass, const std::string&, const Problem& problem) const override {
    return 1.5 * unit_roundoff(problem.dtype) + 0x1p-22;
  }

 protected:
  RowSpace space(Pass pass) const override {
    RowSpace space;
    space.block_rows = {1, 2};  // rows share nothing: two of them are two more streams, no reuse
    const bool forward = pass == Pass::forward;
    space.streamed_operands = forward ? 1 : 2;
    space.registers = 16;
    space.registers_per_vector = forward ? 8 : 12;
    return space;
  }
  // Forward a maximum and a product; backward a maximum and two products.
  double operations(Pass pass, const Problem&) const override { return pass == Pass::forward ? 2 : 3; }
  void add_launches(RowPlan& plan, Pass pass, const Problem& problem) const override {
    if (pass == Pass::forward) {
      plan.over_rows("relu_squared_forward", {"y", "x"});
    } else {
      plan.over_rows("relu_squared_backward", {dx_name(problem), "dy", "x"});
    }
  }
  DType eager_dtype(const Problem& problem) const override { return problem.dtype; }
  // relu, then the square. Backward 2 h, times dy, then zero where h is not positive, for which x serves as well as h.
  void add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const override {
    if (pass == Pass::forward) {
      const Operand positive = plan.temporary("positive");
      plan.over_rows("eager_relu", {positive, "x"});
      plan.over_rows("eager_square", {"y", positive});
      return;
    }
    const Operand doubled = plan.temporary("doubled"), product = plan.temporary("product");
    plan.over_rows("eager_scale", {doubled, "x"}, {}, {2, 0});
    plan.over_rows("eager_multiply", {product, doubled, "dy"});
    plan.over_rows("eager_relu_backward", {dx_name(problem), product, "x"});
  }
};

}  // namespace

std::unique_ptr<Operation> make_relu_squared() { return std::make_unique<ReluSquared>(); }

}  // namespace kernels

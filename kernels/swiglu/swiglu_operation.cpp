// SwiGLU as an operation of the catalogue.
#include "kernels/swiglu/swiglu_operation.hpp"

#include "kernels/catalog/eager_plan.hpp"
#include "kernels/catalog/row_operation.hpp"
#include "kernels/swiglu/swiglu_config.hpp"
#include "kernels/swiglu/swiglu_reference.hpp"
#include "kernels/swiglu/swiglu_traffic.hpp"

namespace kernels {
namespace {

float multiplier(const Problem& problem) { return float(number_option(problem, "gate_multiplier")); }

class Swiglu final : public RowOperation {
 public:
  std::string name() const override { return "swiglu"; }
  int tier() const override { return 1; }
  std::string tier_reason() const override { return "each element depends on its own inputs alone"; }
  std::string formula() const override {
    return "forward: c = silu(s a) * b, silu(x) = x * sigmoid(x), s = gate_multiplier\n"
           "backward: da = dc * b * s * silu'(s a), db = dc * silu(s a); silu(s a) is recomputed\n"
           "(Shazeer 2020, arXiv:2002.05202)";
  }
  std::vector<OptionSpec> options() const override {
    return {{"gate_multiplier", {}, "scales the gate before silu", "1", {"1", "0.75"}},
            {"in_place", {"no", "yes"}, "whether backward writes da over a and db over b"}};
  }
  SourceNotes source_notes(const Problem& problem) const override {
    return {"unit stride along a row, rows contiguous or padded; each element is read once",
            "with STREAMING_STORES = 1 the rows of c, da and db bypass the caches",
            flag_option(problem, "in_place")
                ? "backward writes da over a and db over b, element by element after reading"
                : "none: da and db have memory of their own",
            "nothing is saved besides the inputs; silu(s a) is recomputed in backward",
            "sigmoid and products in fp32; silu(s a) and the results rounded to the type, to nearest even",
            "silu in fp32, rounded to the type before the product with b",
            "one map over each row",
            "ELEMENT, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH, STREAMING_STORES"};
  }
  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    std::vector<TensorSpec> tensors;
    for (const char* name : {"a", "b", "c", "dc"}) tensors.push_back(row_matrix(name, problem));
    if (!flag_option(problem, "in_place")) {
      for (const char* name : {"da", "db"}) tensors.push_back(row_matrix(name, problem));
    }
    return tensors;
  }
  PassSpec pass(Pass pass, const Problem& problem) const override {
    if (pass == Pass::forward) return {{"a", "b"}, {"c"}, {}, {}};
    if (flag_option(problem, "in_place")) return {{"dc", "a", "b"}, {"a", "b"}, {"a", "b"}, {}};
    return {{"dc", "a", "b"}, {"da", "db"}, {}, {}};
  }
  Traffic traffic(Pass pass, const Problem& problem) const override { return swiglu::traffic(pass, problem); }
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    swiglu::reference(pass, problem, values);
  }
  // The rounding of the result and of silu (forward), each half a unit; the exponential within 1.5 units of fp32 and the
  // handful of roundings behind it.
  double tolerance(Pass pass, const std::string&, const Problem& problem) const override {
    return (pass == Pass::forward ? 3 : 1.5) * unit_roundoff(problem.dtype) + 0x1p-20;
  }
  Plan eager_plan(Pass pass, const Problem& problem, const Target& target) const override;

 protected:
  RowSpace space(Pass pass) const override { return swiglu::space(pass); }
  RowSpace space(Pass pass, const Problem& problem) const override { return swiglu::space(pass, problem); }
  Plan launches(Pass pass, const Problem& problem, const RowConfig& config) const override {
    const bool in_place = flag_option(problem, "in_place");
    Plan plan;
    if (pass == Pass::forward) {
      plan.launches = {independent_launch("swiglu_forward", {"c", "a", "b"}, problem, config, {multiplier(problem)})};
    } else {
      plan.launches = {independent_launch("swiglu_backward",
                                          {in_place ? "a" : "da", in_place ? "b" : "db", "dc", "a", "b"}, problem,
                                          config, {multiplier(problem)})};
    }
    return plan;
  }
};

// c = silu(s * a) * b: a framework's three operations (two when s is 1), and the chain rule through them.
Plan Swiglu::eager_plan(Pass pass, const Problem& problem, const Target& target) const {
  EagerPlan plan("kernels/swiglu/swiglu_eager.hpp", pass, problem, problem.dtype, target);
  const Operand a = plan.matrix("a"), b = plan.matrix("b");
  const bool scales = multiplier(problem) != 1;
  Operand gate = a;
  if (scales)
    plan.over_rows("eager_scale", {gate = plan.temporary("gate", problem.dtype), a}, {}, {multiplier(problem), 0});
  if (pass == Pass::forward) {
    const Operand silu = plan.temporary("silu", problem.dtype);
    plan.over_rows("eager_silu", {silu, gate});
    plan.over_rows("eager_multiply", {plan.matrix("c"), silu, b});
    return plan.take();
  }
  const bool in_place = flag_option(problem, "in_place");
  const Operand dc = plan.matrix("dc"), da = plan.matrix(in_place ? "a" : "da"),
                db = plan.matrix(in_place ? "b" : "db");
  const Operand dsilu = plan.temporary("dsilu", problem.dtype);
  plan.over_rows("eager_multiply", {dsilu, dc, b});
  plan.over_rows("eager_multiply_by_silu", {db, dc, gate});
  const Operand dgate = scales ? plan.temporary("dgate", problem.dtype) : da;
  plan.over_rows("eager_silu_backward", {dgate, dsilu, gate});
  if (scales) plan.over_rows("eager_scale", {da, dgate}, {}, {multiplier(problem), 0});
  return plan.take();
}

}  // namespace

std::unique_ptr<Operation> make_swiglu() { return std::make_unique<Swiglu>(); }

}  // namespace kernels

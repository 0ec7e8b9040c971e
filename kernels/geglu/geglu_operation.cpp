// GEGLU as an operation of the catalogue.
#include "kernels/geglu/geglu_operation.hpp"

#include "kernels/catalog/eager_plan.hpp"
#include "kernels/catalog/row_operation.hpp"
#include "kernels/geglu/geglu_config.hpp"
#include "kernels/geglu/geglu_reference.hpp"
#include "kernels/geglu/geglu_traffic.hpp"

namespace kernels {
namespace {

class Geglu final : public RowOperation {
 public:
  std::string name() const override { return "geglu"; }
  int tier() const override { return 1; }
  std::string tier_reason() const override { return "each element depends on its own inputs alone"; }
  std::string formula() const override {
    return "forward: c = gelu(a) * b, gelu(a) = a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 a^3)))\n"
           "backward: da = dc * b * gelu'(a), db = dc * gelu(a); gelu(a) is recomputed\n"
           "(Shazeer 2020, arXiv:2002.05202; Hendrycks and Gimpel 2016, arXiv:1606.08415)";
  }
  std::vector<OptionSpec> options() const override {
    return {{"in_place", {"no", "yes"}, "whether backward writes da over a and db over b"}};
  }
  SourceNotes source_notes(const Problem& problem) const override {
    return {"unit stride along a row, rows contiguous or padded; each element is read once",
            "with STREAMING_STORES = 1 the rows of c, da and db bypass the caches",
            flag_option(problem, "in_place")
                ? "backward writes da over a and db over b, element by element after reading"
                : "none: da and db have memory of their own",
            "nothing is saved besides the inputs; gelu(a) is recomputed in backward",
            "sigmoid and products in fp32; gelu(a) and the results rounded to the type, to nearest even",
            "gelu in fp32, rounded to the type before each product",
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
  Traffic traffic(Pass pass, const Problem& problem) const override { return geglu::traffic(pass, problem); }
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    geglu::reference(pass, problem, values);
  }
  // The roundings of gelu(a) and of the result, each half a unit; the exponential within 2 units of fp32, whose argument
  // 2 z is rounded itself (times |z|), and the handful of roundings behind it. The gradient of a takes those
  // roundings whole: its sigmoid is off by 3 |z| units beside the exponential's, |2 z| = 6.7 where a = -3 and the derivative is
  // still 1 % of its largest value, and it is the difference of two terms that are 1.3 times as large together: 28 units of fp32.
  double tolerance(Pass pass, const std::string& tensor, const Problem& problem) const override {
    const bool of_gate = pass == Pass::backward && (tensor == "da" || tensor == "a");
    const double roundings = tensor == "da" || tensor == "a" ? 1.5 : 3;
    return roundings * unit_roundoff(problem.dtype) + (of_gate ? 0x1p-19 : 0x1p-20);
  }
  Plan eager_plan(Pass pass, const Problem& problem, const Target& target) const override;

 protected:
  RowSpace space(Pass pass) const override { return geglu::space(pass); }
  RowSpace space(Pass pass, const Problem& problem) const override { return geglu::space(pass, problem); }
  Plan launches(Pass pass, const Problem& problem, const RowConfig& config) const override {
    const bool in_place = flag_option(problem, "in_place");
    Plan plan;
    if (pass == Pass::forward) {
      plan.launches = {independent_launch("geglu_forward", {"c", "a", "b"}, problem, config)};
    } else {
      plan.launches = {independent_launch(
          "geglu_backward", {in_place ? "a" : "da", in_place ? "b" : "db", "dc", "a", "b"}, problem, config)};
    }
    return plan;
  }
};

// gelu(a), * b: a framework's two operations, and the chain rule through them.
Plan Geglu::eager_plan(Pass pass, const Problem& problem, const Target& target) const {
  EagerPlan plan("kernels/geglu/geglu_eager.hpp", pass, problem, problem.dtype, target);
  const Operand a = plan.matrix("a"), b = plan.matrix("b");
  if (pass == Pass::forward) {
    const Operand gelu = plan.temporary("gelu", problem.dtype);
    plan.over_rows("eager_gelu", {gelu, a});
    plan.over_rows("eager_multiply", {plan.matrix("c"), gelu, b});
    return plan.take();
  }
  const bool in_place = flag_option(problem, "in_place");
  const Operand dc = plan.matrix("dc"), dgelu = plan.temporary("dgelu", problem.dtype);
  plan.over_rows("eager_multiply", {dgelu, dc, b});
  plan.over_rows("eager_multiply_by_gelu", {plan.matrix(in_place ? "b" : "db"), dc, a});
  plan.over_rows("eager_gelu_backward", {plan.matrix(in_place ? "a" : "da"), dgelu, a});
  return plan.take();
}

}  // namespace

std::unique_ptr<Operation> make_geglu() { return std::make_unique<Geglu>(); }

}  // namespace kernels

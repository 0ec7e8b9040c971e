// SwiGLU as an operation of the catalogue.
#include "kernels/catalog/gated_operation.hpp"
#include "kernels/swiglu/swiglu_reference.hpp"

namespace kernels {
namespace {

class Swiglu final : public GatedOperation {
 public:
  Swiglu() : GatedOperation({"silu", "silu(s a)", "the product with b"}) {}

  std::string name() const override { return "swiglu"; }
  std::string formula() const override {
    return "forward: c = silu(s a) * b, silu(x) = x * sigmoid(x), s = gate_multiplier\n"
           "backward: da = dc * b * s * silu'(s a), db = dc * silu(s a); silu(s a) is recomputed\n"
           "(Shazeer 2020, arXiv:2002.05202)";
  }
  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> options = GatedOperation::options();
    options.insert(options.begin(), {"gate_multiplier", {}, "scales the gate before silu", "1", {"1", "0.75"}});
    return options;
  }
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    swiglu::reference(pass, problem, values);
  }
  // The rounding of the result and of silu (forward), each half a unit; the exponential within 1.5 units of fp32 and the
  // handful of roundings behind it.
  double tolerance(Pass pass, const std::string&, const Problem& problem) const override {
    return (pass == Pass::forward ? 3 : 1.5) * unit_roundoff(problem.dtype) + 0x1p-20;
  }

 protected:
  std::optional<float> multiplier(const Problem& problem) const override {
    return float(number_option(problem, "gate_multiplier"));
  }
  RowSpace space(Pass pass) const override {
    RowSpace space = GatedOperation::space(pass);
    space.registers_per_vector = pass == Pass::forward ? 12 : 17;
    return space;
  }
  // An exponential and a division counted as one each: forward s a, exp, + 1, division, silu, product; backward those five and
  // 1 - sigmoid, silu * (), + sigmoid, dc * b, * s, the product for da, the product for db.
  double operations(Pass pass, const Problem&) const override { return pass == Pass::forward ? 6 : 12; }
};

}  // namespace

std::unique_ptr<Operation> make_swiglu() { return std::make_unique<Swiglu>(); }

}  // namespace kernels

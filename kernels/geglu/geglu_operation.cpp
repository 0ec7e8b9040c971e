// GEGLU as an operation of the catalogue.
#include "kernels/catalog/gated_operation.hpp"
#include "kernels/geglu/geglu_reference.hpp"

namespace kernels {
namespace {

class Geglu final : public GatedOperation {
 public:
  Geglu() : GatedOperation({"gelu", "gelu(a)", "each product"}) {}

  std::string name() const override { return "geglu"; }
  std::string formula() const override {
    return "forward: c = gelu(a) * b, gelu(a) = a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 a^3)))\n"
           "backward: da = dc * b * gelu'(a), db = dc * gelu(a); gelu(a) is recomputed\n"
           "(Shazeer 2020, arXiv:2002.05202; Hendrycks and Gimpel 2016, arXiv:1606.08415)";
  }
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

 protected:
  RowSpace space(Pass pass) const override {
    RowSpace space = GatedOperation::space(pass);
    space.registers_per_vector = pass == Pass::forward ? 14 : 19;
    return space;
  }
  // An exponential and a division counted as one each: forward z (4), exp, + 1, division, gelu, product; backward z and sigmoid
  // (7), gelu, its derivative (5), dc * b, the product for da, the product for db.
  double operations(Pass pass, const Problem&) const override { return pass == Pass::forward ? 9 : 16; }
};

}  // namespace

std::unique_ptr<Operation> make_geglu() { return std::make_unique<Geglu>(); }

}  // namespace kernels

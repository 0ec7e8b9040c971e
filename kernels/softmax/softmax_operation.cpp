// Softmax as an operation of the catalogue.
#include <algorithm>
#include <cmath>

#include "kernels/catalog/row_operation.hpp"
#include "kernels/softmax/softmax_reference.hpp"

namespace kernels {
namespace {

class Softmax final : public RowOperation {
 public:
  std::string name() const override { return "softmax"; }
  int tier() const override { return 2; }
  std::string tier_reason() const override {
    return "each row is reduced (maximum and sum forward, a dot product backward) before any of it can be written";
  }
  std::string formula() const override {
    return "forward: y = e^(x - max(x)) / sum(e^(x - max(x)))\n"
           "backward: dx = y * (dy - sum(dy * y))\n"
           "(online form: Milakov and Gimelshein 2018, arXiv:1805.02867)";
  }
  std::vector<OptionSpec> options() const override { return {}; }
  SourceNotes source_notes(const Problem& problem) const override {
    return {
        "unit stride along a row, rows contiguous or padded; each row is read twice by its core, the second time from "
        "its caches",
        "with STREAMING_STORES = 1 the rows of y and dx bypass the caches; everything else is cached",
        "none: y and dx have memory of their own",
        "y is saved; x is not read in backward",
        "exponentials and sums in fp32; " + rounding_note(problem),
        "fp32 throughout, one rounding of each result",
        "maximum and sum of exponentials in one reading of a row, then a map; backward a dot product, then a map",
        "ELEMENT, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH_ROWS, STREAMING_STORES"};
  }
  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    return row_matrices({"x", "y", "dy", "dx"}, problem);
  }
  PassSpec pass(Pass pass, const Problem&) const override {
    if (pass == Pass::forward) return {{"x"}, {"y"}, {}, {"y"}};
    return {{"dy", "y"}, {"dx"}, {}, {}};
  }
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    softmax::reference(pass, problem, values);
  }
  // Rounded once; in fp32 the argument x - m, whose rounding is an error of that size relative to the exponential, the
  // exponential's two units and the sum.
  double tolerance(Pass, const std::string&, const Problem& problem) const override {
    return 1.5 * unit_roundoff(problem.dtype) + sum_error(problem.columns) + 0x1p-20;
  }
  // dx = y dy - y dot: what cancels are terms as large as the largest y times the size of dy.
  double value_scale(Pass pass, const std::string& tensor, const Problem& problem, const Values& inputs,
                     const Values& results) const override {
    const double least = smallest_normal(problem.dtype);  // shares of long rows are smaller in fp16
    if (pass == Pass::forward) return std::max(least, Operation::value_scale(pass, tensor, problem, inputs, results));
    double largest = 0;
    for (const double y : inputs.at("y")) largest = std::isfinite(y) ? std::max(largest, y) : largest;
    return std::max(least, largest * root_mean_square(inputs.at("dy")));
  }

 protected:
  RowSpace space(Pass pass) const override {
    RowSpace space;
    space.reads_rows_twice = true;
    space.block_rows = {1, 2};  // rows share nothing: two of them are two more streams, no reuse
    space.streamed_operands = pass == Pass::forward ? 1 : 2;
    // The exponential takes a dozen registers beside a vector in flight.
    if (pass == Pass::forward) space.most_vectors = 4;
    space.registers = 16;
    space.registers_per_vector = pass == Pass::forward ? 12 : 14;
    return space;
  }
  // An exponential counted as one: forward a comparison, a difference, exp, a sum, and again a difference, exp and the product;
  // backward the dot product (2), the difference, the product.
  double operations(Pass pass, const Problem&) const override { return pass == Pass::forward ? 7 : 4; }
  void add_launches(RowPlan& plan, Pass pass, const Problem&) const override {
    if (pass == Pass::forward) {
      plan.over_rows("softmax_forward", {"y", "x"});
    } else {
      plan.over_rows("softmax_backward", {"dx", "dy", "y"});
    }
  }
  // max, x - max, exp, sum, / sum; and the chain rule: dy * y, sum, dy - sum, * y.
  void add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const override {
    if (pass == Pass::forward) {
      const Operand shifted = plan.temporary("shifted"), powers = plan.temporary("powers");
      const Operand largest = plan.vector("largest", problem.rows), sum = plan.vector("sum", problem.rows);
      plan.row_reduction("eager_maximum", largest.name, "x", 1);
      plan.over_rows("eager_subtract_rows", {shifted, "x"}, {largest.name});
      plan.over_rows("eager_exponential", {powers, shifted});
      plan.row_reduction("eager_sum", sum.name, powers, 1);
      plan.over_rows("eager_divide_rows", {"y", powers}, {sum.name});
      return;
    }
    const Operand products = plan.temporary("products"), rest = plan.temporary("rest"),
                  dot = plan.vector("dot", problem.rows);
    plan.over_rows("eager_multiply", {products, "dy", "y"});
    plan.row_reduction("eager_sum", dot.name, products, 1);
    plan.over_rows("eager_subtract_rows", {rest, "dy"}, {dot.name});
    plan.over_rows("eager_multiply_down", {"dx", rest, "y"});
  }
};

}  // namespace

std::unique_ptr<Operation> make_softmax() { return std::make_unique<Softmax>(); }

}  // namespace kernels

// RMSNorm as an operation of the catalogue.
#include "kernels/catalog/rms_operation.hpp"
#include "kernels/rms_norm/rms_norm_reference.hpp"

namespace kernels {
namespace {

class RmsNorm final : public RmsOperation {
 public:
  RmsNorm() : RmsOperation("x", false) {}

  std::string name() const override { return "rms_norm"; }
  std::string formula() const override {
    return "forward: y = x * rstd * (offset + w), rstd = 1 / sqrt(mean(x^2) + eps)\n"
           "backward: dx = rstd * m - x * rstd^3 / n * sum(m * x), m = dy * (offset + w); dw = sum over rows of dy * x "
           "* rstd\n"
           "(Zhang and Sennrich 2019, arXiv:1910.07467)";
  }
  SourceNotes source_notes(const Problem& problem) const override {
    return {
        "unit stride along a row, rows contiguous or padded; each row is read twice by its core, the second time from "
        "its caches",
        "with STREAMING_STORES = 1 the rows of y and dx bypass the caches; everything else is cached",
        in_place(problem) ? "backward writes dx over dy, element by element after reading it"
                          : "none: dx has memory of its own",
        "rstd is saved (one value a row); x * rstd is recomputed in backward",
        "sums, rstd and products in fp32; " + rounding_note(problem),
        casting(problem),
        "a reduction over the row, then a map; backward accumulates dw over the rows of a program, then sums the "
        "programs",
        "ELEMENT, CASTING_MODE, HAS_WEIGHT, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH, STREAMING_STORES"};
  }
  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    std::vector<TensorSpec> tensors = {row_matrix("x", problem), row_matrix("y", problem), rstd_tensor(problem),
                                       row_matrix("dy", problem)};
    if (!in_place(problem)) tensors.push_back(row_matrix("dx", problem));
    if (has_weight(problem)) {
      tensors.push_back(weight_tensor(problem));
      tensors.push_back(row_vector("dweight", problem));
    }
    return tensors;
  }
  PassSpec pass(Pass pass, const Problem& problem) const override {
    PassSpec spec = {{"x"}, {"y", "rstd"}, {}, {"rstd"}};
    if (pass == Pass::backward) {
      spec = {{"dy", "x", "rstd"}, {dx_name(problem)}, {}, {}};
      if (in_place(problem)) spec.overwritten = {"dy"};
      if (has_weight(problem)) spec.outputs.push_back("dweight");
    }
    if (has_weight(problem)) spec.inputs.push_back("weight");
    return spec;
  }
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    rms_norm::reference(pass, problem, values);
  }

 protected:
  OptionSpec own_option() const override {
    return {"weight", {"yes", "no"}, "whether there is a weight (elementwise affine)"};
  }
  bool has_weight(const Problem& problem) const override { return flag_option(problem, "weight"); }

  RowSpace space(Pass pass) const override {
    RowSpace space;
    space.reads_rows_twice = true;
    space.sums_then_maps = pass == Pass::forward;  // backward was not faster so: two operands are read twice
    space.sums_beside_pay = pass == Pass::forward;
    space.shared_rows = 1;
    space.streamed_operands = 1;
    space.registers = 16;
    space.registers_per_vector = 12;
    if (pass == Pass::backward) {
      // Two operands, a weight, two results and an accumulator for each vector.
      space.unrolls = {1, 2};
      space.most_vectors = 4;
      space.has_programs_per_thread = true;
      space.streamed_operands = 2;
      space.registers = 36;
      space.registers_per_vector = 36;
    }
    return space;
  }
  void fit(RowSpace& space, Pass, const Problem& problem) const override { space.rows_share = has_weight(problem); }
  // Forward a product and a sum for the mean square, a product with rstd, a sum with the offset, a product with the weight;
  // backward the product m = dy * (offset + w) (2), the dot product (2), dx (3), x * rstd and dw (3).
  double operations(Pass pass, const Problem& problem) const override {
    if (pass == Pass::forward) return has_weight(problem) ? 5 : 3;
    return has_weight(problem) ? 10 : 5;
  }
  void add_launches(RowPlan& plan, Pass pass, const Problem& problem) const override {
    const bool weight = has_weight(problem);
    if (pass == Pass::forward) {
      plan.over_rows("rms_norm_forward", {"y", "x"}, {weight ? "weight" : "", "rstd"}, {eps(problem), offset(problem)});
      return;
    }
    const std::int64_t programs =
        plan.accumulate_rows("rms_norm_backward", {dx_name(problem), "dy", "x"},
                             {weight ? "weight" : "", "rstd", weight ? "dweight_partial" : ""}, {offset(problem)});
    if (weight) plan.column_sums("rms_norm_column_sum", {{"dweight", problem.columns}}, programs);
  }
  void add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const override;
  Defines option_defines(const Problem& problem) const override {
    Defines defines = RmsOperation::option_defines(problem);
    defines.emplace_back("HAS_WEIGHT", flag(has_weight(problem)));
    return defines;
  }

 private:
  // Whether temporaries are wider than the problem's type, and then whether the product with the weight is too.
  bool upcasts(const Problem& problem) const { return eager_dtype(problem) != problem.dtype; }
  bool scales_wide(const Problem& problem) const {
    return has_weight(problem) && casting(problem) == "gemma" && upcasts(problem);
  }
  void add_eager_forward(EagerPlan& plan, const Problem& problem) const;
  void add_eager_backward(EagerPlan& plan, const Problem& problem) const;
};

// x.float(), pow(2), mean(-1), + eps, rsqrt, *, to(dtype), * weight: the module that models ship, operation by operation.
void RmsNorm::add_eager_forward(EagerPlan& plan, const Problem& problem) const {
  Operand values = "x";
  if (upcasts(problem)) plan.over_rows("eager_upcast", {values = plan.temporary("x_upcast"), "x"});
  add_eager_rstd(plan, values);
  const Operand normalized = has_weight(problem) || upcasts(problem) ? plan.temporary("normalized") : "y";
  plan.over_rows("eager_scale_rows", {normalized, values}, {"rstd"});
  Operand result = normalized;
  if (scales_wide(problem)) {
    const std::string scale = add_eager_scale(plan);
    plan.over_rows("eager_scale_columns_compute", {result = plan.temporary("scaled"), normalized}, {scale});
  } else if (has_weight(problem)) {
    const std::string scale = add_eager_scale(plan);
    if (upcasts(problem)) {
      plan.over_rows("eager_downcast", {result = plan.temporary("rounded", problem.dtype), normalized});
    }
    plan.over_rows("eager_scale_columns", {"y", result}, {scale});
    return;
  }
  if (upcasts(problem)) plan.over_rows("eager_downcast", {"y", result});
}

// The chain rule through the same operations: what was saved by the forward pass is read from x and rstd instead, in no more
// bytes and launches than a framework needs.
void RmsNorm::add_eager_backward(EagerPlan& plan, const Problem& problem) const {
  Operand gradient = "dy";
  if (has_weight(problem)) {
    const Operand terms = plan.temporary("weight_terms", problem.dtype);
    plan.over_rows("eager_weight_terms", {terms, "dy", "x"}, {"rstd"});
    plan.column_sum("dweight", terms);
    const std::string scale = add_eager_scale(plan);
    if (scales_wide(problem)) {
      const Operand wide = plan.temporary("dy_upcast");
      plan.over_rows("eager_upcast", {wide, "dy"});
      plan.over_rows("eager_scale_columns_compute", {gradient = plan.temporary("dn"), wide}, {scale});
    } else {
      plan.over_rows("eager_scale_columns", {gradient = plan.temporary("dy_scaled", problem.dtype), "dy"}, {scale});
    }
  }
  if (upcasts(problem) && !scales_wide(problem)) {
    const Operand rounded = gradient;
    plan.over_rows("eager_upcast", {gradient = plan.temporary("dn"), rounded});
  }
  const Operand direct = plan.temporary("dx_direct"), products = plan.temporary("products");
  plan.over_rows("eager_scale_rows", {direct, gradient}, {"rstd"});
  plan.over_rows("eager_multiply", {products, gradient, "x"});
  const std::string dmean = add_eager_mean_gradient(plan, products, -0.5f);
  const Operand doubled = plan.temporary("doubled"), through_mean = plan.temporary("dx_through_mean");
  plan.over_rows("eager_double", {doubled, "x"}, {}, {2, 0});
  plan.over_rows("eager_scale_by_gradient", {through_mean, doubled}, {dmean});
  const Operand total = upcasts(problem) ? plan.temporary("dx_compute") : dx_name(problem);
  plan.over_rows("eager_add", {total, direct, through_mean});
  if (upcasts(problem)) plan.over_rows("eager_downcast", {dx_name(problem), total});
}

void RmsNorm::add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const {
  pass == Pass::forward ? add_eager_forward(plan, problem) : add_eager_backward(plan, problem);
}

}  // namespace

std::unique_ptr<Operation> make_rms_norm() { return std::make_unique<RmsNorm>(); }

}  // namespace kernels

// The residual addition and RMSNorm as one operation of the catalogue.
#include "kernels/catalog/rms_operation.hpp"
#include "kernels/fused_add_rms_norm/fused_add_rms_norm_reference.hpp"

namespace kernels {
namespace {

class FusedAddRmsNorm final : public RmsOperation {
 public:
  FusedAddRmsNorm() : RmsOperation("s", true) {}

  std::string name() const override { return "fused_add_rms_norm"; }
  std::string formula() const override {
    return "forward: s = x + r, y = s * rstd * (offset + w), rstd = 1 / sqrt(mean(s^2) + eps)\n"
           "backward: dx = dr = rstd * m - s * rstd^3 / n * sum(m * s) + ds, m = dy * (offset + w); dw = sum over rows "
           "of dy * s * rstd\n"
           "(RMSNorm: Zhang and Sennrich 2019, arXiv:1910.07467)";
  }
  SourceNotes source_notes(const Problem& problem) const override {
    return {
        "unit stride along a row, rows contiguous or padded; each row of x and r, of dy and s is read twice by its "
        "core, the second time from its caches",
        "with STREAMING_STORES = 1 the rows of y, s and dx bypass the caches; everything else is cached",
        in_place(problem) ? "backward writes dx over dy, element by element after reading it"
                          : "none: dx has memory of its own",
        "s and rstd are saved; s * rstd is recomputed in backward; dx serves as dr too",
        "sums, rstd and products in fp32; s and results rounded to the type, to nearest even",
        casting(problem),
        "a reduction over the row, then a map; backward accumulates dw over the rows of a program, then sums the "
        "programs",
        "ELEMENT, CASTING_MODE, HAS_DS, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH_ROWS, STREAMING_STORES"};
  }
  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    std::vector<TensorSpec> tensors = row_matrices({"x", "r", "s", "y", "dy"}, problem);
    if (has_ds(problem)) tensors.push_back(row_matrix("ds", problem));
    if (!in_place(problem)) tensors.push_back(row_matrix("dx", problem));
    tensors.push_back(rstd_tensor(problem));
    tensors.push_back(row_vector("dweight", problem));
    tensors.push_back(weight_tensor(problem));
    return tensors;
  }
  PassSpec pass(Pass pass, const Problem& problem) const override {
    if (pass == Pass::forward) return {{"x", "r", "weight"}, {"y", "s", "rstd"}, {}, {"s", "rstd"}};
    PassSpec spec = {{"dy", "s", "weight", "rstd"}, {dx_name(problem), "dweight"}, {}, {}};
    if (has_ds(problem)) spec.inputs.push_back("ds");
    if (in_place(problem)) spec.overwritten = {"dy"};
    return spec;
  }
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    fused_add_rms_norm::reference(pass, problem, values);
  }

 protected:
  OptionSpec own_option() const override {
    return {"residual_gradient", {"yes", "no"}, "whether s is used further, so that backward adds its gradient ds"};
  }
  RowSpace space(Pass pass) const override {
    RowSpace space;
    space.reads_rows_twice = true;
    space.sums_then_maps = pass == Pass::forward;
    space.rows_share = true;
    space.most_vectors = 4;       // two or three operands, a weight and two results for each vector
    space.streamed_operands = 2;  // ds is loaded third, where it exists
    space.shared_rows = 1;
    space.registers = 16;
    space.registers_per_vector = 18;
    space.result_matrices = 2;
    if (pass == Pass::backward) {
      space.unrolls = {1, 2};
      space.has_programs_per_thread = true;
      space.registers = 36;
      space.registers_per_vector = 38;
      space.result_matrices = 1;
    }
    return space;
  }
  // Forward the addition, a product and a sum for the mean square, the products with rstd and with the weight, the sum with the
  // offset; backward m (2), the dot product (2), dx (3), s * rstd and dw (3), + ds.
  double operations(Pass pass, const Problem& problem) const override {
    return pass == Pass::forward ? 6 : has_ds(problem) ? 11 : 10;
  }
  void add_launches(RowPlan& plan, Pass pass, const Problem& problem) const override {
    if (pass == Pass::forward) {
      plan.over_rows("fused_add_rms_norm_forward", {"y", "s", "x", "r"}, {"weight", "rstd"},
                     {eps(problem), offset(problem)});
      return;
    }
    const std::int64_t programs =
        plan.accumulate_rows("fused_add_rms_norm_backward", {dx_name(problem), "dy", has_ds(problem) ? "ds" : "", "s"},
                             {"weight", "rstd", "dweight_partial"}, {offset(problem)});
    plan.column_sums("fused_add_rms_norm_column_sum", {{"dweight", problem.columns}}, programs);
  }
  void add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const override;
  Defines option_defines(const Problem& problem) const override {
    Defines defines = RmsOperation::option_defines(problem);
    defines.emplace_back("HAS_DS", flag(has_ds(problem)));
    return defines;
  }

 private:
  static bool has_ds(const Problem& problem) { return flag_option(problem, "residual_gradient"); }
};

// x + r, then RMSNorm operation by operation in the type of the temporaries; and the chain rule through them.
void FusedAddRmsNorm::add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const {
  if (pass == Pass::forward) {
    plan.over_rows("eager_add", {"s", "x", "r"});
    Operand values = "s";
    if (eager_dtype(problem) != problem.dtype)
      plan.over_rows("eager_upcast", {values = plan.temporary("s_upcast"), "s"});
    add_eager_rstd(plan, values);
    const Operand normalized = plan.temporary("normalized");
    plan.over_rows("eager_scale_rows", {normalized, values}, {"rstd"});
    plan.over_rows("eager_scale_columns", {"y", normalized}, {add_eager_scale(plan)});
    return;
  }
  const Operand terms = plan.temporary("weight_terms", problem.dtype), gradient = plan.temporary("dn"),
                direct = plan.temporary("ds_direct"), products = plan.temporary("products"),
                through = plan.temporary("ds_through_mean");
  plan.over_rows("eager_weight_terms", {terms, "dy", "s"}, {"rstd"});
  plan.column_sum("dweight", terms);
  plan.over_rows("eager_scale_gradient", {gradient, "dy"}, {add_eager_scale(plan)});
  plan.over_rows("eager_scale_rows", {direct, gradient}, {"rstd"});
  plan.over_rows("eager_multiply", {products, gradient, "s"});
  plan.over_rows("eager_scale_by_gradient", {through, "s"}, {add_eager_mean_gradient(plan, products, -1)});
  const Operand total = has_ds(problem) ? plan.temporary("ds_norm", problem.dtype) : dx_name(problem);
  plan.over_rows("eager_add_gradients", {total, direct, through});
  if (has_ds(problem)) plan.over_rows("eager_add", {dx_name(problem), total, "ds"});
}

}  // namespace

std::unique_ptr<Operation> make_fused_add_rms_norm() { return std::make_unique<FusedAddRmsNorm>(); }

}  // namespace kernels

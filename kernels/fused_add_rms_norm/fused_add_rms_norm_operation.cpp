// The residual addition and RMSNorm as one operation of the catalogue.
#include "kernels/fused_add_rms_norm/fused_add_rms_norm_operation.hpp"

#include "kernels/catalog/eager_plan.hpp"
#include "kernels/catalog/row_operation.hpp"
#include "kernels/fused_add_rms_norm/fused_add_rms_norm_config.hpp"
#include "kernels/fused_add_rms_norm/fused_add_rms_norm_reference.hpp"
#include "kernels/fused_add_rms_norm/fused_add_rms_norm_traffic.hpp"

namespace kernels {
namespace {

const std::string& casting(const Problem& problem) { return problem.options.at("casting_mode"); }
// "none" keeps every intermediate value in the problem's type, rstd included.
DType rstd_dtype(const Problem& problem) { return casting(problem) == "none" ? problem.dtype : DType::fp32; }
bool has_ds(const Problem& problem) { return flag_option(problem, "residual_gradient"); }

Plan fused_add_rms_norm_forward_plan(const Problem& problem, const RowConfig& config) {
  const RowGrid grid = independent_rows(config, problem);
  const std::int64_t stride = row_stride(problem);
  Plan plan;
  plan.launches.push_back({"fused_add_rms_norm_forward",
                           grid.programs,
                           config.num_threads,
                           config.shared_bytes,
                           1,
                           {tensor("y"), stride, tensor("s"), stride, tensor("x"), stride, tensor("r"), stride,
                            tensor("weight"), tensor("rstd"), problem.rows, grid.rows_per_program, problem.columns,
                            float(number_option(problem, "eps")), float(number_option(problem, "offset"))}});
  return plan;
}

Plan fused_add_rms_norm_backward_plan(const Problem& problem, const RowConfig& config) {
  const RowGrid grid = accumulated_rows(config, problem);
  const std::int64_t stride = row_stride(problem);
  Plan plan;
  plan.scratch.push_back({"dweight_partial", DType::fp32, grid.programs, problem.columns, problem.columns});
  plan.launches.push_back(
      {"fused_add_rms_norm_backward",
       grid.programs,
       config.num_threads,
       config.shared_bytes,
       1,
       {tensor(dx_name(problem)), stride, tensor("dy"), stride, tensor_or_null("ds", has_ds(problem)), stride,
        tensor("s"), stride, tensor("weight"), tensor("rstd"), tensor("dweight_partial"), problem.rows,
        grid.rows_per_program, problem.columns, float(number_option(problem, "offset"))}});
  plan.launches.push_back(column_sum_launch(config, "fused_add_rms_norm_column_sum", "dweight", "dweight_partial",
                                            grid.programs, problem.columns));
  plan.launches.back().threads = config.num_threads;
  return plan;
}

// x + r, then RMSNorm operation by operation in the type of the temporaries.
void eager_forward(EagerPlan& plan, const Problem& problem, DType compute) {
  const std::int64_t rows = problem.rows, columns = problem.columns;
  const Operand s = plan.matrix("s"), y = plan.matrix("y");
  plan.over_rows("eager_add", {s, plan.matrix("x"), plan.matrix("r")});
  Operand values = s;
  if (compute != problem.dtype) plan.over_rows("eager_upcast", {values = plan.temporary("s_upcast", compute), s});
  const Operand squares = plan.temporary("squares", compute), normalized = plan.temporary("normalized", compute);
  const Operand mean = plan.vector("mean_square", compute, rows), sum = plan.vector("mean_square_eps", compute, rows),
                scale = plan.vector("scale", compute, columns);
  plan.over_rows("eager_square", {squares, values});
  plan.row_reduction("eager_mean", mean.name, squares, columns > 0 ? 1 / float(columns) : 0);
  plan.over_vector("eager_add_eps", {sum, mean}, rows, {1, float(number_option(problem, "eps"))});
  plan.over_vector("eager_rsqrt", {plan.whole_vector("rstd", rows), sum}, rows);
  plan.over_rows("eager_scale_rows", {normalized, values}, {"rstd"});
  plan.over_vector("eager_weight", {scale, plan.whole_vector("weight", columns)}, columns,
                   {1, float(number_option(problem, "offset"))});
  plan.over_rows("eager_scale_columns", {y, normalized}, {scale.name});
}

void eager_backward(EagerPlan& plan, const Problem& problem, DType compute) {
  const std::int64_t rows = problem.rows, columns = problem.columns;
  const Operand s = plan.matrix("s"), dy = plan.matrix("dy"), dx = plan.matrix(dx_name(problem));
  const Operand terms = plan.temporary("weight_terms", problem.dtype), gradient = plan.temporary("dn", compute),
                direct = plan.temporary("ds_direct", compute), products = plan.temporary("products", compute),
                through = plan.temporary("ds_through_mean", compute);
  const Operand scale = plan.vector("scale", compute, columns), dot = plan.vector("dot", DType::fp32, rows),
                dmean = plan.vector("dmean", DType::fp32, rows);
  plan.over_rows("eager_weight_terms", {terms, dy, s}, {"rstd"});
  plan.column_sum("dweight", terms);
  plan.over_vector("eager_weight", {scale, plan.whole_vector("weight", columns)}, columns,
                   {1, float(number_option(problem, "offset"))});
  plan.over_rows("eager_scale_gradient", {gradient, dy}, {scale.name});
  plan.over_rows("eager_scale_rows", {direct, gradient}, {"rstd"});
  plan.over_rows("eager_multiply", {products, gradient, s});
  plan.row_reduction("eager_dot", dot.name, products, 1);
  plan.launch("eager_mean_square_gradient", 1,
              {tensor(dmean.name), tensor(dot.name), tensor("rstd"), rows, columns > 0 ? -1 / float(columns) : 0});
  plan.over_rows("eager_scale_by_gradient", {through, s}, {dmean.name});
  if (!has_ds(problem)) {
    plan.over_rows("eager_add_gradients", {dx, direct, through});
    return;
  }
  const Operand total = plan.temporary("ds_norm", problem.dtype);
  plan.over_rows("eager_add_gradients", {total, direct, through});
  plan.over_rows("eager_add", {dx, total, plan.matrix("ds")});
}

class FusedAddRmsNorm final : public RowOperation {
 public:
  std::string name() const override { return "fused_add_rms_norm"; }
  int tier() const override { return 2; }
  std::string tier_reason() const override {
    return "each row is reduced (mean of squares forward, a dot product backward) before any of it can be written";
  }
  std::string formula() const override {
    return "forward: s = x + r, y = s * rstd * (offset + w), rstd = 1 / sqrt(mean(s^2) + eps)\n"
           "backward: dx = dr = rstd * m - s * rstd^3 / n * sum(m * s) + ds, m = dy * (offset + w); dw = sum over rows "
           "of "
           "dy * s * rstd\n"
           "(RMSNorm: Zhang and Sennrich 2019, arXiv:1910.07467)";
  }
  std::vector<OptionSpec> options() const override {
    return {{"casting_mode",
             {"llama", "gemma", "none"},
             "where 16-bit values are rounded besides s: llama: s * rstd, then the product with the weight; gemma: the "
             "result "
             "alone; none: every intermediate value"},
            {"offset", {}, "added to the weight (gemma models: 1)", "0", {"0", "1"}},
            {"eps", {}, "added to the mean square", "1e-6", {"1e-6", "0.001"}},
            {"residual_gradient", {"yes", "no"}, "whether s is used further, so that backward adds its gradient ds"},
            {"in_place", {"no", "yes"}, "whether backward writes dx over dy"}};
  }
  SourceNotes source_notes(const Problem& problem) const override {
    return {
        "unit stride along a row, rows contiguous or padded; each row of x and r, of dy and s is read twice by its "
        "core, the second time from its caches",
        "with STREAMING_STORES = 1 the rows of y, s and dx bypass the caches; everything else is cached",
        flag_option(problem, "in_place") ? "backward writes dx over dy, element by element after reading it"
                                         : "none: dx has memory of its own",
        "s and rstd are saved; s * rstd is recomputed in backward; dx serves as dr too",
        "sums, rstd and products in fp32; s and results rounded to the type, to nearest even",
        casting(problem),
        "a reduction over the row, then a map; backward accumulates dw over the rows of a program, then sums the "
        "programs",
        "ELEMENT, CASTING_MODE, HAS_DS, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH_ROWS, STREAMING_STORES"};
  }
  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    std::vector<TensorSpec> tensors;
    for (const char* name : {"x", "r", "s", "y", "dy"}) tensors.push_back(row_matrix(name, problem));
    if (has_ds(problem)) tensors.push_back(row_matrix("ds", problem));
    if (!flag_option(problem, "in_place")) tensors.push_back(row_matrix("dx", problem));
    tensors.push_back(row_scalars("rstd", problem, rstd_dtype(problem)));
    tensors.push_back(row_vector("dweight", problem));
    tensors.push_back(row_vector("weight", problem));
    tensors.back().offset = 1 - number_option(problem, "offset");
    tensors.back().scale = 0.25;
    return tensors;
  }
  PassSpec pass(Pass pass, const Problem& problem) const override {
    if (pass == Pass::forward) return {{"x", "r", "weight"}, {"y", "s", "rstd"}, {}, {"s", "rstd"}};
    PassSpec spec = {{"dy", "s", "weight", "rstd"}, {dx_name(problem), "dweight"}, {}, {}};
    if (has_ds(problem)) spec.inputs.push_back("ds");
    if (flag_option(problem, "in_place")) spec.overwritten = {"dy"};
    return spec;
  }
  Traffic traffic(Pass pass, const Problem& problem) const override {
    return fused_add_rms_norm::traffic(pass, problem, rstd_dtype(problem));
  }
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    fused_add_rms_norm::reference(pass, problem, values);
  }
  // As RMSNorm's; y holds the rounding of s as well. dw: each term holds a rounded s * rstd (see term_sizes), the sum is rounded once
  // more.
  double tolerance(Pass pass, const std::string& tensor, const Problem& problem) const override {
    const double u = unit_roundoff(problem.dtype), fp32 = sum_error(problem.columns) + 0x1p-20;
    const double roundings = casting(problem) == "none" ? 5 : casting(problem) == "llama" ? 2 : 1;
    if (tensor == "rstd") return fp32 + u + (rstd_dtype(problem) == DType::fp32 ? 0 : u);
    if (tensor == "s") return u;
    if (pass == Pass::forward) return 1.5 * (roundings + 1) * u + fp32;
    if (tensor == "dweight") return 1.02 * u + fp32 + sum_error(problem.rows);
    return 2 * u + fp32;
  }
  double value_scale(Pass pass, const std::string& tensor, const Problem& problem, const Values& inputs,
                     const Values& results) const override {
    if (pass == Pass::forward) return Operation::value_scale(pass, tensor, problem, inputs, results);
    if (tensor == "dweight") return smallest_normal(problem.dtype);
    // The first term, of which dx is what remains orthogonal to s.
    const std::vector<double>&dy = inputs.at("dy"), &rstd = inputs.at("rstd"), &weight = inputs.at("weight");
    const double offset = number_option(problem, "offset");
    std::vector<double> terms(dy.size());
    for (std::size_t i = 0; i < terms.size(); ++i) {
      terms[i] = rstd[i / std::size_t(problem.columns)] * dy[i] * (offset + weight[i % std::size_t(problem.columns)]);
    }
    return root_mean_square(terms);
  }
  std::vector<double> term_sizes(Pass pass, const std::string& tensor, const Problem& problem,
                                 const Values& inputs) const override {
    if (pass == Pass::forward || tensor != "dweight") return {};
    const std::vector<double>&dy = inputs.at("dy"), &s = inputs.at("s"), &rstd = inputs.at("rstd");
    std::vector<double> terms(dy.size());
    for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = dy[i] * s[i] * rstd[i / std::size_t(problem.columns)];
    return rounded_terms(terms, problem.columns);
  }
  Plan eager_plan(Pass pass, const Problem& problem, const Target& target) const override {
    const DType compute = casting(problem) == "none" ? problem.dtype : DType::fp32;
    EagerPlan plan("kernels/fused_add_rms_norm/fused_add_rms_norm_eager.hpp", pass, problem, compute, target);
    if (pass == Pass::forward) {
      eager_forward(plan, problem, compute);
    } else {
      eager_backward(plan, problem, compute);
    }
    return plan.take();
  }

 protected:
  RowSpace space(Pass pass) const override { return fused_add_rms_norm::space(pass); }
  RowSpace space(Pass pass, const Problem& problem) const override { return fused_add_rms_norm::space(pass, problem); }
  Plan launches(Pass pass, const Problem& problem, const RowConfig& config) const override {
    return pass == Pass::forward ? fused_add_rms_norm_forward_plan(problem, config)
                                 : fused_add_rms_norm_backward_plan(problem, config);
  }
  std::vector<std::pair<std::string, std::string>> option_defines(const Problem& problem) const override {
    const std::string mode = casting(problem) == "llama" ? "0" : casting(problem) == "gemma" ? "1" : "2";
    return {{"CASTING_MODE", mode}, {"HAS_DS", has_ds(problem) ? "1" : "0"}};
  }
  std::string check_values(const Problem& problem) const override {
    return number_option(problem, "eps") < 0 ? "eps must not be negative" : "";
  }
};

}  // namespace

std::unique_ptr<Operation> make_fused_add_rms_norm() { return std::make_unique<FusedAddRmsNorm>(); }

}  // namespace kernels

// RMSNorm as an operation of the catalogue: what it is, its tensors, plans and bounds. The space of settings, the traffic
// and the reference have files of their own.
#include "kernels/rms_norm/rms_norm_operation.hpp"

#include "kernels/catalog/eager_plan.hpp"
#include "kernels/catalog/row_operation.hpp"
#include "kernels/rms_norm/rms_norm_config.hpp"
#include "kernels/rms_norm/rms_norm_reference.hpp"
#include "kernels/rms_norm/rms_norm_traffic.hpp"

namespace kernels {
namespace {

bool has_weight(const Problem& problem) { return flag_option(problem, "weight"); }
const std::string& casting(const Problem& problem) { return problem.options.at("casting_mode"); }
// "none" keeps every intermediate value in the problem's type, rstd included.
DType rstd_dtype(const Problem& problem) { return casting(problem) == "none" ? problem.dtype : DType::fp32; }

Plan rms_norm_forward_plan(const Problem& problem, const RowConfig& config) {
  const RowGrid grid = independent_rows(config, problem);
  const std::int64_t stride = row_stride(problem);
  Plan plan;
  plan.launches.push_back({"rms_norm_forward",
                           grid.programs,
                           config.num_threads,
                           config.shared_bytes,
                           1,
                           {tensor("y"), stride, tensor("x"), stride, tensor_or_null("weight", has_weight(problem)),
                            tensor("rstd"), problem.rows, grid.rows_per_program, problem.columns,
                            float(number_option(problem, "eps")), float(number_option(problem, "offset"))}});
  return plan;
}

Plan rms_norm_backward_plan(const Problem& problem, const RowConfig& config) {
  const RowGrid grid = accumulated_rows(config, problem);
  const std::int64_t stride = row_stride(problem);
  const bool weight = has_weight(problem);
  Plan plan;
  if (weight) {
    plan.scratch.push_back({"dweight_partial", DType::fp32, grid.programs, problem.columns, problem.columns});
  }
  plan.launches.push_back(
      {"rms_norm_backward",
       grid.programs,
       config.num_threads,
       config.shared_bytes,
       1,
       {tensor(dx_name(problem)), stride, tensor("dy"), stride, tensor("x"), stride, tensor_or_null("weight", weight),
        tensor("rstd"), tensor_or_null("dweight_partial", weight), problem.rows, grid.rows_per_program, problem.columns,
        float(number_option(problem, "offset"))}});
  if (weight) {
    plan.launches.push_back(
        column_sum_launch(config, "rms_norm_column_sum", "dweight", "dweight_partial", grid.programs, problem.columns));
    plan.launches.back().threads = config.num_threads;
  }
  return plan;
}

// x.float(), pow(2), mean(-1), + eps, rsqrt, *, to(dtype), * weight: the module that models ship, operation by operation.
void eager_forward(EagerPlan& plan, const Problem& problem, DType compute) {
  const bool upcasts = compute != problem.dtype, gemma = casting(problem) == "gemma", weight = has_weight(problem);
  const Operand x = plan.matrix("x"), y = plan.matrix("y");
  Operand values = x;
  if (upcasts) plan.over_rows("eager_upcast", {values = plan.temporary("x_upcast", compute), x});
  const Operand squares = plan.temporary("squares", compute);
  plan.over_rows("eager_square", {squares, values});
  const std::int64_t rows = problem.rows, columns = problem.columns;
  const Operand mean = plan.vector("mean_square", compute, rows), sum = plan.vector("mean_square_eps", compute, rows);
  // Reads a matrix, writes one value a row: the result comes first among the arguments, without a stride.
  plan.row_reduction("eager_mean", mean.name, squares, columns > 0 ? 1 / float(columns) : 0);
  plan.over_vector("eager_add_eps", {sum, mean}, rows, {1, float(number_option(problem, "eps"))});
  plan.over_vector("eager_rsqrt", {plan.whole_vector("rstd", rows), sum}, rows);
  const Operand normalized = weight || upcasts ? plan.temporary("normalized", compute) : y;
  plan.over_rows("eager_scale_rows", {normalized, values}, {"rstd"});
  Operand result = normalized;
  if (weight) {
    const Operand scale = plan.vector("scale", compute, columns);
    plan.over_vector("eager_weight", {scale, plan.whole_vector("weight", columns)}, columns,
                     {1, float(number_option(problem, "offset"))});
    if (gemma && upcasts) {
      plan.over_rows("eager_scale_columns_compute", {result = plan.temporary("scaled", compute), normalized},
                     {scale.name});
    } else {
      if (upcasts) plan.over_rows("eager_downcast", {result = plan.temporary("rounded", problem.dtype), normalized});
      plan.over_rows("eager_scale_columns", {y, result}, {scale.name});
      return;
    }
  }
  if (upcasts) plan.over_rows("eager_downcast", {y, result});
}

// The chain rule through the same operations: what was saved by the forward pass is read from x and rstd instead, in no more
// bytes and launches than a framework needs.
void eager_backward(EagerPlan& plan, const Problem& problem, DType compute) {
  const bool upcasts = compute != problem.dtype, gemma = casting(problem) == "gemma", weight = has_weight(problem);
  const Operand x = plan.matrix("x"), dy = plan.matrix("dy"), dx = plan.matrix(dx_name(problem));
  const std::int64_t rows = problem.rows, columns = problem.columns;
  Operand gradient = dy;
  if (weight) {
    const Operand terms = plan.temporary("weight_terms", problem.dtype);
    plan.over_rows("eager_weight_terms", {terms, dy, x}, {"rstd"});
    plan.column_sum("dweight", terms);
    const Operand scale = plan.vector("scale", compute, columns);
    plan.over_vector("eager_weight", {scale, plan.whole_vector("weight", columns)}, columns,
                     {1, float(number_option(problem, "offset"))});
    if (gemma && upcasts) {
      plan.over_rows("eager_upcast", {gradient = plan.temporary("dy_upcast", compute), dy});
      const Operand unscaled = gradient;
      plan.over_rows("eager_scale_columns_compute", {gradient = plan.temporary("dn", compute), unscaled}, {scale.name});
    } else {
      plan.over_rows("eager_scale_columns", {gradient = plan.temporary("dy_scaled", problem.dtype), dy}, {scale.name});
    }
  }
  if (upcasts && !(gemma && weight)) {
    const Operand rounded = gradient;
    plan.over_rows("eager_upcast", {gradient = plan.temporary("dn", compute), rounded});
  }
  const Operand direct = plan.temporary("dx_direct", compute), products = plan.temporary("products", compute);
  plan.over_rows("eager_scale_rows", {direct, gradient}, {"rstd"});
  plan.over_rows("eager_multiply", {products, gradient, x});
  const Operand dot = plan.vector("dot", DType::fp32, rows), dmean = plan.vector("dmean", DType::fp32, rows);
  plan.row_reduction("eager_dot", dot.name, products, 1);
  plan.launch("eager_mean_square_gradient", 1,
              {tensor(dmean.name), tensor(dot.name), tensor("rstd"), rows, std::int64_t{1},
               columns > 0 ? -0.5f / float(columns) : 0});
  const Operand doubled = plan.temporary("doubled", compute), through_mean = plan.temporary("dx_through_mean", compute);
  plan.over_rows("eager_double", {doubled, x}, {}, {2, 0});
  plan.over_rows("eager_scale_by_gradient", {through_mean, doubled}, {dmean.name});
  const Operand total = upcasts ? plan.temporary("dx_compute", compute) : dx;
  plan.over_rows("eager_add", {total, direct, through_mean});
  if (upcasts) plan.over_rows("eager_downcast", {dx, total});
}

class RmsNorm final : public RowOperation {
 public:
  std::string name() const override { return "rms_norm"; }
  int tier() const override { return 2; }
  std::string tier_reason() const override {
    return "each row is reduced (mean of squares forward, a dot product backward) before any of it can be written";
  }
  std::string formula() const override {
    return "forward: y = x * rstd * (offset + w), rstd = 1 / sqrt(mean(x^2) + eps)\n"
           "backward: dx = rstd * m - x * rstd^3 / n * sum(m * x), m = dy * (offset + w); dw = sum over rows of dy * x "
           "* rstd\n"
           "(Zhang and Sennrich 2019, arXiv:1910.07467)";
  }
  std::vector<OptionSpec> options() const override {
    return {
        {"casting_mode",
         {"llama", "gemma", "none"},
         "where 16-bit values are rounded: llama: x * rstd, then the product with the weight; gemma: the result alone; "
         "none: every intermediate value"},
        {"offset", {}, "added to the weight (gemma models: 1)", "0", {"0", "1"}},
        {"eps", {}, "added to the mean square", "1e-6", {"1e-6", "0.001"}},
        {"weight", {"yes", "no"}, "whether there is a weight (elementwise affine)"},
        {"in_place", {"no", "yes"}, "whether backward writes dx over dy"}};
  }
  SourceNotes source_notes(const Problem& problem) const override;

  std::vector<TensorSpec> tensors(const Problem& problem) const override;
  PassSpec pass(Pass pass, const Problem& problem) const override;
  Traffic traffic(Pass pass, const Problem& problem) const override {
    return rms_norm::traffic(pass, problem, rstd_dtype(problem));
  }

  Plan eager_plan(Pass pass, const Problem& problem, const Target& target) const override;
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    rms_norm::reference(pass, problem, values);
  }
  double tolerance(Pass pass, const std::string& tensor, const Problem& problem) const override;
  double value_scale(Pass pass, const std::string& tensor, const Problem& problem, const Values& inputs,
                     const Values& results) const override {
    if (pass == Pass::backward && tensor == dx_name(problem)) return rms_norm::gradient_scale(problem, inputs);
    if (tensor == "dweight") return smallest_normal(problem.dtype);
    return Operation::value_scale(pass, tensor, problem, inputs, results);
  }
  std::vector<double> term_sizes(Pass pass, const std::string& tensor, const Problem& problem,
                                 const Values& inputs) const override {
    if (pass == Pass::forward || tensor != "dweight") return {};
    const std::vector<double>&dy = inputs.at("dy"), &x = inputs.at("x"), &rstd = inputs.at("rstd");
    std::vector<double> terms(dy.size());
    for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = dy[i] * x[i] * rstd[i / std::size_t(problem.columns)];
    return rounded_terms(terms, problem.columns);
  }

 protected:
  RowSpace space(Pass pass) const override { return rms_norm::space(pass); }
  RowSpace space(Pass pass, const Problem& problem) const override { return rms_norm::space(pass, problem); }
  Plan launches(Pass pass, const Problem& problem, const RowConfig& config) const override {
    return pass == Pass::forward ? rms_norm_forward_plan(problem, config) : rms_norm_backward_plan(problem, config);
  }
  std::vector<std::pair<std::string, std::string>> option_defines(const Problem& problem) const override {
    const std::string mode = casting(problem) == "llama" ? "0" : casting(problem) == "gemma" ? "1" : "2";
    return {{"CASTING_MODE", mode}, {"HAS_WEIGHT", has_weight(problem) ? "1" : "0"}};
  }
  std::string check_values(const Problem& problem) const override {
    return number_option(problem, "eps") < 0 ? "eps must not be negative" : "";
  }
};

SourceNotes RmsNorm::source_notes(const Problem& problem) const {
  const bool in_place = flag_option(problem, "in_place");
  return {
      "unit stride along a row, rows contiguous or padded; each row is read twice by its core, the second time from "
      "its caches",
      "with STREAMING_STORES = 1 the rows of y and dx bypass the caches; everything else is cached",
      in_place ? "backward writes dx over dy, element by element after reading it" : "none: dx has memory of its own",
      "rstd is saved (one value a row); x * rstd is recomputed in backward",
      "sums, rstd and products in fp32; " + std::string(problem.dtype == DType::fp32 ? "nothing" : "results") +
          " rounded to nearest even",
      casting(problem),
      "a reduction over the row, then a map; backward accumulates dw over the rows of a program, then sums the "
      "programs",
      "ELEMENT, CASTING_MODE, HAS_WEIGHT, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH, STREAMING_STORES"};
}

std::vector<TensorSpec> RmsNorm::tensors(const Problem& problem) const {
  std::vector<TensorSpec> tensors = {row_matrix("x", problem), row_matrix("y", problem),
                                     row_scalars("rstd", problem, rstd_dtype(problem)), row_matrix("dy", problem)};
  if (!flag_option(problem, "in_place")) tensors.push_back(row_matrix("dx", problem));
  if (has_weight(problem)) {
    tensors.push_back(row_vector("weight", problem));
    tensors.back().offset = 1 - number_option(problem, "offset");
    tensors.back().scale = 0.25;
    tensors.push_back(row_vector("dweight", problem));
  }
  return tensors;
}

PassSpec RmsNorm::pass(Pass pass, const Problem& problem) const {
  PassSpec spec;
  if (pass == Pass::forward) {
    spec = {{"x"}, {"y", "rstd"}, {}, {"rstd"}};
  } else {
    spec = {{"dy", "x", "rstd"}, {dx_name(problem)}, {}, {}};
    if (flag_option(problem, "in_place")) spec.overwritten = {"dy"};
    if (has_weight(problem)) spec.outputs.push_back("dweight");
  }
  if (has_weight(problem)) spec.inputs.push_back("weight");
  return spec;
}

Plan RmsNorm::eager_plan(Pass pass, const Problem& problem, const Target& target) const {
  const DType compute = casting(problem) == "none" ? problem.dtype : DType::fp32;
  EagerPlan plan("kernels/rms_norm/rms_norm_eager.hpp", pass, problem, compute, target);
  if (pass == Pass::forward) {
    eager_forward(plan, problem, compute);
  } else {
    eager_backward(plan, problem, compute);
  }
  return plan.take();
}

// y: the rounding of the result, of x * rstd (llama) and of rstd and the scale (none), each half a unit, doubled for ties
// with the fp32 roundings; plus half the relative error of the mean square, since rstd is its root. dx: rounded once, its
// dot product in fp32. dw: every term holds a rounded x * rstd (see term_sizes), and the sum is rounded once more.
double RmsNorm::tolerance(Pass pass, const std::string& tensor, const Problem& problem) const {
  const double u = unit_roundoff(problem.dtype), fp32 = sum_error(problem.columns) + 0x1p-20;
  const double roundings = casting(problem) == "none" ? 5 : casting(problem) == "llama" ? 2 : 1;
  if (tensor == "rstd") return fp32 + (rstd_dtype(problem) == DType::fp32 ? 0 : u);
  if (pass == Pass::forward) return 1.5 * roundings * u + fp32;
  if (tensor == "dweight") return 1.02 * u + fp32 + sum_error(problem.rows);
  return 2 * u + fp32;
}

}  // namespace

std::unique_ptr<Operation> make_rms_norm() { return std::make_unique<RmsNorm>(); }

}  // namespace kernels

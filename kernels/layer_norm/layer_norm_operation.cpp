// LayerNorm as an operation of the catalogue.
#include "kernels/layer_norm/layer_norm_operation.hpp"

#include "kernels/catalog/eager_plan.hpp"
#include "kernels/catalog/row_operation.hpp"
#include "kernels/layer_norm/layer_norm_config.hpp"
#include "kernels/layer_norm/layer_norm_reference.hpp"
#include "kernels/layer_norm/layer_norm_traffic.hpp"

namespace kernels {
namespace {

Plan layer_norm_forward_plan(const Problem& problem, const RowConfig& config) {
  const RowGrid grid = independent_rows(config, problem);
  const std::int64_t stride = row_stride(problem);
  Plan plan;
  plan.launches.push_back(
      {"layer_norm_forward",
       grid.programs,
       config.num_threads,
       config.shared_bytes,
       1,
       {tensor("y"), stride, tensor("x"), stride, tensor("weight"), tensor("bias"), tensor("mean"), tensor("rstd"),
        problem.rows, grid.rows_per_program, problem.columns, float(number_option(problem, "eps"))}});
  return plan;
}

Plan layer_norm_backward_plan(const Problem& problem, const RowConfig& config) {
  const RowGrid grid = accumulated_rows(config, problem);
  const std::int64_t stride = row_stride(problem);
  Plan plan;
  for (const char* name : {"dweight_partial", "dbias_partial"}) {
    plan.scratch.push_back({name, DType::fp32, grid.programs, problem.columns, problem.columns});
  }
  plan.launches.push_back({"layer_norm_backward",
                           grid.programs,
                           config.num_threads,
                           config.shared_bytes,
                           1,
                           {tensor("dx"), stride, tensor("dy"), stride, tensor("x"), stride, tensor("weight"),
                            tensor("mean"), tensor("rstd"), tensor("dweight_partial"), tensor("dbias_partial"),
                            problem.rows, grid.rows_per_program, problem.columns}});
  plan.launches.push_back(column_sums_launch(
      config, "layer_norm_column_sums",
      {{"dweight", "dweight_partial", problem.columns}, {"dbias", "dbias_partial", problem.columns}}, grid.programs));
  plan.launches.back().threads = config.num_threads;
  return plan;
}

// x.float(), mean, x - mean, pow(2), mean, + eps, rsqrt, * rstd, * weight, + bias with its rounding.
void eager_forward(EagerPlan& plan, const Problem& problem) {
  const std::int64_t rows = problem.rows, columns = problem.columns;
  const float share = columns > 0 ? 1 / float(columns) : 0;
  const Operand values = plan.temporary("x_upcast", DType::fp32), centered = plan.temporary("centered", DType::fp32),
                squares = plan.temporary("squares", DType::fp32),
                normalized = plan.temporary("normalized", DType::fp32), scaled = plan.temporary("scaled", DType::fp32);
  const Operand variance = plan.vector("variance", DType::fp32, rows),
                sum = plan.vector("variance_eps", DType::fp32, rows);
  plan.over_rows("eager_upcast", {values, plan.matrix("x")});
  plan.row_reduction("eager_mean", "mean", values, share);
  plan.over_rows("eager_subtract_rows", {centered, values}, {"mean"});
  plan.over_rows("eager_square", {squares, centered});
  plan.row_reduction("eager_mean", variance.name, squares, share);
  plan.over_vector("eager_add_eps", {sum, variance}, rows, {1, float(number_option(problem, "eps"))});
  plan.over_vector("eager_rsqrt", {plan.whole_vector("rstd", rows), sum}, rows);
  plan.over_rows("eager_scale_rows", {normalized, centered}, {"rstd"});
  plan.over_rows("eager_scale_columns", {scaled, normalized}, {"weight"});
  plan.over_rows("eager_add_columns", {plan.matrix("y"), scaled}, {"bias"});
}

void eager_backward(EagerPlan& plan, const Problem& problem) {
  const std::int64_t rows = problem.rows, columns = problem.columns;
  const float share = columns > 0 ? 1 / float(columns) : 0;
  const Operand dy = plan.matrix("dy"), h = plan.temporary("normalized", DType::fp32),
                terms = plan.temporary("weight_terms", DType::fp32), g = plan.temporary("gradient", DType::fp32),
                products = plan.temporary("products", DType::fp32), along = plan.temporary("along", DType::fp32),
                rest = plan.temporary("rest", DType::fp32), centered = plan.temporary("centered", DType::fp32);
  const Operand mean_gh = plan.vector("mean_product", DType::fp32, rows),
                mean_g = plan.vector("mean_gradient", DType::fp32, rows);
  plan.over_rows("eager_normalize", {h, plan.matrix("x")}, {"mean", "rstd"});
  plan.over_rows("eager_weight_terms", {terms, dy, h});
  plan.column_sum("dweight", terms);
  plan.column_sum("dbias", dy, "eager_partial_column_sum_element");
  plan.over_rows("eager_scale_gradient", {g, dy}, {"weight"});
  plan.over_rows("eager_multiply", {products, g, h});
  plan.row_reduction("eager_mean", mean_gh.name, products, share);
  plan.row_reduction("eager_mean", mean_g.name, g, share);
  plan.over_rows("eager_scale_rows", {along, h}, {mean_gh.name});
  plan.over_rows("eager_subtract", {rest, g, along});
  plan.over_rows("eager_subtract_rows", {centered, rest}, {mean_g.name});
  plan.over_rows("eager_scale_rows_down", {plan.matrix("dx"), centered}, {"rstd"});
}

class LayerNorm final : public RowOperation {
 public:
  std::string name() const override { return "layer_norm"; }
  int tier() const override { return 2; }
  std::string tier_reason() const override {
    return "each row is reduced (mean and variance forward, two means backward) before any of it can be written";
  }
  std::string formula() const override {
    return "forward: y = h * w + b, h = (x - mean) * rstd, rstd = 1 / sqrt(mean((x - mean)^2) + eps)\n"
           "backward: dx = rstd * (g - h * mean(g * h) - mean(g)), g = dy * w; dw = sum over rows of dy * h; db = sum "
           "over rows of dy\n"
           "(Ba, Kiros and Hinton 2016, arXiv:1607.06450)";
  }
  std::vector<OptionSpec> options() const override {
    return {{"eps", {}, "added to the variance", "1e-6", {"1e-6", "0.001"}}};
  }
  SourceNotes source_notes(const Problem& problem) const override {
    return {
        "unit stride along a row, rows contiguous or padded; forward reads each row three times and backward twice, "
        "all but the first time from its core's caches",
        "with STREAMING_STORES = 1 the rows of y and dx bypass the caches; everything else is cached",
        "none: dx has memory of its own",
        "mean and rstd are saved (two values a row); h is recomputed in backward",
        "sums, mean, rstd and products in fp32; " + std::string(problem.dtype == DType::fp32 ? "nothing" : "results") +
            " rounded to nearest even",
        "fp32 throughout, one rounding of each result",
        "mean, then the mean of squared deviations, then a map; backward accumulates dw and db over the rows of a "
        "program, then sums the programs",
        "ELEMENT, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH_ROWS, STREAMING_STORES"};
  }

  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    std::vector<TensorSpec> tensors;
    for (const char* name : {"x", "y", "dy", "dx"}) tensors.push_back(row_matrix(name, problem));
    for (const char* name : {"mean", "rstd"}) tensors.push_back(row_scalars(name, problem, DType::fp32));
    for (const char* name : {"weight", "bias", "dweight", "dbias"}) tensors.push_back(row_vector(name, problem));
    for (TensorSpec& spec : tensors) {
      if (spec.name == "weight") spec.offset = 1, spec.scale = 0.25;
    }
    return tensors;
  }
  PassSpec pass(Pass pass, const Problem&) const override {
    if (pass == Pass::forward) return {{"x", "weight", "bias"}, {"y", "mean", "rstd"}, {}, {"mean", "rstd"}};
    return {{"dy", "x", "weight", "mean", "rstd"}, {"dx", "dweight", "dbias"}, {}, {}};
  }
  Traffic traffic(Pass pass, const Problem& problem) const override { return layer_norm::traffic(pass, problem); }
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    layer_norm::reference(pass, problem, values);
  }
  // y: rounded once; the fp32 part is the variance's error, halved by the root. Gradients: rounded once, sums in fp32.
  double tolerance(Pass pass, const std::string& tensor, const Problem& problem) const override {
    const double u = unit_roundoff(problem.dtype), fp32 = sum_error(problem.columns) + 0x1p-20;
    if (tensor == "mean" || tensor == "rstd") return fp32;
    if (pass == Pass::forward) return 1.5 * u + fp32;
    return 1.5 * u + fp32 + (tensor == "dx" ? 0 : sum_error(problem.rows));
  }
  // The mean is a sum of values of x's size; dx is what remains of rstd * dy * w after two projections are taken away.
  double value_scale(Pass pass, const std::string& tensor, const Problem& problem, const Values& inputs,
                     const Values& results) const override {
    if (tensor == "mean") return root_mean_square(inputs.at("x"));
    if (tensor != "dx") return Operation::value_scale(pass, tensor, problem, inputs, results);
    const std::vector<double>&dy = inputs.at("dy"), &weight = inputs.at("weight"), &rstd = inputs.at("rstd");
    std::vector<double> terms(dy.size());
    for (std::size_t i = 0; i < terms.size(); ++i) {
      terms[i] = rstd[i / std::size_t(problem.columns)] * dy[i] * weight[i % std::size_t(problem.columns)];
    }
    return root_mean_square(terms);
  }
  Plan eager_plan(Pass pass, const Problem& problem, const Target& target) const override {
    EagerPlan plan("kernels/layer_norm/layer_norm_eager.hpp", pass, problem, DType::fp32, target);
    if (pass == Pass::forward) {
      eager_forward(plan, problem);
    } else {
      eager_backward(plan, problem);
    }
    return plan.take();
  }

 protected:
  RowSpace space(Pass pass) const override { return layer_norm::space(pass); }
  RowSpace space(Pass pass, const Problem& problem) const override { return layer_norm::space(pass, problem); }
  Plan launches(Pass pass, const Problem& problem, const RowConfig& config) const override {
    return pass == Pass::forward ? layer_norm_forward_plan(problem, config) : layer_norm_backward_plan(problem, config);
  }
  std::string check_values(const Problem& problem) const override {
    return number_option(problem, "eps") < 0 ? "eps must not be negative" : "";
  }
};

}  // namespace

std::unique_ptr<Operation> make_layer_norm() { return std::make_unique<LayerNorm>(); }

}  // namespace kernels

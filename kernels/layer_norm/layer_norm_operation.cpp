// LayerNorm as an operation of the catalogue.
#include "kernels/catalog/row_operation.hpp"
#include "kernels/layer_norm/layer_norm_reference.hpp"

namespace kernels {
namespace {

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
        "sums, mean, rstd and products in fp32; " + rounding_note(problem),
        "fp32 throughout, one rounding of each result",
        "mean, then the mean of squared deviations, then a map; backward accumulates dw and db over the rows of a "
        "program, then sums the programs",
        "ELEMENT, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH_ROWS, STREAMING_STORES"};
  }
  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    std::vector<TensorSpec> tensors = row_matrices({"x", "y", "dy", "dx"}, problem);
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

 protected:
  RowSpace space(Pass pass) const override {
    RowSpace space;
    space.reads_rows_twice = true;
    space.sums_then_maps = pass == Pass::forward;
    space.rows_share = true;
    space.streamed_operands = 1;
    space.shared_rows = 2;
    space.registers = 20;
    space.registers_per_vector = 26;
    if (pass == Pass::backward) {
      space.streamed_operands = 2;
      // Two operands, a weight, three results and two accumulators for each vector.
      space.unrolls = {1, 2};
      space.most_vectors = 4;
      space.has_programs_per_thread = true;
      space.registers = 36;
      space.registers_per_vector = 42;
    }
    return space;
  }
  // 88 % of the copy against 81; in 16 bits, where the second sum takes longer, 78 against 81.
  void fit(RowSpace& space, Pass pass, const Problem& problem) const override {
    space.sums_beside_pay = pass == Pass::forward && problem.dtype == DType::fp32;
  }
  // Forward a sum for the mean, a difference, a product and a sum for the variance, and x - mean, * rstd, * w, + b; backward
  // h (2), dy * w, its sum, its product with h and that sum, dx (5), dw (2), db (1).
  double operations(Pass pass, const Problem&) const override { return pass == Pass::forward ? 8 : 14; }
  void add_launches(RowPlan& plan, Pass pass, const Problem& problem) const override {
    if (pass == Pass::forward) {
      plan.over_rows("layer_norm_forward", {"y", "x"}, {"weight", "bias", "mean", "rstd"}, {eps(problem)});
      return;
    }
    const std::int64_t programs = plan.accumulate_rows("layer_norm_backward", {"dx", "dy", "x"},
                                                       {"weight", "mean", "rstd", "dweight_partial", "dbias_partial"});
    plan.column_sums("layer_norm_column_sums", {{"dweight", problem.columns}, {"dbias", problem.columns}}, programs);
  }
  void add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const override {
    pass == Pass::forward ? add_eager_forward(plan, problem) : add_eager_backward(plan, problem);
  }
  std::string check_values(const Problem& problem) const override {
    return number_option(problem, "eps") < 0 ? "eps must not be negative" : "";
  }

 private:
  static float eps(const Problem& problem) { return float(number_option(problem, "eps")); }
  static void add_eager_forward(EagerPlan& plan, const Problem& problem);
  static void add_eager_backward(EagerPlan& plan, const Problem& problem);
};

// x.float(), mean, x - mean, pow(2), mean, + eps, rsqrt, * rstd, * weight, + bias with its rounding.
void LayerNorm::add_eager_forward(EagerPlan& plan, const Problem& problem) {
  const std::int64_t rows = problem.rows;
  const float share = column_share(problem);
  const Operand values = plan.temporary("x_upcast"), centered = plan.temporary("centered"),
                squares = plan.temporary("squares"), normalized = plan.temporary("normalized"),
                scaled = plan.temporary("scaled");
  const Operand variance = plan.vector("variance", rows), sum = plan.vector("variance_eps", rows);
  plan.over_rows("eager_upcast", {values, "x"});
  plan.row_reduction("eager_mean", "mean", values, share);
  plan.over_rows("eager_subtract_rows", {centered, values}, {"mean"});
  plan.over_rows("eager_square", {squares, centered});
  plan.row_reduction("eager_mean", variance.name, squares, share);
  plan.over_vector("eager_add_eps", {sum, variance}, rows, {1, eps(problem)});
  plan.over_vector("eager_rsqrt", {{"rstd", rows}, sum}, rows);
  plan.over_rows("eager_scale_rows", {normalized, centered}, {"rstd"});
  plan.over_rows("eager_scale_columns", {scaled, normalized}, {"weight"});
  plan.over_rows("eager_add_columns", {"y", scaled}, {"bias"});
}

void LayerNorm::add_eager_backward(EagerPlan& plan, const Problem& problem) {
  const float share = column_share(problem);
  const Operand h = plan.temporary("normalized"), terms = plan.temporary("weight_terms"),
                g = plan.temporary("gradient"), products = plan.temporary("products"), along = plan.temporary("along"),
                rest = plan.temporary("rest"), centered = plan.temporary("centered");
  const Operand mean_gh = plan.vector("mean_product", problem.rows),
                mean_g = plan.vector("mean_gradient", problem.rows);
  plan.over_rows("eager_normalize", {h, "x"}, {"mean", "rstd"});
  plan.over_rows("eager_weight_terms", {terms, "dy", h});
  plan.column_sum("dweight", terms);
  plan.column_sum("dbias", "dy", "eager_partial_column_sum_element");
  plan.over_rows("eager_scale_gradient", {g, "dy"}, {"weight"});
  plan.over_rows("eager_multiply", {products, g, h});
  plan.row_reduction("eager_mean", mean_gh.name, products, share);
  plan.row_reduction("eager_mean", mean_g.name, g, share);
  plan.over_rows("eager_scale_rows", {along, h}, {mean_gh.name});
  plan.over_rows("eager_subtract", {rest, g, along});
  plan.over_rows("eager_subtract_rows", {centered, rest}, {mean_g.name});
  plan.over_rows("eager_scale_rows_down", {"dx", centered}, {"rstd"});
}

}  // namespace

std::unique_ptr<Operation> make_layer_norm() { return std::make_unique<LayerNorm>(); }

}  // namespace kernels

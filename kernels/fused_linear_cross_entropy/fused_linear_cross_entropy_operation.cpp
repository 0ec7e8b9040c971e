// The last linear layer of a model and its cross entropy as an operation of the catalogue. rows: tokens, columns: classes,
// depth: hidden size.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/catalog/row_operation.hpp"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_plan.hpp"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_reference.hpp"

namespace kernels {
namespace {

namespace ce = cross_entropy;
namespace flce = fused_linear_cross_entropy;

constexpr const char* tile_program = "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.hpp";

// With gradients three matrix products, of 2 rows x classes x hidden size operations each; without, the one that gives the logits.
double product_operations(Pass pass, const Problem& problem) {
  if (flce::scales_gradients(pass, problem)) return 0;
  const double products = flce::has_gradients(pass, problem) ? 3 : 1;
  return products * 2 * double(problem.rows) * double(problem.columns) * double(problem.depth);
}

bool is_gradient(const std::string& tensor) { return tensor == "dinput" || tensor == "dweight" || tensor == "dbias"; }

class FusedLinearCrossEntropy final : public Operation {
 public:
  std::string name() const override { return "fused_linear_cross_entropy"; }
  int tier() const override { return 3; }
  std::string tier_reason() const override {
    return "three matrix products around several reductions over a row; logits live a chunk of rows at a time, and the "
           "gradients are computed in the forward pass";
  }
  std::string formula() const override {
    return "forward: logits = input weight^T + bias, the loss of cross_entropy; G = d loss / d logits; dinput = G "
           "weight, dweight = G^T input, dbias = 1^T G\n"
           "backward: the gradients times dloss (reduction none: computed here, G of each row times its dloss)\n"
           "(label smoothing: Szegedy et al. 2016, arXiv:1512.00567; z loss: Chowdhery et al. 2022, arXiv:2204.02311; "
           "chunks of rows: Hsu et al. 2024, arXiv:2410.10989)";
  }
  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> specs = ce::loss_option_specs("ce_weight");
    specs.push_back({"bias", {"no", "yes"}, "whether the layer has a bias"});
    specs.push_back({"use_token_scaling",
                     {"no", "yes"},
                     "whether a row's loss is multiplied by its label's probability, taken as a constant"});
    specs.push_back(
        {"accum_dtype", {"input", "fp32"}, "type in which the weight's gradient is summed up over the chunks"});
    return specs;
  }
  std::vector<DType> dtypes() const override { return {DType::fp32, DType::bf16, DType::fp16}; }
  std::string main_file() const override { return tile_program; }
  SourceNotes source_notes(const Problem& problem) const override {
    return {
        "unit stride along a row of logits, rows padded to 16 bytes; each row is read twice by its core, the second "
        "time from its caches; matrix products by the device's library",
        "the gradient replaces the logits that were just read: plain stores, because the next product reads it",
        "the gradient is written over the logits of its chunk; backward scales the gradients where they lie",
        flce::scales_gradients(Pass::backward, problem)
            ? "the gradients are computed in forward, so that backward has nothing to recompute"
            : "without a reduction backward recomputes the logits: a row's gradient is scaled before rows are summed "
              "up",
        "products summed in fp32, logits and their gradient rounded to the type; exponentials, sums and losses in fp32",
        problem.options.at("accum_dtype") == "fp32" ? "the weight's gradient summed up in fp32 and rounded once"
                                                    : "the weight's gradient rounded once a chunk",
        "a chunk of rows at a time: product, losses and gradients, two products; the weight's gradient accumulates in "
        "its product",
        "ELEMENT, the options, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH_ROWS, STREAMING_STORES"};
  }

  std::string x_name() const override { return "num_tokens"; }
  std::vector<std::int64_t> default_sizes(const Target& target, DType) const override {
    if (target.machine == Machine::cuda) return {2048, 4096, 8192, 16384};
    return {256, 512, 1024, 2048};
  }
  // CUDA: hidden size and vocabulary of an 8 billion parameter model. CPU: a sixteenth of each, so that a pass takes a second.
  Problem problem_at(std::int64_t x, const Target& target, DType dtype, const Options& options) const override {
    if (target.machine == Machine::cuda) return {x, 128256, 4096, dtype, options};
    return {x, 8016, 256, dtype, options};
  }
  std::int64_t x_of(const Problem& problem) const override { return problem.rows; }
  // Short, now and then no integer of vectors.
  std::int64_t depth_for(std::int64_t rows, std::int64_t columns) const override {
    return (rows + columns) % 3 == 0 ? 16 : 8 + (rows + columns) % 41;
  }
  std::string check(const Problem& problem) const override;

  std::vector<TensorSpec> tensors(const Problem& problem) const override;
  PassSpec pass(Pass pass, const Problem& problem) const override;
  Traffic traffic(Pass pass, const Problem& problem) const override {
    const double rows = double(problem.rows), classes = double(problem.columns), hidden = double(problem.depth);
    // One for each element of the gradients that are multiplied, or those of cross_entropy besides the products.
    const double own = flce::scales_gradients(pass, problem)
                           ? rows * hidden + classes * hidden + (flag_option(problem, "bias") ? classes : 0)
                           : ce::operations(Pass::forward, problem) * rows * classes;
    Traffic traffic = tensor_traffic(*this, pass, problem, own + product_operations(pass, problem));
    traffic.matrix_flops = product_operations(pass, problem);
    return traffic;
  }

  std::vector<Knob> knobs(Pass pass, const Target& target) const override { return flce::knobs(pass, target); }
  std::string valid(Pass pass, const Settings& settings, const Problem& problem, const Target& target) const override {
    return flce::valid(pass, settings, problem, target);
  }
  Settings heuristic(Pass pass, const Problem& problem, const Target& target) const override {
    return flce::heuristic(pass, problem, target);
  }
  Plan plan(Pass pass, const Problem& problem, const Settings& settings, const Target& target,
            Ablation ablation) const override;
  Plan eager_plan(Pass pass, const Problem& problem, const Target& target) const override {
    return flce::eager_plan(pass, problem, target);
  }

  void reference(Pass pass, const Problem& problem, Values& values) const override {
    flce::reference(pass, problem, values);
  }
  double tolerance(Pass pass, const std::string& tensor, const Problem& problem) const override;
  double value_scale(Pass pass, const std::string& tensor, const Problem& problem, const Values& inputs,
                     const Values& results) const override;
};

std::string FusedLinearCrossEntropy::check(const Problem& problem) const {
  if (const std::string wrong = check_options(*this, problem.options); !wrong.empty()) return wrong;
  if (const std::string wrong = ce::check_loss_options(problem); !wrong.empty()) return wrong;
  if (problem.dtype == DType::int64) return "dtype must be fp32, bf16 or fp16";
  if (problem.depth < 0) return "sizes must not be negative";
  for (const std::int64_t rows : {problem.rows, problem.columns}) {
    Problem matrix = problem;
    matrix.rows = rows;
    matrix.columns = problem.depth;
    if (const std::string wrong = check_sizes(matrix); !wrong.empty()) return wrong;
  }
  return check_sizes(problem);
}

std::vector<TensorSpec> FusedLinearCrossEntropy::tensors(const Problem& problem) const {
  const std::int64_t stride = problem.depth + problem.row_padding;
  std::vector<TensorSpec> tensors = {{"input", problem.dtype, problem.rows, problem.depth, stride},
                                     {"weight", problem.dtype, problem.columns, problem.depth, problem.depth}};
  // Logits of about 1.
  tensors.back().scale = 1 / std::sqrt(double(std::max<std::int64_t>(problem.depth, 1)));
  for (TensorSpec& spec : ce::loss_tensors(problem)) tensors.push_back(std::move(spec));
  const bool bias = flag_option(problem, "bias");
  if (bias) {
    tensors.push_back({"bias", problem.dtype, 1, problem.columns, problem.columns});
    tensors.back().scale = 0.5;
  }
  tensors.push_back({"dinput", problem.dtype, problem.rows, problem.depth, stride});
  tensors.push_back({"dweight", problem.dtype, problem.columns, problem.depth, problem.depth});
  if (bias) tensors.push_back({"dbias", problem.dtype, 1, problem.columns, problem.columns});
  return tensors;
}

PassSpec FusedLinearCrossEntropy::pass(Pass pass, const Problem& problem) const {
  std::vector<std::string> gradients = {"dinput", "dweight"};
  if (flag_option(problem, "bias")) gradients.push_back("dbias");
  if (flce::scales_gradients(pass, problem)) {
    PassSpec spec = {gradients, gradients, gradients, {}};
    spec.inputs.push_back("dloss");
    return spec;
  }
  PassSpec spec;
  spec.inputs = {"input", "weight"};
  for (std::string& name : ce::loss_inputs(problem)) spec.inputs.push_back(std::move(name));
  if (flag_option(problem, "bias")) spec.inputs.push_back("bias");
  if (pass == Pass::forward) {
    spec.outputs = ce::loss_outputs(problem);
  } else {
    spec.inputs.push_back("dloss");
  }
  if (flce::has_gradients(pass, problem)) {
    spec.outputs.insert(spec.outputs.end(), gradients.begin(), gradients.end());
    if (pass == Pass::forward) spec.saved = gradients;
  }
  return spec;
}

Plan FusedLinearCrossEntropy::plan(Pass pass, const Problem& problem, const Settings& settings, const Target& target,
                                   Ablation ablation) const {
  const auto found = settings.find("CHUNK_ROWS");
  const std::int64_t chunk = found == settings.end() ? 0 : found->second;
  const Problem rows = flce::row_problem(pass, problem, chunk);
  Configured configured = configured_on(target, flce::space(pass, rows), settings, rows, pass, ablation);
  Plan plan = flce::launches(pass, problem, configured.config, chunk);
  plan.main_file = tile_program;
  plan.defines = std::move(configured.defines);
  for (auto& define : flce::option_defines(pass, problem)) plan.defines.push_back(std::move(define));
  return plan;
}

// With u the unit roundoff of 16-bit elements:
// Losses: those of cross_entropy, and the logits' own error: the sum of their products in fp32; in 16 bits a logit that lies
// within that error of the middle between two values is rounded to the other one, 2 u away.
// Gradients: each is rounded (u), and is a sum of rounded G (independent roundings of standard deviation 0.42 u, five of them:
// 2 u); a logit rounded to the other value changes its share by 2 u. Where the weight's gradient is kept in 16 bits between
// chunks, every chunk (128 rows at least) rounds once more: 1.7 u times the square root of their number.
double FusedLinearCrossEntropy::tolerance(Pass pass, const std::string& tensor, const Problem& problem) const {
  const double u = unit_roundoff(problem.dtype), cap = number_option(problem, "softcap");
  const bool half = problem.dtype != DType::fp32;
  if (flce::scales_gradients(pass, problem)) return 1.5 * u;
  const double logits = sum_error(problem.depth) + (half ? 2 * u : 0);
  if (!is_gradient(tensor)) {
    const double loss = ce::loss_tolerance(tensor, problem);
    return tensor == "loss" || tensor == "z_loss" ? loss + logits : loss;
  }
  const bool sums_rows = tensor != "dinput";
  const double sums = sum_error(problem.columns) + sum_error(sums_rows ? problem.rows : problem.columns);
  const bool rounds_chunks = half && tensor == "dweight" && problem.options.at("accum_dtype") == "input";
  const double chunks = rounds_chunks && problem.rows > 128 ? 1.7 * u * std::sqrt(double(problem.rows) / 128) : 0;
  return (half ? 3 * u : 0) + chunks + logits + sums + (1 + cap) * 0x1p-19;
}

// Gradients: of the size of the terms that are added up, the label's part of G times an element of the other factor, which cancel
// where p is near 1 or labels meet; and of G's steps below the type's smallest normal number.
double FusedLinearCrossEntropy::value_scale(Pass pass, const std::string& tensor, const Problem& problem,
                                            const Values& inputs, const Values& results) const {
  const double size = root_mean_square(results.at(tensor));
  if (flce::scales_gradients(pass, problem)) return std::max(size, smallest_normal(problem.dtype));
  const bool bias = flag_option(problem, "bias");
  const double logit_size = root_mean_square(inputs.at("input")) * root_mean_square(inputs.at("weight")) *
                                std::sqrt(double(std::max<std::int64_t>(problem.depth, 1))) +
                            (bias ? root_mean_square(inputs.at("bias")) : 0);
  if (!is_gradient(tensor)) return ce::loss_scale(tensor, problem, results, logit_size);

  const ce::LossOptions options = ce::loss_options(problem);
  const std::vector<double>* weights = options.weighted ? &inputs.at("ce_weight") : nullptr;
  const ce::LossTotals totals = ce::loss_totals(options, inputs.at("target"), weights);
  double largest = 1 + 2 * options.lse_square_scale * (std::log(double(problem.columns)) + logit_size);
  if (weights) largest *= 1.5;
  if (options.mean && totals.rows > 0) largest /= std::max(std::min(totals.rows, totals.weights_of_labels), 1e-30);
  if (pass == Pass::backward) largest *= root_mean_square(inputs.at("dloss"));
  const bool sums_rows = tensor != "dinput";
  const double other = tensor == "dbias"    ? 1
                       : tensor == "dinput" ? root_mean_square(inputs.at("weight"))
                                            : root_mean_square(inputs.at("input"));
  const double count = double(std::max<std::int64_t>(sums_rows ? problem.rows : problem.columns, 1));
  return std::max({size, largest * other, smallest_normal(problem.dtype) * (1 + std::sqrt(count) * other)});
}

}  // namespace

std::unique_ptr<Operation> make_fused_linear_cross_entropy() { return std::make_unique<FusedLinearCrossEntropy>(); }

}  // namespace kernels

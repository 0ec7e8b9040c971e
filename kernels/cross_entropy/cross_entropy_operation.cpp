// Cross entropy as an operation of the catalogue.
#include <algorithm>
#include <cmath>

#include "kernels/catalog/row_operation.hpp"
#include "kernels/cross_entropy/cross_entropy_reference.hpp"

namespace kernels {
namespace {

namespace ce = cross_entropy;

class CrossEntropy final : public RowOperation {
 public:
  std::string name() const override { return "cross_entropy"; }
  int tier() const override { return 3; }
  std::string tier_reason() const override {
    return "several reductions over a row, and the gradient is computed in the forward pass, in place of the logits";
  }
  std::string formula() const override {
    return "forward: loss = (1 - s) w[y] (lse - x[y]) + s / V * sum(w (lse - x)) + lse_square_scale * lse^2 of each "
           "row, "
           "x = softcap * tanh(logits / softcap), lse = log(sum(e^x)); logits become d loss / d logits\n"
           "backward: logits = dloss * logits\n"
           "(label smoothing: Szegedy et al. 2016, arXiv:1512.00567; z loss: Chowdhery et al. 2022, arXiv:2204.02311)";
  }
  std::vector<OptionSpec> options() const override { return ce::loss_option_specs(); }
  SourceNotes source_notes(const Problem&) const override {
    return {
        "unit stride along a row, rows contiguous or padded; each row is read twice by its core, the second time from "
        "its caches",
        "the gradient replaces the logits that were just read: plain stores",
        "forward writes the gradient over the logits, backward scales it where it lies",
        "the gradient is computed in forward, so that backward has nothing to recompute",
        "exponentials, sums and losses in fp32; the gradient rounded to the type, to nearest even",
        "fp32 throughout, one rounding of each gradient",
        "maximum and sum of exponentials in one reading of a row, then a map; losses of rows are reduced afterwards",
        "ELEMENT, the options, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH_ROWS, STREAMING_STORES"};
  }
  std::string x_name() const override { return "vocab_size"; }
  std::vector<std::int64_t> default_sizes(const Target&, DType) const override { return {8192, 16384, 32768, 131072}; }
  // CPU: 1024 tokens or more, so that the smallest matrix is several times the last-level cache.
  Problem problem_at(std::int64_t x, const Target& target, DType dtype, const Options& options) const override {
    std::int64_t rows = 8192;
    if (target.machine == Machine::cpu) {
      rows = 1024 * 4 / size_of(dtype);
      while (rows < 65536 && rows * 8192 * size_of(dtype) < target.last_level_bytes) rows *= 2;
    }
    return {rows, x, 0, dtype, options};
  }

  std::vector<TensorSpec> tensors(const Problem& problem) const override {
    std::vector<TensorSpec> tensors = {row_matrix("logits", problem)};
    for (TensorSpec& spec : ce::loss_tensors(problem)) tensors.push_back(std::move(spec));
    return tensors;
  }
  PassSpec pass(Pass pass, const Problem& problem) const override {
    if (pass == Pass::backward) return {{"logits", "dloss"}, {"logits"}, {"logits"}, {}};
    PassSpec spec = {{"logits"}, {"logits"}, {"logits"}, {"logits"}};
    for (std::string& name : ce::loss_inputs(problem)) spec.inputs.push_back(std::move(name));
    for (std::string& name : ce::loss_outputs(problem)) spec.outputs.push_back(std::move(name));
    return spec;
  }
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    ce::reference(pass, problem, values);
  }
  // The gradient is rounded once; its share e^(x - max) / sum has the errors of softmax, and a softcap multiplies tanh's error
  // by the cap in the exponent.
  double tolerance(Pass pass, const std::string& tensor, const Problem& problem) const override {
    if (pass == Pass::forward && tensor != "logits") return ce::loss_tolerance(tensor, problem);
    const double cap = number_option(problem, "softcap");
    return 1.5 * unit_roundoff(problem.dtype) + sum_error(problem.columns) + (1 + cap) * 0x1p-20;
  }
  // Gradients: of the size of the terms p A and C, which cancel at a label that is certain. A 16-bit gradient smaller than
  // the type's smallest normal number is rounded to steps of its own.
  double value_scale(Pass pass, const std::string& tensor, const Problem& problem, const Values& inputs,
                     const Values& results) const override {
    if (pass == Pass::forward && tensor != "logits") {
      return ce::loss_scale(tensor, problem, results, root_mean_square(inputs.at("logits")));
    }
    double terms = 0;
    if (pass == Pass::forward && problem.rows > 0) {
      const double rows = problem.options.at("reduction") == "mean" ? double(problem.rows) : 1;
      terms = 1 / (rows * std::sqrt(double(std::max<std::int64_t>(problem.columns, 1))));
    }
    return std::max({root_mean_square(results.at(tensor)), terms, smallest_normal(problem.dtype)});
  }

 protected:
  RowSpace space(Pass pass) const override {
    RowSpace space;
    space.block_rows = {1, 2};  // rows share nothing but the weights: two of them are two more streams
    space.in_place = true;
    // CUDA: no bulk copies, because rows that are left out are not read; one vector's logits beside its exponentials.
    space.registers = 32;
    space.registers_per_vector = 20;
    if (pass == Pass::forward) {
      space.reads_rows_twice = true;
      space.longest_held_vectors = 2048;
      space.has_ring = true;
      // Logits that stay as they were read: 64 registers at four vectors, 124 at eight with every option in use.
      space.registers_per_vector = 8;
      space.most_vectors = 4;  // the exponential takes a dozen registers beside each vector in flight
    }
    return space;
  }
  double operations(Pass pass, const Problem& problem) const override { return ce::operations(pass, problem); }
  void add_launches(RowPlan& plan, Pass pass, const Problem& problem) const override {
    if (pass == Pass::backward) {
      plan.over_rows(per_row(problem) ? "cross_entropy_scale_rows" : "cross_entropy_scale", {"logits"}, {"dloss"});
      return;
    }
    const int threads = plan.config().num_threads;
    ce::add_loss_scratch(problem, plan.raw());
    ce::add_count("cross_entropy_count", problem, threads, plan.raw());
    const ::cross_entropy::ForwardArguments<Given, void> forward = {.logits = matrix_of("logits", problem),
                                                                    .bias = tensor(""),
                                                                    .upstream = tensor(""),
                                                                    .loss = ce::loss_arguments(problem)};
    plan.over_rows_of(problem, "cross_entropy_forward", arguments(forward));
    ce::add_reductions("cross_entropy_reduce", problem, threads, plan.raw());
  }
  void add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const override {
    plan.define(ce::loss_defines(problem));
    if (pass == Pass::forward) {
      ce::add_eager_forward(plan, problem, "logits", "logits");
    } else {
      plan.over_rows(per_row(problem) ? "eager_scale_rows" : "eager_scale_all", {"logits", "logits"}, {"dloss"});
    }
  }
  Defines option_defines(const Problem& problem) const override {
    Defines defines = ce::loss_defines(problem);
    // The launch ahead counts labels and writes no logits.
    if (ce::needs_totals(problem)) defines.emplace_back("ROWS_FROM_BEFORE", "1");
    return defines;
  }
  std::string check_values(const Problem& problem) const override { return ce::check_loss_options(problem); }

 private:
  static bool per_row(const Problem& problem) { return problem.options.at("reduction") == "none"; }
};

}  // namespace

std::unique_ptr<Operation> make_cross_entropy() { return std::make_unique<CrossEntropy>(); }

}  // namespace kernels

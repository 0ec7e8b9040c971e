// GRPO's loss as an operation of the catalogue.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/catalog/row_operation.hpp"
#include "kernels/grpo_loss/grpo_loss_plan.hpp"
#include "kernels/grpo_loss/grpo_loss_reference.hpp"

namespace kernels {
namespace {

bool is_ppo(const std::string& type) { return type != "cispo" && type != "sapo" && type != "vespo"; }

class GrpoLoss final : public RowOperation {
 public:
  std::string name() const override { return "grpo_loss"; }
  int tier() const override { return 3; }
  std::string tier_reason() const override {
    return "a reduction over each row of logits, losses of tokens and sequences, and a second reading for the gradient";
  }
  std::string formula() const override {
    return "forward: logp = log_softmax(logits / temperature)[id], rho = e^(logp - old), loss = -min(rho A, clip(rho) "
           "A) + "
           "beta kl of each token (and seven more types)\n"
           "backward: dlogits = ([column is id] - p) * dloss/dlogp / temperature\n"
           "(GRPO: Shao et al. 2024, arXiv:2402.03300; DAPO: arXiv:2503.14476; further types: grpo_loss_tokens.hpp)";
  }
  std::vector<OptionSpec> options() const override {
    return {
        {"loss_type", {"grpo", "dapo", "bnpo", "dr_grpo", "luspo", "cispo", "sapo", "vespo"}, "formula and reduction"},
        {"importance_sampling_level", {"token", "sequence"}, "whether rho is a token's or its sequence's"},
        {"reduce", {"no", "yes"}, "whether losses, kl and clipping are reduced to one number each"},
        {"old_logp", {"yes", "no"}, "whether the old policy's log probabilities are given; no: the present ones"},
        {"completion_mask", {"yes", "no"}, "whether some tokens are left out"},
        {"vllm_is_ratio", {"no", "token", "sequence"}, "ratio of the sampler that multiplies the loss before kl"},
        {"use_bias_correction_kl", {"no", "yes"}, "whether kl is multiplied by rho"},
        {"in_place", {"yes", "no"}, "whether backward writes the gradient over the logits"},
        {"temperature", {}, "divides the logits", "0.9", {"0.9", "1.5"}},
        {"beta", {}, "factor of kl; 0: no reference model", "0.04", {"0.04", "0"}},
        {"eps_low", {}, "rho is clipped below 1 - eps_low", "0.2", {"0.2", "0.1"}},
        {"eps_high", {}, "rho is clipped above 1 + eps_high (cispo: above eps_high)", "0.4", {"0.4", "0.3"}},
        {"delta", {}, "an upper bound of the unclipped rho (two-sided clipping); 0: none", "0", {"0", "1.2"}},
        {"sapo_temperature_pos", {}, "sapo's temperature for positive advantages", "1", {"1", "1.3"}},
        {"sapo_temperature_neg", {}, "sapo's temperature for the others", "1.05", {"1.05", "0.8"}},
        {"max_completion_length", {}, "dr_grpo divides by it; 0: by the length of the batch", "0", {"0", "12"}},
        {"num_items_in_batch", {}, "dapo, cispo and vespo divide by it; 0: by the tokens with mask", "0", {"0", "50"}}};
  }
  SourceNotes source_notes(const Problem& problem) const override {
    return {
        "unit stride along a row of logits; forward reads it once in stretches, backward once",
        "with STREAMING_STORES = 1 gradients in memory of their own bypass the caches",
        flag_option(problem, "in_place") ? "backward writes the gradient over the logits" : "none",
        "lse and logp of each token (and rho of each sequence) are saved; probabilities are recomputed in backward",
        "exponentials, sums and losses in fp32; gradients rounded to the type, to nearest even",
        "fp32 throughout, one rounding of each gradient",
        "maximum and sum of exponentials in one reading; scalar work of tokens and sequences in launches of their own",
        "ELEMENT, the options, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH, STREAMING_STORES"};
  }
  std::string x_name() const override { return "vocab_size"; }
  std::vector<std::int64_t> default_sizes(const Target&, DType) const override { return {8192, 16384, 32768, 131072}; }
  // CPU: 2048 tokens of 8 sequences or more, so that the smallest matrix is several times the last-level cache.
  Problem problem_at(std::int64_t x, const Target& target, DType dtype, const Options& options) const override {
    std::int64_t rows = 16384;
    if (target.machine == Machine::cpu) {
      rows = 2048 * 4 / size_of(dtype);
      while (rows < 65536 && rows * 8192 * size_of(dtype) < 2 * target.last_level_bytes) rows *= 2;
    }
    return {rows, x, 8, dtype, options};
  }
  // The smallest number of sequences greater than 1, up to 4, that divides the tokens.
  std::int64_t depth_for(std::int64_t rows, std::int64_t) const override {
    for (const std::int64_t sequences : {2, 3, 4}) {
      if (rows > 0 && rows % sequences == 0) return sequences;
    }
    return 1;
  }

  std::vector<TensorSpec> tensors(const Problem& problem) const override;
  PassSpec pass(Pass pass, const Problem& problem) const override;
  void reference(Pass pass, const Problem& problem, Values& values) const override {
    grpo_loss::reference(pass, problem, values);
  }
  // lse and logp: the sum of exponentials, and roundings of logits as large as logp. What is exponentiated again (rho, kl)
  // turns absolute errors of logp into relative ones.
  double tolerance(Pass pass, const std::string& tensor, const Problem& problem) const override {
    const double fp32 = sum_error(problem.columns) + 0x1p-19;
    if (tensor == "lse" || tensor == "logp") return fp32;
    if (tensor == "is_clipped") return grpo_loss::reduces(problem) ? 0x1p-20 : 0;
    if (tensor == "rho") return 16 * fp32;
    const double sums = grpo_loss::reduces(problem) || grpo_loss::by_sequence(problem) ? sum_error(problem.rows) : 0;
    return 16 * fp32 + sums + (pass == Pass::forward ? 0 : 1.5 * unit_roundoff(problem.dtype));
  }
  double value_scale(Pass pass, const std::string& tensor, const Problem& problem, const Values& inputs,
                     const Values& results) const override {
    const double size = Operation::value_scale(pass, tensor, problem, inputs, results);
    if (pass == Pass::backward) {
      // Of one column the share is 1: the gradient is nothing but the rounding of 1 - p, times what comes from above.
      const double above = problem.columns == 1 ? root_mean_square(inputs.at("dloss")) : 0;
      return std::max({size, above, smallest_normal(problem.dtype)});
    }
    // logp is a difference of numbers like lse; a reduced loss is what is left of losses of either sign.
    // kl is what is left of e^d - d - 1, where e^d and its difference with d are near 1: exp is right to 2 units in the last
    // place, 2^-22, and the difference is rounded by 2^-24, 3.0e-7 together whatever d is. The tolerance, 16 (2^-19 + the error
    // of a short sum), takes 2^-7 to 3.2e-7.
    if (tensor == "kl") return std::max(size, 0x1p-7);
    if (tensor == "logp") return std::max(size, root_mean_square(results.at("lse")));
    if (tensor != "loss" || !grpo_loss::reduces(problem)) return size;
    const double tokens = problem.options.at("loss_type") == "luspo" ? double(grpo_loss::sizes_of(problem).length) : 1;
    return size + tokens * (1 + root_mean_square(results.at("logp")));
  }

 protected:
  RowSpace space(Pass pass) const override {
    RowSpace space;
    space.block_rows = {1, 2};  // rows share nothing: two of them are two more streams
    space.most_vectors = 4;     // the exponential takes a dozen registers beside each vector in flight
    // CUDA: no bulk copies, because rows that are left out are not read; one vector's logits beside its exponentials.
    space.registers = 32;
    space.registers_per_vector = 20;
    space.result_matrices = pass == Pass::forward ? 0 : 1;
    space.in_place = pass == Pass::forward;
    return space;
  }
  // An exponential counted as one: forward the product with 1 / temperature, a comparison, a difference, exp and a sum; backward
  // the product, the difference, exp, the comparison with the token, the difference and the product. What is done for each token is
  // left out.
  double operations(Pass pass, const Problem&) const override { return pass == Pass::forward ? 5 : 6; }
  void add_launches(RowPlan& plan, Pass pass, const Problem&) const override { grpo_loss::add_launches(plan, pass); }
  void add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const override {
    plan.define(grpo_loss::loss_defines(problem));
    grpo_loss::add_eager(plan, pass);
  }
  Defines option_defines(const Problem& problem) const override { return grpo_loss::loss_defines(problem); }
  std::string check_values(const Problem& problem) const override;
};

std::string GrpoLoss::check_values(const Problem& problem) const {
  const std::string& type = problem.options.at("loss_type");
  const auto number = [&](const char* name) { return number_option(problem, name); };
  if (!(number("temperature") > 0)) return "temperature must be positive";
  if (number("beta") < 0) return "beta must not be negative";
  if (number("delta") < 0) return "delta must not be negative";
  if (number("delta") != 0 && !is_ppo(type))
    return "delta is of loss types that clip rho on both sides, not of " + type;
  if (grpo_loss::by_sequence(problem) && !is_ppo(type)) {
    return "importance_sampling_level sequence is of loss types that clip rho on both sides, not of " + type;
  }
  if (type == "sapo" && !(number("sapo_temperature_pos") > 0 && number("sapo_temperature_neg") > 0)) {
    return "sapo's temperatures must be positive";
  }
  if (number("max_completion_length") < 0 || number("num_items_in_batch") < 0) return "counts must not be negative";
  if (problem.depth < 0 || (problem.depth > 0 && problem.rows % problem.depth != 0)) {
    return "rows (tokens) must be a multiple of depth (sequences)";
  }
  if (problem.columns > std::numeric_limits<std::int32_t>::max())
    return "columns must be at most 2^31 - 1: they are tokens' ids";
  if (problem.columns == 0 && problem.rows > 0) return "tokens without columns have no ids";
  return "";
}

std::vector<TensorSpec> GrpoLoss::tensors(const Problem& problem) const {
  const auto [sequences, length] = grpo_loss::sizes_of(problem);
  const std::int64_t tokens = problem.rows, values = grpo_loss::reduces(problem) ? 1 : tokens;
  std::vector<TensorSpec> tensors = {row_matrix("logits", problem)};
  tensors.back().rows = tokens + sequences;
  if (!flag_option(problem, "in_place")) {
    tensors.push_back(tensors.back());
    tensors.back().name = "dlogits";
  }
  const auto vector = [&](const char* name, std::int64_t rows) { tensors.push_back({name, DType::fp32, rows, 1, 1}); };
  tensors.push_back({"completion_ids", DType::int64, tokens, 1, 1, Distribution::labels,
                     double(std::max<std::int64_t>(problem.columns, 1))});
  vector("advantages", sequences);
  // Log probabilities as normal logits have them: -log(columns) less half their variance, and a policy not far from them.
  const double temperature = number_option(problem, "temperature");
  const double typical =
      -std::log(double(std::max<std::int64_t>(problem.columns, 1))) - 0.5 / (temperature * temperature);
  for (const char* name : {"old_logp", "ref_logp"}) {
    if (std::string(name) == "old_logp" ? !flag_option(problem, name) : !grpo_loss::has_kl(problem)) continue;
    vector(name, tokens);
    tensors.back().offset = typical;
    tensors.back().scale = 0.25;
  }
  if (flag_option(problem, "completion_mask")) {
    tensors.push_back({"completion_mask", DType::fp32, tokens, 1, 1, Distribution::labels, 1, 1, 0, 0.25});
  }
  const std::string& ratio = problem.options.at("vllm_is_ratio");
  if (ratio != "no" && problem.options.at("loss_type") != "vespo") {
    tensors.push_back(
        {"vllm_is_ratio", DType::fp32, ratio == "token" ? tokens : sequences, 1, 1, Distribution::uniform, 1, 0.5});
  }
  if (problem.options.at("loss_type") == "vespo") {
    tensors.push_back({"phi", DType::fp32, sequences, 1, 1, Distribution::uniform, 1, 0.5});
  }
  vector("loss", values);
  vector("is_clipped", values);
  if (grpo_loss::has_kl(problem)) vector("kl", values);
  vector("lse", tokens);
  vector("logp", tokens);
  if (grpo_loss::by_sequence(problem)) vector("rho", sequences);
  if (grpo_loss::by_sequence(problem) || grpo_loss::reduces(problem)) vector("counts", sequences);
  vector("dloss", values);
  return tensors;
}

PassSpec GrpoLoss::pass(Pass pass, const Problem& problem) const {
  std::vector<std::string> inputs, saved = {"lse", "logp"};
  const auto all = tensors(problem);
  const auto exists = [&](const std::string& name) {
    return std::any_of(all.begin(), all.end(), [&](const TensorSpec& spec) { return spec.name == name; });
  };
  for (const char* name :
       {"logits", "completion_ids", "advantages", "old_logp", "ref_logp", "completion_mask", "vllm_is_ratio", "phi"}) {
    if (exists(name)) inputs.push_back(name);
  }
  for (const char* name : {"rho", "counts"}) {
    if (exists(name)) saved.push_back(name);
  }
  if (pass == Pass::backward) {
    PassSpec spec = {inputs, {grpo_loss::gradient_name(problem)}, {}, {}};
    spec.inputs.insert(spec.inputs.end(), saved.begin(), saved.end());
    spec.inputs.push_back("dloss");
    if (flag_option(problem, "in_place")) spec.overwritten = {"logits"};
    return spec;
  }
  PassSpec spec = {inputs, {"loss", "is_clipped"}, {}, saved};
  if (grpo_loss::has_kl(problem)) spec.outputs.push_back("kl");
  spec.outputs.insert(spec.outputs.end(), saved.begin(), saved.end());
  return spec;
}

}  // namespace

std::unique_ptr<Operation> make_grpo_loss() { return std::make_unique<GrpoLoss>(); }

}  // namespace kernels

// See grpo_loss_plan.hpp.
#include "kernels/grpo_loss/grpo_loss_plan.hpp"

#include <algorithm>

#include "kernels/catalog/row_problem.hpp"

namespace kernels::grpo_loss {
namespace {

const std::string& type_of(const Problem& problem) { return problem.options.at("loss_type"); }

// Which formula a loss's type is (LOSS_TYPE), and how it is reduced (REDUCTION).
int formula_of(const Problem& problem) {
  const std::string& type = type_of(problem);
  return type == "cispo" ? 1 : type == "sapo" ? 2 : type == "vespo" ? 3 : 0;
}
int reduction_of(const Problem& problem) {
  const std::string& type = type_of(problem);
  if (!reduces(problem)) return 0;
  if (type == "grpo" || type == "sapo") return 1;
  return type == "dr_grpo" ? 3 : type == "luspo" ? 4 : 2;
}

// The count that a reduction divides by in place of what the batch has; 0: the batch's.
float normalizer(const Problem& problem) {
  if (type_of(problem) == "bnpo") return 0;
  return float(number_option(problem, type_of(problem) == "dr_grpo" ? "max_completion_length" : "num_items_in_batch"));
}

bool has_ratio(const Problem& problem) {
  return problem.options.at("vllm_is_ratio") != "no" && type_of(problem) != "vespo";
}
Argument mask_of(const Problem& problem) { return tensor("completion_mask", flag_option(problem, "completion_mask")); }
Argument old_of(const Problem& problem) { return tensor("old_logp", flag_option(problem, "old_logp")); }

::grpo_loss::InputsOf<Given> token_inputs(const Problem& problem) {
  return {.logp = tensor("logp"),
          .old = old_of(problem),
          .ref = tensor("ref_logp", has_kl(problem)),
          .mask = mask_of(problem),
          .advantages = tensor("advantages"),
          .ratio = tensor("vllm_is_ratio", has_ratio(problem)),
          .rho = tensor("rho", by_sequence(problem)),
          .phi = tensor("phi", type_of(problem) == "vespo"),
          .length = sizes_of(problem).length,
          .sequences = sizes_of(problem).sequences,
          .ratio_of_sequence = problem.options.at("vllm_is_ratio") == "sequence" ? 1 : 0};
}

::grpo_loss::NumbersOf<Given> token_numbers(const Problem& problem) {
  const auto number = [&](const char* name) { return float(number_option(problem, name)); };
  return {.beta = number("beta"),
          .eps_low = number("eps_low"),
          .eps_high = number("eps_high"),
          .delta = number("delta"),
          .tau_positive = number("sapo_temperature_pos"),
          .tau_negative = number("sapo_temperature_neg")};
}

// A launch over tokens, a row of one element each: a few hundred thousand of them are worth a thread, on a CPU.
Launch token_launch(const std::string& entry, const std::vector<Argument>& others, const RowPlan& plan) {
  Problem scalars = plan.problem();
  scalars.columns = 64;
  const RowGrid grid = independent_rows(plan.config(), scalars);
  scalars.columns = 1;
  return row_launch(entry, grid, scalars, plan.config(), others);
}

bool needs_counts(const Problem& problem) { return by_sequence(problem) || reduces(problem); }
float inverse_temperature(const Problem& problem) { return float(1 / number_option(problem, "temperature")); }

// What lies behind the log probabilities, `prefix` of the entries: "grpo_loss_" or "eager_".
void add_token_losses(const std::string& prefix, RowPlan& plan) {
  const Problem& problem = plan.problem();
  const auto [sequences, length] = sizes_of(problem);
  const bool reduced = reduces(problem), kl = has_kl(problem);
  const auto rows_of = [&](const std::string& name) { return reduced ? name + "_rows" : name; };
  if (reduced) {
    for (const char* name : {"loss", "kl", "is_clipped"})
      plan.scratch({rows_of(name), DType::fp32, problem.rows, 1, 1});
    plan.scratch({"sums", DType::fp32, 3, sequences, sequences});
  }
  if (needs_counts(problem)) {
    plan.launch(prefix + "sequence", sequences,
                {tensor("logp"), old_of(problem), mask_of(problem), tensor("counts"),
                 tensor("rho", by_sequence(problem)), length});
  }
  const ::grpo_loss::TokenArguments<Given> tokens = {.losses = tensor(rows_of("loss")),
                                                     .kls = tensor(rows_of("kl"), kl),
                                                     .clips = tensor(rows_of("is_clipped")),
                                                     .in = token_inputs(problem),
                                                     .numbers = token_numbers(problem)};
  plan.raw().launches.push_back(token_launch(prefix + "tokens", arguments(tokens), plan));
  if (!reduced) return;
  plan.launch(prefix + "sequence_sums", sequences,
              {tensor("sums"), tensor("loss_rows"), tensor("kl_rows", kl), tensor("is_clipped_rows"), tensor("counts"),
               length, sequences, normalizer(problem)});
  plan.launch(prefix + "reduce", 1,
              {tensor("loss"), tensor("kl", kl), tensor("is_clipped"), tensor("sums"), tensor("counts"), sequences});
}

// What lies ahead of the gradient of the logits, which the scratch dlogp then holds for each token.
void add_token_gradients(const std::string& prefix, RowPlan& plan) {
  const Problem& problem = plan.problem();
  const std::int64_t sequences = sizes_of(problem).sequences;
  plan.scratch({"dlogp", DType::fp32, problem.rows, 1, 1});
  const ::grpo_loss::InputsOf<Given> inputs = token_inputs(problem);
  const ::grpo_loss::UpstreamOf<Given> upstream = {
      .dloss = tensor("dloss"), .counts = tensor("counts", needs_counts(problem)), .normalizer = normalizer(problem)};
  if (by_sequence(problem)) {
    plan.scratch({"sequence_gradients", DType::fp32, sequences, 1, 1});
    plan.launch(prefix + "sequence_gradient", sequences, arguments(tensor("sequence_gradients"), upstream, inputs));
  }
  const ::grpo_loss::TokenGradientArguments<Given> tokens = {
      .dlogp = tensor("dlogp"),
      .sequence_gradients = tensor("sequence_gradients", by_sequence(problem)),
      .upstream = upstream,
      .in = inputs,
      .numbers = token_numbers(problem)};
  plan.raw().launches.push_back(token_launch(prefix + "token_gradients", arguments(tokens), plan));
}

void add_last_positions(const std::string& prefix, RowPlan& plan) {
  Problem last = plan.problem();
  const auto [sequences, length] = sizes_of(last);
  last.rows = sequences;
  plan.over_rows_of(last, prefix + "last_positions", arguments(matrix_of(gradient_name(last), last), Argument(length)));
}

}  // namespace

Sizes sizes_of(const Problem& problem) {
  const std::int64_t sequences = std::max<std::int64_t>(problem.depth, 1);
  return {sequences, problem.rows / sequences};
}

bool reduces(const Problem& problem) { return flag_option(problem, "reduce"); }
bool by_sequence(const Problem& problem) { return problem.options.at("importance_sampling_level") == "sequence"; }
bool has_kl(const Problem& problem) { return number_option(problem, "beta") != 0; }
std::string gradient_name(const Problem& problem) { return flag_option(problem, "in_place") ? "logits" : "dlogits"; }

Defines loss_defines(const Problem& problem) {
  return {{"LOSS_TYPE", std::to_string(formula_of(problem))},
          {"REDUCTION", std::to_string(reduction_of(problem))},
          {"IS_SEQUENCE", flag(by_sequence(problem))},
          {"HAS_OLD", flag(flag_option(problem, "old_logp"))},
          {"HAS_MASK", flag(flag_option(problem, "completion_mask"))},
          {"HAS_KL", flag(has_kl(problem))},
          {"HAS_RATIO", flag(has_ratio(problem))},
          {"HAS_DELTA", flag(number_option(problem, "delta") != 0)},
          {"CORRECTS_KL", flag(flag_option(problem, "use_bias_correction_kl"))}};
}

void add_launches(RowPlan& plan, Pass pass) {
  const Problem& problem = plan.problem();
  const auto logits = matrix_of("logits", problem);
  const Argument length = sizes_of(problem).length, factor = inverse_temperature(problem);
  if (pass == Pass::forward) {
    plan.over_rows_of(
        problem, "grpo_loss_log_probabilities",
        arguments(logits, tensor("completion_ids"), mask_of(problem), tensor("lse"), tensor("logp"), length, factor));
    add_token_losses("grpo_loss_", plan);
    return;
  }
  add_token_gradients("grpo_loss_", plan);
  plan.over_rows_of(problem, "grpo_loss_backward",
                    arguments(matrix_of(gradient_name(problem), problem), logits, tensor("completion_ids"),
                              mask_of(problem), tensor("lse"), tensor("dlogp"), length, factor));
  add_last_positions("grpo_loss_", plan);
}

// log_softmax of the whole matrix in its primitive operations, the tokens' by the same small programs (a framework launches a
// dozen), and the chain rule back.
void add_eager(EagerPlan& plan, Pass pass) {
  const Problem& problem = plan.problem();
  const Operand scaled = plan.temporary("scaled"), shifted = plan.temporary("shifted"),
                powers = plan.temporary("powers");
  const Argument length = sizes_of(problem).length, factor = inverse_temperature(problem);
  plan.over_rows_of(problem, "eager_scale_logits",
                    arguments(matrix_of(scaled, problem), matrix_of("logits", problem), length, factor));
  if (pass == Pass::forward) {
    const std::string largest = plan.vector("largest", problem.rows).name, sum = plan.vector("sum", problem.rows).name;
    plan.row_reduction("eager_maximum", largest, scaled, 1);
    plan.over_rows("eager_subtract_rows", {shifted, scaled}, {largest});
    plan.over_rows("eager_exponential", {powers, shifted});
    plan.row_reduction("eager_sum", sum, powers, 1);
    plan.over_rows_of(problem, "eager_gather",
                      arguments(tensor("lse"), tensor("logp"), matrix_of(scaled, problem), tensor(sum), tensor(largest),
                                tensor("completion_ids"), mask_of(problem)));
    add_token_losses("eager_", plan);
    return;
  }
  add_token_gradients("eager_", plan);
  const Operand change = plan.temporary("change");
  plan.over_rows("eager_subtract_rows", {shifted, scaled}, {"lse"});
  plan.over_rows("eager_exponential", {powers, shifted});
  plan.over_rows("eager_subtract_from_label", {change, powers}, {"completion_ids"});
  plan.over_rows_of(problem, "eager_scale_gradient",
                    arguments(matrix_of(gradient_name(problem), problem), matrix_of(change, problem), tensor("dlogp"),
                              mask_of(problem), length, factor));
  add_last_positions("eager_", plan);
}

}  // namespace kernels::grpo_loss

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
Argument ratio_of(const Problem& problem) { return tensor("vllm_is_ratio", has_ratio(problem)); }
std::int64_t ratio_of_sequence(const Problem& problem) {
  return problem.options.at("vllm_is_ratio") == "sequence" ? 1 : 0;
}
Argument old_of(const Problem& problem) { return tensor("old_logp", flag_option(problem, "old_logp")); }

void append(std::vector<Argument>& to, std::vector<Argument> more) {
  for (Argument& argument : more) to.push_back(std::move(argument));
}

// logp to phi: what token programs read.
std::vector<Argument> token_inputs(const Problem& problem) {
  return {tensor("logp"),
          old_of(problem),
          tensor("ref_logp", has_kl(problem)),
          mask_of(problem),
          tensor("advantages"),
          ratio_of(problem),
          tensor("rho", by_sequence(problem)),
          tensor("phi", type_of(problem) == "vespo")};
}
std::vector<Argument> token_numbers(const Problem& problem) {
  std::vector<Argument> numbers;
  for (const char* name : {"beta", "eps_low", "eps_high", "delta", "sapo_temperature_pos", "sapo_temperature_neg"}) {
    numbers.emplace_back(float(number_option(problem, name)));
  }
  return numbers;
}

// Rows that are tokens: a few hundred thousand of them are worth a thread, on a CPU.
RowGrid token_grid(const RowPlan& plan) {
  Problem scalars = plan.problem();
  scalars.columns = 64;
  return independent_rows(plan.config(), scalars);
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
  const RowGrid grid = token_grid(plan);
  std::vector<Argument> tokens = {tensor(rows_of("loss")), tensor(rows_of("kl"), kl), tensor(rows_of("is_clipped"))};
  append(tokens, token_inputs(problem));
  append(tokens, {problem.rows, grid.rows_per_program, length, sequences, ratio_of_sequence(problem)});
  append(tokens, token_numbers(problem));
  plan.launch(prefix + "tokens", grid.programs, std::move(tokens));
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
  const auto [sequences, length] = sizes_of(problem);
  plan.scratch({"dlogp", DType::fp32, problem.rows, 1, 1});
  if (by_sequence(problem)) {
    plan.scratch({"sequence_gradients", DType::fp32, sequences, 1, 1});
    plan.launch(prefix + "sequence_gradient", sequences,
                {tensor("sequence_gradients"), tensor("dloss"), mask_of(problem), ratio_of(problem), tensor("counts"),
                 length, sequences, ratio_of_sequence(problem), normalizer(problem)});
  }
  const RowGrid grid = token_grid(plan);
  std::vector<Argument> tokens = {tensor("dlogp"), tensor("dloss"), tensor("counts", needs_counts(problem)),
                                  tensor("sequence_gradients", by_sequence(problem))};
  append(tokens, token_inputs(problem));
  append(tokens, {problem.rows, grid.rows_per_program, length, sequences, ratio_of_sequence(problem)});
  append(tokens, token_numbers(problem));
  tokens.emplace_back(normalizer(problem));
  plan.launch(prefix + "token_gradients", grid.programs, std::move(tokens));
}

void add_last_positions(const std::string& prefix, RowPlan& plan) {
  Problem last = plan.problem();
  const auto [sequences, length] = sizes_of(last);
  last.rows = sequences;
  const RowGrid grid = independent_rows(plan.config(), last);
  plan.launch(prefix + "last_positions", grid.programs,
              {tensor(gradient_name(last)), row_stride(last), sequences, grid.rows_per_program, last.columns, length});
}

// A program over the tokens' rows of logits: arguments behind sizes, which all of these have, are `last`.
void add_over_logits(const std::string& entry, std::vector<Argument> arguments, std::vector<Argument> last,
                     RowPlan& plan) {
  const Problem& problem = plan.problem();
  const RowGrid grid = independent_rows(plan.config(), problem);
  append(arguments, {problem.rows, grid.rows_per_program, problem.columns, sizes_of(problem).length});
  append(arguments, std::move(last));
  plan.launch(entry, grid.programs, std::move(arguments));
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
  if (pass == Pass::forward) {
    add_over_logits("grpo_loss_log_probabilities",
                    {tensor("logits"), row_stride(problem), tensor("completion_ids"), mask_of(problem), tensor("lse"),
                     tensor("logp")},
                    {inverse_temperature(problem)}, plan);
    add_token_losses("grpo_loss_", plan);
    return;
  }
  add_token_gradients("grpo_loss_", plan);
  add_over_logits("grpo_loss_backward",
                  {tensor(gradient_name(problem)), row_stride(problem), tensor("logits"), row_stride(problem),
                   tensor("completion_ids"), mask_of(problem), tensor("lse"), tensor("dlogp")},
                  {inverse_temperature(problem)}, plan);
  add_last_positions("grpo_loss_", plan);
}

// log_softmax of the whole matrix in its primitive operations, the tokens' by the same small programs (a framework launches a
// dozen), and the chain rule back.
void add_eager(EagerPlan& plan, Pass pass) {
  const Problem& problem = plan.problem();
  const Operand scaled = plan.temporary("scaled"), shifted = plan.temporary("shifted"),
                powers = plan.temporary("powers");
  add_over_logits("eager_scale_logits", {tensor(scaled.name), *scaled.stride, tensor("logits"), row_stride(problem)},
                  {inverse_temperature(problem)}, plan);
  if (pass == Pass::forward) {
    const std::string largest = plan.vector("largest", problem.rows).name, sum = plan.vector("sum", problem.rows).name;
    plan.row_reduction("eager_maximum", largest, scaled, 1);
    plan.over_rows("eager_subtract_rows", {shifted, scaled}, {largest});
    plan.over_rows("eager_exponential", {powers, shifted});
    plan.row_reduction("eager_sum", sum, powers, 1);
    add_over_logits("eager_gather",
                    {tensor("lse"), tensor("logp"), tensor(scaled.name), *scaled.stride, tensor(sum), tensor(largest),
                     tensor("completion_ids"), mask_of(problem)},
                    {}, plan);
    add_token_losses("eager_", plan);
    return;
  }
  add_token_gradients("eager_", plan);
  const Operand change = plan.temporary("change");
  plan.over_rows("eager_subtract_rows", {shifted, scaled}, {"lse"});
  plan.over_rows("eager_exponential", {powers, shifted});
  plan.over_rows("eager_subtract_from_label", {change, powers}, {"completion_ids"});
  add_over_logits("eager_scale_gradient",
                  {tensor(gradient_name(problem)), row_stride(problem), tensor(change.name), *change.stride,
                   tensor("dlogp"), mask_of(problem)},
                  {inverse_temperature(problem)}, plan);
  add_last_positions("eager_", plan);
}

}  // namespace kernels::grpo_loss

// See grpo_loss_plan.hpp.
#include "kernels/grpo_loss/grpo_loss_plan.hpp"

#include <algorithm>

#include "kernels/catalog/eager_plan.hpp"
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
Argument mask_of(const Problem& problem) {
  return tensor_or_null("completion_mask", flag_option(problem, "completion_mask"));
}
Argument ratio_of(const Problem& problem) { return tensor_or_null("vllm_is_ratio", has_ratio(problem)); }
std::int64_t ratio_of_sequence(const Problem& problem) {
  return problem.options.at("vllm_is_ratio") == "sequence" ? 1 : 0;
}
Argument old_of(const Problem& problem) { return tensor_or_null("old_logp", flag_option(problem, "old_logp")); }

void append(std::vector<Argument>& to, std::vector<Argument> more) {
  for (Argument& argument : more) to.push_back(std::move(argument));
}

// logp to phi: what token programs read.
std::vector<Argument> token_inputs(const Problem& problem) {
  return {tensor("logp"),
          old_of(problem),
          tensor_or_null("ref_logp", has_kl(problem)),
          mask_of(problem),
          tensor("advantages"),
          ratio_of(problem),
          tensor_or_null("rho", by_sequence(problem)),
          tensor_or_null("phi", type_of(problem) == "vespo")};
}
std::vector<Argument> token_numbers(const Problem& problem) {
  std::vector<Argument> numbers;
  for (const char* name : {"beta", "eps_low", "eps_high", "delta", "sapo_temperature_pos", "sapo_temperature_neg"}) {
    numbers.emplace_back(float(number_option(problem, name)));
  }
  return numbers;
}

// Rows that are tokens: a few hundred thousand of them are worth a thread, on a CPU.
RowGrid token_grid(const Problem& problem, const RowConfig& config) {
  Problem scalars = problem;
  scalars.columns = 64;
  return independent_rows(config, scalars);
}

Launch program_launch(const std::string& entry, std::int64_t programs, const RowConfig& config) {
  return {entry, programs, config.num_threads, config.shared_bytes};
}

bool needs_counts(const Problem& problem) { return by_sequence(problem) || reduces(problem); }

void add_counts(const std::string& prefix, const Problem& problem, const RowConfig& config, Plan& plan) {
  if (!needs_counts(problem)) return;
  const Sizes sizes = sizes_of(problem);
  Launch launch = program_launch(prefix + "sequence", sizes.sequences, config);
  launch.arguments = {
      tensor("logp"), old_of(problem), mask_of(problem), tensor("counts"), tensor_or_null("rho", by_sequence(problem)),
      sizes.length};
  plan.launches.push_back(std::move(launch));
}

Argument float_at(const std::string& name, bool present = true) { return tensor_or_null(name, present); }

}  // namespace

Sizes sizes_of(const Problem& problem) {
  const std::int64_t sequences = std::max<std::int64_t>(problem.depth, 1);
  return {sequences, problem.rows / sequences};
}

bool reduces(const Problem& problem) { return flag_option(problem, "reduce"); }
bool by_sequence(const Problem& problem) { return problem.options.at("importance_sampling_level") == "sequence"; }
bool has_kl(const Problem& problem) { return number_option(problem, "beta") != 0; }
std::string gradient_name(const Problem& problem) { return flag_option(problem, "in_place") ? "logits" : "dlogits"; }

std::vector<std::pair<std::string, std::string>> loss_defines(const Problem& problem) {
  const auto flag = [](bool set) { return std::string(set ? "1" : "0"); };
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

void add_token_losses(const std::string& prefix, const Problem& problem, const RowConfig& config, Plan& plan) {
  const Sizes sizes = sizes_of(problem);
  const bool reduced = reduces(problem), kl = has_kl(problem);
  const auto rows_of = [&](const std::string& name) { return reduced ? name + "_rows" : name; };
  if (reduced) {
    for (const char* name : {"loss", "kl", "is_clipped"}) {
      plan.scratch.push_back({rows_of(name), DType::fp32, problem.rows, 1, 1});
    }
    plan.scratch.push_back({"sums", DType::fp32, 3, sizes.sequences, sizes.sequences});
  }
  add_counts(prefix, problem, config, plan);
  const RowGrid grid = token_grid(problem, config);
  Launch tokens = program_launch(prefix + "tokens", grid.programs, config);
  tokens.arguments = {tensor(rows_of("loss")), float_at(rows_of("kl"), kl), tensor(rows_of("is_clipped"))};
  append(tokens.arguments, token_inputs(problem));
  append(tokens.arguments,
         {problem.rows, grid.rows_per_program, sizes.length, sizes.sequences, ratio_of_sequence(problem)});
  append(tokens.arguments, token_numbers(problem));
  plan.launches.push_back(std::move(tokens));
  if (!reduced) return;
  Launch sums = program_launch(prefix + "sequence_sums", sizes.sequences, config);
  sums.arguments = {tensor("sums"),   tensor("loss_rows"), float_at("kl_rows", kl), tensor("is_clipped_rows"),
                    tensor("counts"), sizes.length,        sizes.sequences,         normalizer(problem)};
  plan.launches.push_back(std::move(sums));
  Launch result = program_launch(prefix + "reduce", 1, config);
  result.arguments = {tensor("loss"), float_at("kl", kl), tensor("is_clipped"),
                      tensor("sums"), tensor("counts"),   sizes.sequences};
  plan.launches.push_back(std::move(result));
}

void add_token_gradients(const std::string& prefix, const Problem& problem, const RowConfig& config, Plan& plan) {
  const Sizes sizes = sizes_of(problem);
  const bool counted = needs_counts(problem);
  plan.scratch.push_back({"dlogp", DType::fp32, problem.rows, 1, 1});
  if (by_sequence(problem)) {
    plan.scratch.push_back({"sequence_gradients", DType::fp32, sizes.sequences, 1, 1});
    Launch launch = program_launch(prefix + "sequence_gradient", sizes.sequences, config);
    launch.arguments = {tensor("sequence_gradients"),
                        tensor("dloss"),
                        mask_of(problem),
                        ratio_of(problem),
                        tensor("counts"),
                        sizes.length,
                        sizes.sequences,
                        ratio_of_sequence(problem),
                        normalizer(problem)};
    plan.launches.push_back(std::move(launch));
  }
  const RowGrid grid = token_grid(problem, config);
  Launch tokens = program_launch(prefix + "token_gradients", grid.programs, config);
  tokens.arguments = {tensor("dlogp"), tensor("dloss"), float_at("counts", counted),
                      float_at("sequence_gradients", by_sequence(problem))};
  append(tokens.arguments, token_inputs(problem));
  append(tokens.arguments,
         {problem.rows, grid.rows_per_program, sizes.length, sizes.sequences, ratio_of_sequence(problem)});
  append(tokens.arguments, token_numbers(problem));
  tokens.arguments.emplace_back(normalizer(problem));
  plan.launches.push_back(std::move(tokens));
}

void add_last_positions(const std::string& prefix, const Problem& problem, const RowConfig& config, Plan& plan) {
  const Sizes sizes = sizes_of(problem);
  Problem last = problem;
  last.rows = sizes.sequences;
  const RowGrid grid = independent_rows(config, last);
  Launch launch = program_launch(prefix + "last_positions", grid.programs, config);
  launch.arguments = {tensor(gradient_name(problem)), row_stride(problem), sizes.sequences,
                      grid.rows_per_program,          problem.columns,     sizes.length};
  plan.launches.push_back(std::move(launch));
}

Plan launches(Pass pass, const Problem& problem, const RowConfig& config) {
  const Sizes sizes = sizes_of(problem);
  const RowGrid grid = independent_rows(config, problem);
  const float inverse_temperature = float(1 / number_option(problem, "temperature"));
  Plan plan;
  if (pass == Pass::forward) {
    Launch launch = program_launch("grpo_loss_log_probabilities", grid.programs, config);
    launch.arguments = {tensor("logits"), row_stride(problem),   tensor("completion_ids"),
                        mask_of(problem), tensor("lse"),         tensor("logp"),
                        problem.rows,     grid.rows_per_program, problem.columns,
                        sizes.length,     inverse_temperature};
    plan.launches.push_back(std::move(launch));
    add_token_losses("grpo_loss_", problem, config, plan);
    return plan;
  }
  add_token_gradients("grpo_loss_", problem, config, plan);
  Launch launch = program_launch("grpo_loss_backward", grid.programs, config);
  launch.arguments = {tensor(gradient_name(problem)),
                      row_stride(problem),
                      tensor("logits"),
                      row_stride(problem),
                      tensor("completion_ids"),
                      mask_of(problem),
                      tensor("lse"),
                      tensor("dlogp"),
                      problem.rows,
                      grid.rows_per_program,
                      problem.columns,
                      sizes.length,
                      inverse_temperature};
  plan.launches.push_back(std::move(launch));
  add_last_positions("grpo_loss_", problem, config, plan);
  return plan;
}

// log_softmax of the whole matrix in its primitive operations, the tokens' by the same small programs (a framework launches a
// dozen), and the chain rule back.
Plan eager_plan(Pass pass, const Problem& problem, const Target& target) {
  EagerPlan plan("kernels/grpo_loss/grpo_loss_eager.hpp", pass, problem, DType::fp32, target);
  for (auto& [name, value] : loss_defines(problem)) plan.define(name, value);
  const Sizes sizes = sizes_of(problem);
  const float inverse_temperature = float(1 / number_option(problem, "temperature"));
  const RowGrid grid = independent_rows(plan.config(), problem);
  const auto over_logits = [&](const std::string& entry, std::vector<Argument> first, std::vector<Argument> last) {
    append(first, {problem.rows, grid.rows_per_program, problem.columns, sizes.length});
    append(first, std::move(last));
    plan.launch(entry, grid.programs, std::move(first));
  };
  const Operand scaled = plan.temporary("scaled", DType::fp32), shifted = plan.temporary("shifted", DType::fp32),
                powers = plan.temporary("powers", DType::fp32);
  over_logits("eager_scale_logits", {tensor(scaled.name), scaled.stride, tensor("logits"), row_stride(problem)},
              {inverse_temperature});
  if (pass == Pass::forward) {
    const std::string largest = plan.vector("largest", DType::fp32, problem.rows).name,
                      sum = plan.vector("sum", DType::fp32, problem.rows).name;
    plan.row_reduction("eager_maximum", largest, scaled, 1);
    plan.over_rows("eager_subtract_rows", {shifted, scaled}, {largest});
    plan.over_rows("eager_exponential", {powers, shifted});
    plan.row_reduction("eager_sum", sum, powers, 1);
    over_logits("eager_gather",
                {tensor("lse"), tensor("logp"), tensor(scaled.name), scaled.stride, tensor(sum), tensor(largest),
                 tensor("completion_ids"), mask_of(problem)},
                {});
    add_token_losses("eager_", problem, plan.config(), plan.raw());
    return plan.take();
  }
  add_token_gradients("eager_", problem, plan.config(), plan.raw());
  const Operand change = plan.temporary("change", DType::fp32);
  plan.over_rows("eager_subtract_rows", {shifted, scaled}, {"lse"});
  plan.over_rows("eager_exponential", {powers, shifted});
  plan.over_rows("eager_subtract_from_label", {change, powers}, {"completion_ids"});
  over_logits("eager_scale_gradient",
              {tensor(gradient_name(problem)), row_stride(problem), tensor(change.name), change.stride, tensor("dlogp"),
               mask_of(problem)},
              {inverse_temperature});
  add_last_positions("eager_", problem, plan.config(), plan.raw());
  return plan.take();
}

}  // namespace kernels::grpo_loss

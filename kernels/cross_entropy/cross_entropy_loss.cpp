// See cross_entropy_loss.hpp.
#include "kernels/cross_entropy/cross_entropy_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernels::cross_entropy {
namespace {

bool reduces(const Problem& problem) { return problem.options.at("reduction") != "none"; }
bool weighted(const Problem& problem) { return flag_option(problem, class_weight_name(problem)); }
bool in_use(const Problem& problem, const std::string& number) { return number_option(problem, number) != 0; }

// The row values that the options ask for, as the outputs they become.
std::vector<std::string> losses(const Problem& problem) {
  std::vector<std::string> names = {"loss"};
  if (flag_option(problem, "return_z_loss")) names.push_back("z_loss");
  if (flag_option(problem, "return_token_accuracy")) names.push_back("token_accuracy");
  return names;
}

bool has(const Problem& problem, const std::string& output) {
  const auto names = losses(problem);
  return std::count(names.begin(), names.end(), output) > 0;
}

}  // namespace

bool needs_totals(const Problem& problem) {
  return problem.options.at("reduction") == "mean" || (weighted(problem) && in_use(problem, "label_smoothing")) ||
         (reduces(problem) && has(problem, "token_accuracy"));
}

std::string class_weight_name(const Problem& problem) {
  return problem.options.count("ce_weight") > 0 ? "ce_weight" : "weight";
}

std::vector<OptionSpec> loss_option_specs(const std::string& class_weight) {
  return {
      {"reduction", {"mean", "sum", "none"}, "of the rows' losses; mean: over rows (or weights) that are not ignored"},
      {class_weight, {"no", "yes"}, "whether each class has a weight"},
      {"return_z_loss", {"no", "yes"}, "whether the z loss is also returned by itself"},
      {"return_token_accuracy",
       {"no", "yes"},
       "whether the share of rows whose largest logit is the label's is returned"},
      {"return_predicted_tokens", {"no", "yes"}, "whether the column of each row's largest logit is returned"},
      {"ignore_index", {}, "label of rows without loss and gradient", "-100", {"-100", "1"}},
      {"label_smoothing", {}, "share of the label's weight that is spread over all classes", "0", {"0", "0.1"}},
      {"lse_square_scale",
       {},
       "factor of the squared logarithm of the sum of exponentials (z loss)",
       "0",
       {"0", "0.01"}},
      {"softcap", {}, "logits are replaced by softcap * tanh(logit / softcap); 0: they are not", "0", {"0", "1.5"}}};
}

std::string check_loss_options(const Problem& problem) {
  const double ignored = number_option(problem, "ignore_index"), smoothing = number_option(problem, "label_smoothing");
  if (ignored != std::floor(ignored) || std::fabs(ignored) > 0x1p53) return "ignore_index must be an integer";
  if (!(smoothing >= 0 && smoothing <= 1)) return "label_smoothing must be between 0 and 1";
  if (number_option(problem, "softcap") < 0) return "softcap must not be negative";
  if (problem.columns > std::numeric_limits<std::int32_t>::max())
    return "columns must be at most 2^31 - 1: they are classes";
  if (problem.columns == 0 && problem.rows > 0) return "rows without columns have no classes";
  return "";
}

Defines loss_defines(const Problem& problem) {
  return {{"HAS_WEIGHT", flag(weighted(problem))},
          {"HAS_SMOOTHING", flag(in_use(problem, "label_smoothing"))},
          {"HAS_Z_LOSS", flag(in_use(problem, "lse_square_scale"))},
          {"HAS_SOFTCAP", flag(in_use(problem, "softcap"))},
          {"MEAN_REDUCTION", flag(problem.options.at("reduction") == "mean")},
          {"RETURN_Z_LOSS", flag(has(problem, "z_loss"))},
          {"RETURN_ACCURACY", flag(has(problem, "token_accuracy"))},
          {"RETURN_PREDICTION", flag(flag_option(problem, "return_predicted_tokens"))}};
}

std::vector<TensorSpec> loss_tensors(const Problem& problem) {
  std::vector<TensorSpec> tensors;
  TensorSpec target = {"target", DType::int64, problem.rows, 1, 1, Distribution::labels};
  target.scale = double(std::max<std::int64_t>(problem.columns, 1));
  target.rare_value = number_option(problem, "ignore_index");
  target.rare_share = 0.125;
  tensors.push_back(target);
  if (weighted(problem)) {
    tensors.push_back({class_weight_name(problem), problem.dtype, 1, problem.columns, problem.columns,
                       Distribution::uniform, 1, 0.5});
  }
  const std::int64_t values = reduces(problem) ? 1 : problem.rows;
  for (const std::string& name : losses(problem)) tensors.push_back({name, DType::fp32, values, 1, 1});
  tensors.push_back({"dloss", DType::fp32, values, 1, 1});
  if (flag_option(problem, "return_predicted_tokens")) {
    tensors.push_back({"predicted_tokens", DType::int64, problem.rows, 1, 1});
  }
  return tensors;
}

std::vector<std::string> loss_inputs(const Problem& problem) {
  if (weighted(problem)) return {"target", class_weight_name(problem)};
  return {"target"};
}

std::vector<std::string> loss_outputs(const Problem& problem) {
  std::vector<std::string> names = losses(problem);
  if (flag_option(problem, "return_predicted_tokens")) names.push_back("predicted_tokens");
  return names;
}

void add_loss_scratch(const Problem& problem, Plan& plan) {
  if (needs_totals(problem)) plan.scratch.push_back({"totals", DType::fp32, 1, 3, 3});
  if (!reduces(problem)) return;
  for (const std::string& name : losses(problem)) {
    plan.scratch.push_back({row_values(problem, name), DType::fp32, problem.rows, 1, 1});
  }
}

std::string row_values(const Problem& problem, const std::string& output) {
  return reduces(problem) ? output + "_rows" : output;
}

void add_count(const std::string& entry, const Problem& problem, int threads, Plan& plan) {
  if (!needs_totals(problem)) return;
  plan.launches.push_back({entry,
                           1,
                           threads,
                           0,
                           1,
                           {tensor("totals"), tensor("target"), tensor(class_weight_name(problem), weighted(problem)),
                            problem.rows, problem.columns, std::int64_t(number_option(problem, "ignore_index"))}});
}

void add_reductions(const std::string& entry, const Problem& problem, int threads, Plan& plan) {
  if (!reduces(problem)) return;
  for (const std::string& name : losses(problem)) {
    plan.launches.push_back(
        {entry,
         1,
         threads,
         0,
         1,
         {tensor(name), tensor(row_values(problem, name)), tensor("totals", name == "token_accuracy"), problem.rows}});
  }
}

LossGiven loss_arguments(const Problem& problem, std::int64_t first) {
  const auto of_rows = [&](const std::string& output) -> Argument {
    if (!has(problem, output)) return std::int64_t{0};
    return TensorArgument{row_values(problem, output), first * size_of(DType::fp32)};
  };
  const TensorArgument predictions = {"predicted_tokens", first * size_of(DType::int64)};
  return {.target = TensorArgument{"target", first * size_of(DType::int64)},
          .weight = tensor(class_weight_name(problem), weighted(problem)),
          .totals = tensor("totals", needs_totals(problem)),
          .losses = of_rows("loss"),
          .z_losses = of_rows("z_loss"),
          .hits = of_rows("token_accuracy"),
          .predictions = flag_option(problem, "return_predicted_tokens") ? predictions : tensor(""),
          .ignore_index = std::int64_t(number_option(problem, "ignore_index")),
          .smoothing = float(number_option(problem, "label_smoothing")),
          .lse_square_scale = float(number_option(problem, "lse_square_scale")),
          .softcap = float(number_option(problem, "softcap"))};
}

// log_softmax in its primitive operations, the rows' losses, and the chain rule back to the logits.
void add_eager_forward(EagerPlan& plan, const Problem& problem, const Operand& logits, const Operand& gradient,
                       const EagerParts& parts) {
  const bool softcap = number_option(problem, "softcap") != 0,
             smoothing = number_option(problem, "label_smoothing") != 0;
  const std::string class_weight = class_weight_name(problem);
  const bool weighted = flag_option(problem, class_weight);
  const float cap = float(number_option(problem, "softcap"));
  const std::int64_t rows = problem.rows;
  const auto fp32 = [&](const std::string& name) { return plan.temporary(name); };
  const auto column = [&](const std::string& name) { return plan.vector(name, rows).name; };

  Operand x = fp32("logits_upcast"), squashed = "";
  plan.over_rows("eager_upcast", {x, logits});
  if (softcap) {
    const Operand scaled = fp32("scaled"), wide = x;
    plan.over_rows("eager_scale", {scaled, wide}, {}, {1 / cap, 0});
    plan.over_rows("eager_tanh", {squashed = fp32("squashed"), scaled});
    plan.over_rows("eager_scale", {x = fp32("capped"), squashed}, {}, {cap, 0});
  }
  const std::string largest = column("largest"), sum = column("sum"), lse = column("lse"),
                    weighted_x = column("weighted_x");
  const Operand shifted = fp32("shifted"), powers = fp32("powers"), shares = fp32("shares");
  plan.row_reduction("eager_maximum", largest, x, 1);
  plan.over_rows("eager_subtract_rows", {shifted, x}, {largest});
  plan.over_rows("eager_exponential", {powers, shifted});
  plan.row_reduction("eager_sum", sum, powers, 1);
  plan.launch("eager_log_sum", 1, {tensor(lse), tensor(sum), tensor(largest), rows});
  if (parts.has_gradient) plan.over_rows("eager_divide_rows", {shares, powers}, {sum});
  if (smoothing) {
    Operand terms = x;
    if (weighted) plan.over_rows("eager_scale_columns", {terms = fp32("weighted_logits"), x}, {class_weight});
    plan.row_reduction("eager_sum", weighted_x, terms, 1);
  }
  Plan& raw = plan.raw();
  add_loss_scratch(problem, raw);
  add_count("eager_count", problem, plan.config().num_threads, raw);
  const std::string along = column("along"), level = column("level"), at_label = column("at_label");
  // One program: a row's label is looked for in memory.
  const ::cross_entropy::RowLossArguments<Given, void> row_losses = {.logits = {tensor(x.name), *x.stride},
                                                                     .lse = tensor(lse),
                                                                     .weighted_x = tensor(weighted_x),
                                                                     .along = tensor(along),
                                                                     .level = tensor(level),
                                                                     .at_label = tensor(at_label),
                                                                     .loss = loss_arguments(problem)};
  const RowGrid all = {rows > 0 ? 1 : 0, rows};
  raw.launches.push_back(row_launch("eager_row_losses", all, problem, plan.config(), arguments(row_losses)));
  if (parts.reductions) add_reductions("eager_reduce", problem, plan.config().num_threads, raw);
  if (!parts.has_gradient) return;

  Operand g = fp32("gradient");
  plan.over_rows("eager_scale_rows", {g, shares}, {along});
  if (smoothing) {
    const Operand before = g;
    std::vector<std::string> vectors = {level};
    if (weighted) vectors.push_back(class_weight);
    plan.over_rows("eager_subtract_level", {g = fp32("gradient_smoothed"), before}, vectors);
  }
  const Operand at = fp32("gradient_at_label"), before = g;
  plan.over_rows("eager_subtract_label", {at, before}, {"target", at_label});
  g = at;
  if (softcap) {
    const Operand capped = g;
    plan.over_rows("eager_tanh_backward", {g = fp32("gradient_uncapped"), capped, squashed});
  }
  plan.over_rows("eager_keep_rows", {gradient, g}, {"target"}, {float(number_option(problem, "ignore_index"))});
}

double operations(Pass pass, const Problem& problem) {
  if (pass == Pass::backward) return 1;
  return 8 + (in_use(problem, "softcap") ? 9 : 0) + (in_use(problem, "label_smoothing") ? 3 : 0);
}

// The logarithm and the sum of exponentials, then the sum over the rows. A prediction and a hit are right or wrong; only the
// accuracy's division is rounded.
double loss_tolerance(const std::string& tensor, const Problem& problem) {
  if (tensor == "predicted_tokens") return 0;
  if (tensor == "token_accuracy") return reduces(problem) ? 0x1p-22 : 0;
  return sum_error(problem.columns) + (reduces(problem) ? sum_error(problem.rows) : 0) + 0x1p-19;
}

double loss_scale(const std::string& tensor, const Problem& problem, const Values& results, double logit_size) {
  const double value = root_mean_square(results.at(tensor));
  if (tensor != "loss" && tensor != "z_loss") return value;
  // One class: lse - x is nothing but roundings of x.
  const double rows = problem.options.at("reduction") == "sum" ? double(std::max<std::int64_t>(problem.rows, 1)) : 1;
  return std::max(value, tensor == "loss" ? logit_size * rows : 0);
}

}  // namespace kernels::cross_entropy

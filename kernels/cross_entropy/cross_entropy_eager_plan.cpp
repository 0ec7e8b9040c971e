// See cross_entropy_eager_plan.hpp.
#include "kernels/cross_entropy/cross_entropy_eager_plan.hpp"

#include "kernels/cross_entropy/cross_entropy_options.hpp"

namespace kernels::cross_entropy {

// log_softmax in its primitive operations, the rows' losses, and the chain rule back to the logits.
void add_eager_forward(EagerPlan& plan, const Problem& problem, const Operand& logits, const Operand& gradient,
                       const EagerParts& parts) {
  const bool softcap = number_option(problem, "softcap") != 0,
             smoothing = number_option(problem, "label_smoothing") != 0;
  const std::string class_weight = class_weight_name(problem);
  const bool weighted = flag_option(problem, class_weight);
  const float cap = float(number_option(problem, "softcap"));
  const std::int64_t rows = problem.rows;
  const auto fp32 = [&](const std::string& name) { return plan.temporary(name, DType::fp32); };
  const auto column = [&](const std::string& name) { return plan.vector(name, DType::fp32, rows).name; };

  Operand x = fp32("logits_upcast"), squashed = {};
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
  add_count("eager_count", problem, plan.threads(), raw);
  const std::string along = column("along"), level = column("level"), at_label = column("at_label");
  std::vector<Argument> arguments = {tensor(x.name), x.stride,      tensor(lse),     tensor(weighted_x),
                                     tensor(along),  tensor(level), tensor(at_label)};
  for (Argument& argument : forward_arguments(problem, 0, rows, rows)) arguments.push_back(std::move(argument));
  plan.launch("eager_row_losses", rows > 0 ? 1 : 0, std::move(arguments));
  if (parts.reductions) add_reductions("eager_reduce", problem, plan.threads(), raw);
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

Plan eager_plan(Pass pass, const Problem& problem, const Target& target) {
  EagerPlan plan("kernels/cross_entropy/cross_entropy_eager.hpp", pass, problem, DType::fp32, target);
  for (auto& [name, value] : loss_defines(problem)) plan.define(name, value);
  const Operand logits = plan.matrix("logits");
  if (pass == Pass::forward) {
    add_eager_forward(plan, problem, logits, logits);
  } else {
    const bool none = problem.options.at("reduction") == "none";
    plan.over_rows(none ? "eager_scale_rows" : "eager_scale_all", {logits, logits}, {"dloss"});
  }
  return plan.take();
}

}  // namespace kernels::cross_entropy

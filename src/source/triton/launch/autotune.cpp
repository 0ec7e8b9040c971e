#include "source/triton/launch/autotune.hpp"

#include <algorithm>

#include "source/triton/constants/constant_evaluator.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

std::optional<int> count_configs(const Value& value) {
  if (value.kind != Value::Kind::list) return std::nullopt;
  return static_cast<int>(value.items->size());
}

std::vector<std::string> names_in(Node list) {
  std::vector<std::string> names;
  for (Node element : elements_of(strip_parentheses(list)))
    names.push_back(string_value(element).value_or(text_of(element)));
  return names;
}

}  // namespace

model::AutotuneFact read_autotune(ModuleSet& modules, const Module& module, Node decorator) {
  model::AutotuneFact fact;
  const Arguments arguments = arguments_of(decorator);
  Node configs = arguments.positional.empty() ? Node() : arguments.positional[0];
  if (const Node* named = arguments.keyword("configs")) configs = *named;
  Node key = arguments.positional.size() > 1 ? arguments.positional[1] : Node();
  if (const Node* named = arguments.keyword("key")) key = *named;
  fact.configs = text_of(configs);
  fact.key = names_in(key);
  if (const Node* reset = arguments.keyword("reset_to_zero")) fact.reset_to_zero = names_in(*reset);

  const Outcomes outcomes = evaluate(modules, module, configs);
  fact.n_configs = count_configs(outcomes.usual);
  if (outcomes.otherwise) fact.n_configs_if_env_disabled = count_configs(*outcomes.otherwise);
  if (!fact.n_configs) return fact;
  for (const Value& config : *outcomes.usual.items) {
    if (config.kind != Value::Kind::config) continue;
    for (const auto& [name, value] : *config.fields) {
      auto& tried = fact.values[name];
      const std::string text = shown(value);
      if (std::find(tried.begin(), tried.end(), text) == tried.end()) tried.push_back(text);
    }
  }
  return fact;
}

}  // namespace hone::source

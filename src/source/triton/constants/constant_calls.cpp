// Calls of the constant evaluator: configurations, the builtins that lists are made with, and functions of the
// repository.
#include "source/triton/constants/constant_evaluation.hpp"

#include <algorithm>

namespace hone::source {

using namespace constants;

Value Evaluator::make_config(const Module& module, int scope, Node node, Variables& variables, int depth) {
  const Arguments arguments = arguments_of(node);
  Value config;
  config.kind = Value::Kind::config;
  config.fields = std::make_shared<std::vector<std::pair<std::string, Value>>>();
  Node settings = arguments.positional.empty() ? Node() : arguments.positional[0];
  if (const Node* named = arguments.keyword("kwargs")) settings = *named;
  const Value dictionary = expression(module, scope, settings, variables, depth);
  if (dictionary.fields) *config.fields = *dictionary.fields;
  static const char* options[] = {"num_warps", "num_stages"};
  for (std::size_t i = 0; i < 2; ++i) {
    Node option = arguments.positional.size() > i + 1 ? arguments.positional[i + 1] : Node();
    if (const Node* named = arguments.keyword(options[i])) option = *named;
    if (option) config.fields->emplace_back(options[i], expression(module, scope, option, variables, depth));
  }
  return config;
}

Value Evaluator::call(const Module& module, int scope, Node node, Variables& variables, int depth) {
  const Node callee = strip_parentheses(node.child(Field::function));
  const std::string name = module.canonical(callee);
  const Arguments arguments = arguments_of(node);
  if (name == "triton.Config" || name == "triton.runtime.Config" || name == "triton.runtime.autotuner.Config") {
    return make_config(module, scope, node, variables, depth);
  }
  if (name == "range" || name == "list" || name == "min" || name == "max" || name == "itertools.product" ||
      name == "product" || name == "len" || name == "tuple") {
    std::vector<Value> values;
    for (Node argument : arguments.positional) values.push_back(expression(module, scope, argument, variables, depth));
    if (name == "itertools.product" || name == "product") {
      std::vector<Value> rows = {list_of({})};
      for (const Value& axis : values) {
        if (axis.kind != Value::Kind::list) return {};
        std::vector<Value> longer;
        for (const Value& row : rows) {
          for (const Value& item : *axis.items) {
            std::vector<Value> extended = *row.items;
            extended.push_back(item);
            longer.push_back(list_of(std::move(extended)));
            ++steps_;
            if (longer.size() > kMostItems) return {};
          }
        }
        rows = std::move(longer);
      }
      return list_of(std::move(rows));
    }
    if (name == "list" || name == "tuple")
      return values.size() == 1 ? values[0] : values.empty() ? list_of({}) : Value{};
    if (name == "len")
      return values.size() == 1 && values[0].items ? integer(static_cast<long long>(values[0].items->size())) : Value{};
    for (const Value& value : values) {
      if (!is_number(value)) return {};
    }
    if (values.empty()) return {};
    if (name == "min" || name == "max") {
      long long best = values[0].number;
      for (const Value& value : values)
        best = name == "min" ? std::min(best, value.number) : std::max(best, value.number);
      return integer(best);
    }
    const long long start = values.size() > 1 ? values[0].number : 0;
    const long long stop = values.size() > 1 ? values[1].number : values[0].number;
    const long long step = values.size() > 2 ? values[2].number : 1;
    std::vector<Value> items;
    if (step <= 0) return {};
    for (long long i = start; i < stop; i += step) {
      items.push_back(integer(i));
      if (items.size() > kMostItems) return {};
    }
    return list_of(std::move(items));
  }
  const FunctionRef function = modules_.function_named(module, callee, scope);
  if (!function || depth > kDeepestCall * 8) return {};
  return run_function(function, arguments, module, scope, variables, depth + 8);
}

Value Evaluator::run_function(const FunctionRef& function, const Arguments& arguments, const Module& module, int scope,
                              Variables& variables, int depth) {
  Variables own;
  for (std::size_t i = 0; i < function->params.size(); ++i) {
    const Parameter& parameter = function->params[i];
    const Node* named = arguments.keyword(parameter.name);
    const Node given = named ? *named : i < arguments.positional.size() ? arguments.positional[i] : Node();
    if (given) {
      own[parameter.name] = expression(module, scope, given, variables, depth);
    } else if (parameter.default_value) {
      own[parameter.name] = expression(*function.module, kNoFunction, parameter.default_value, own, depth);
    } else {
      own[parameter.name] = Value{};
    }
  }
  Value result;
  result.kind = Value::Kind::none;
  const Flow flow = block(*function.module, function.index, function->body, own, result, depth);
  return flow == Flow::lost ? Value{} : result;
}

}  // namespace hone::source

#include "source/triton/constants/constant_evaluator.hpp"

#include "source/triton/constants/constant_evaluation.hpp"

namespace hone::source {

namespace constants {

Value integer(long long number) {
  Value value;
  value.kind = Value::Kind::integer;
  value.number = number;
  return value;
}

Value boolean(bool truth) {
  Value value = integer(truth ? 1 : 0);
  value.kind = Value::Kind::boolean;
  return value;
}

Value list_of(std::vector<Value> items) {
  Value value;
  value.kind = Value::Kind::list;
  value.items = std::make_shared<std::vector<Value>>(std::move(items));
  return value;
}

bool is_number(const Value& value) { return value.kind == Value::Kind::integer || value.kind == Value::Kind::boolean; }

std::optional<bool> truth(const Value& value) {
  switch (value.kind) {
    case Value::Kind::none: return false;
    case Value::Kind::boolean:
    case Value::Kind::integer: return value.number != 0;
    case Value::Kind::text: return !value.text.empty();
    case Value::Kind::list: return !value.items->empty();
    default: return std::nullopt;
  }
}

}  // namespace constants

std::string shown(const Value& value) {
  switch (value.kind) {
    case Value::Kind::none: return "None";
    case Value::Kind::boolean: return value.number != 0 ? "True" : "False";
    case Value::Kind::integer: return std::to_string(value.number);
    case Value::Kind::text: return "\"" + value.text + "\"";
    default: return "?";
  }
}

Outcomes evaluate(ModuleSet& modules, const Module& module, Node expression) {
  Evaluator evaluator(modules);
  Variables variables;
  Outcomes outcomes;
  outcomes.usual = evaluator.expression(module, kNoFunction, expression, variables, 0);
  outcomes.otherwise = evaluator.take_alternative();
  return outcomes;
}

}  // namespace hone::source

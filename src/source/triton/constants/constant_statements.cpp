// Statements of the constant evaluator: the bodies of functions that build lists of configurations.
#include "source/triton/constants/constant_evaluation.hpp"

namespace hone::source {

using namespace constants;

// A list that another value holds too is copied first, so lists can not come to contain themselves.
bool Evaluator::append(Value& list, const std::vector<Value>& more) {
  std::vector<Value> added = more;
  steps_ += static_cast<int>(added.size());
  if (list.items.use_count() != 1) {
    steps_ += static_cast<int>(list.items->size());
    list.items = std::make_shared<std::vector<Value>>(*list.items);
  }
  list.items->insert(list.items->end(), added.begin(), added.end());
  return list.items->size() <= kMostItems;
}

Evaluator::Flow Evaluator::block(const Module& module, int scope, Node body, Variables& variables, Value& result,
                                 int depth) {
  for (Node child : body.children()) {
    const Flow flow = statement(module, scope, child, variables, result, depth);
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

Evaluator::Flow Evaluator::branch(const Module& module, int scope, Node node, Variables& variables, Value& result,
                                  int depth) {
  struct Arm {
    Node condition, body;
  };
  std::vector<Arm> arms = {{node.child(Field::condition), node.child(Field::consequence)}};
  for (Node child : node.children()) {
    if (child.is(Kind::elif_clause)) arms.push_back({child.child(Field::condition), child.child(Field::consequence)});
    if (child.is(Kind::else_clause)) arms.push_back({Node(), child.child(Field::body)});
  }
  for (const Arm& arm : arms) {
    if (!arm.condition) return block(module, scope, arm.body, variables, result, depth);
    const auto held = truth(expression(module, scope, arm.condition, variables, depth));
    if (held) {
      if (*held) return block(module, scope, arm.body, variables, result, depth);
      continue;
    }
    if (!depends_on_environment(module, arm.condition)) return Flow::lost;
    // A switch in the environment: remember what it leads to, and go on as if it were not set.
    if (strip_parentheses(arm.condition).is(Kind::not_operator))
      return block(module, scope, arm.body, variables, result, depth);
    Variables copy = variables;
    Value other;
    if (block(module, scope, arm.body, copy, other, depth) == Flow::returned) alternative_ = other;
  }
  return Flow::next;
}

Evaluator::Flow Evaluator::statement(const Module& module, int scope, Node node, Variables& variables, Value& result,
                                     int depth) {
  if (++steps_ > kMostSteps || depth > 120) return Flow::lost;
  switch (node.kind()) {
    case Kind::return_statement:
      result = expression(module, scope, node.first_named_child(), variables, depth);
      return Flow::returned;
    case Kind::break_statement: return Flow::broken;
    case Kind::continue_statement: return Flow::continued;
    case Kind::if_statement: return branch(module, scope, node, variables, result, depth + 1);
    case Kind::for_statement: {
      const Value values = expression(module, scope, node.child(Field::right), variables, depth);
      if (values.kind != Value::Kind::list) return Flow::lost;
      for (const Value& value : *values.items) {
        if (!bind(node.child(Field::left), value, variables)) return Flow::lost;
        const Flow flow = block(module, scope, node.child(Field::body), variables, result, depth + 1);
        if (flow == Flow::returned || flow == Flow::lost) return flow;
        if (flow == Flow::broken) break;
      }
      return Flow::next;
    }
    case Kind::expression_statement: {
      const Node inner = node.first_named_child();
      if (inner.is(Kind::assignment)) {
        const Value value = expression(module, scope, inner.child(Field::right), variables, depth);
        return bind(inner.child(Field::left), value, variables) ? Flow::next : Flow::lost;
      }
      if (inner.is(Kind::augmented_assignment)) {
        const Node left = inner.child(Field::left);
        const auto known = variables.find(std::string(left.text()));
        const Value value = expression(module, scope, inner.child(Field::right), variables, depth);
        if (known == variables.end()) return Flow::lost;
        if (known->second.kind == Value::Kind::list && value.kind == Value::Kind::list) {
          return append(known->second, *value.items) ? Flow::next : Flow::lost;
        }
        known->second = Value{};
        return Flow::next;
      }
      const Node callee = inner.is(Kind::call) ? inner.child(Field::function) : Node();
      const std::string_view method = callee.child(Field::attribute).text();
      if (method == "append" || method == "extend") {
        const auto known = variables.find(std::string(callee.child(Field::object).text()));
        const Arguments arguments = arguments_of(inner);
        if (known == variables.end() || known->second.kind != Value::Kind::list || arguments.positional.size() != 1)
          return Flow::next;
        const Value value = expression(module, scope, arguments.positional[0], variables, depth);
        if (method == "append") return append(known->second, {value}) ? Flow::next : Flow::lost;
        return value.kind == Value::Kind::list && append(known->second, *value.items) ? Flow::next : Flow::lost;
      }
      return Flow::next;  // a docstring, a call without a use
    }
    default: return Flow::next;
  }
}

}  // namespace hone::source

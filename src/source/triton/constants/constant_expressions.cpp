// Literals, names, arithmetic, comparisons and comprehensions of the constant evaluator.
#include "source/triton/constants/constant_evaluation.hpp"

namespace hone::source {

using namespace constants;

bool Evaluator::depends_on_environment(const Module& module, Node condition) {
  const auto mentions = [](Node node) {
    const std::string text = text_of(node);
    return text.find("environ") != std::string::npos || text.find("getenv") != std::string::npos;
  };
  if (mentions(condition)) return true;
  Node name = strip_parentheses(condition);
  if (name.is(Kind::not_operator)) name = strip_parentheses(name.child(Field::argument));
  if (!name.is(Kind::identifier)) return false;
  const auto [owner, values] = modules_.constant(module, std::string(name.text()));
  return owner != nullptr && mentions(values->front().value);
}

Value Evaluator::expression(const Module& module, int scope, Node node, Variables& variables, int depth) {
  node = strip_parentheses(node);
  if (!node || ++steps_ > kMostSteps || depth > 120) return {};
  ++depth;
  switch (node.kind()) {
    case Kind::integer: {
      const auto number = integer_value(node);
      return number ? integer(*number) : Value{};
    }
    case Kind::true_: return boolean(true);
    case Kind::false_: return boolean(false);
    case Kind::none: {
      Value none;
      none.kind = Value::Kind::none;
      return none;
    }
    case Kind::string:
    case Kind::concatenated_string: {
      Value value;
      if (const auto text = string_value(node)) {
        value.kind = Value::Kind::text;
        value.text = *text;
      }
      return value;
    }
    case Kind::list:
    case Kind::tuple:
    case Kind::expression_list: {
      std::vector<Value> items;
      for (Node element : elements_of(node)) {
        if (element.is(Kind::list_splat)) {
          const Value inner = expression(module, scope, element.first_named_child(), variables, depth);
          if (inner.kind != Value::Kind::list) return {};
          items.insert(items.end(), inner.items->begin(), inner.items->end());
        } else {
          items.push_back(expression(module, scope, element, variables, depth));
        }
        if (items.size() > kMostItems) return {};
      }
      return list_of(std::move(items));
    }
    case Kind::dictionary: {
      Value value;
      value.kind = Value::Kind::dictionary;
      value.fields = std::make_shared<std::vector<std::pair<std::string, Value>>>();
      for (Node pair : node.children()) {
        const auto key = string_value(pair.child(Field::key));
        if (!pair.is(Kind::pair) || !key) return {};
        value.fields->emplace_back(*key, expression(module, scope, pair.child(Field::value), variables, depth));
      }
      return value;
    }
    case Kind::identifier: {
      const std::string name(node.text());
      const auto known = variables.find(name);
      if (known != variables.end()) return known->second;
      const auto [owner, values] = modules_.constant(module, name);
      if (owner == nullptr || values->size() != 1 || values->front().element >= 0) return {};
      Variables fresh;
      return expression(*owner, kNoFunction, values->front().value, fresh, depth + 8);
    }
    case Kind::unary_operator: {
      const Value operand = expression(module, scope, node.child(Field::argument), variables, depth);
      return is_number(operand) && node.text()[0] == '-' ? integer(-operand.number) : Value{};
    }
    case Kind::binary_operator: return binary(module, scope, node, variables, depth);
    case Kind::comparison_operator: return comparison(module, scope, node, variables, depth);
    case Kind::not_operator: {
      const auto held = truth(expression(module, scope, node.child(Field::argument), variables, depth));
      return held ? boolean(!*held) : Value{};
    }
    case Kind::boolean_operator: {
      const bool is_or = node.child(Field::operator_).text() == "or";
      const Value left = expression(module, scope, node.child(Field::left), variables, depth);
      const auto held = truth(left);
      if (!held) return {};
      return *held == is_or ? left : expression(module, scope, node.child(Field::right), variables, depth);
    }
    case Kind::conditional_expression: {
      std::vector<Node> parts;
      for (Node part : node.children()) parts.push_back(part);
      if (parts.size() != 3) return {};
      const auto held = truth(expression(module, scope, parts[1], variables, depth));
      if (held) return expression(module, scope, parts[*held ? 0 : 2], variables, depth);
      if (!depends_on_environment(module, parts[1])) return {};
      const bool negated = strip_parentheses(parts[1]).is(Kind::not_operator);
      alternative_ = expression(module, scope, parts[negated ? 2 : 0], variables, depth);
      return expression(module, scope, parts[negated ? 0 : 2], variables, depth);
    }
    case Kind::list_comprehension:
    case Kind::generator_expression: return comprehension(module, scope, node, variables, depth);
    case Kind::call: return call(module, scope, node, variables, depth);
    default: return {};
  }
}

Value Evaluator::binary(const Module& module, int scope, Node node, Variables& variables, int depth) {
  const Value left = expression(module, scope, node.child(Field::left), variables, depth);
  const Value right = expression(module, scope, node.child(Field::right), variables, depth);
  const std::string_view op = node.child(Field::operator_).text();
  if (left.kind == Value::Kind::list && right.kind == Value::Kind::list && op == "+") {
    std::vector<Value> items = *left.items;
    items.insert(items.end(), right.items->begin(), right.items->end());
    steps_ += static_cast<int>(items.size());
    return items.size() > kMostItems ? Value{} : list_of(std::move(items));
  }
  if (!is_number(left) || !is_number(right)) return {};
  long long result = 0;
  if (op == "+") return __builtin_add_overflow(left.number, right.number, &result) ? Value{} : integer(result);
  if (op == "-") return __builtin_sub_overflow(left.number, right.number, &result) ? Value{} : integer(result);
  if (op == "*") return __builtin_mul_overflow(left.number, right.number, &result) ? Value{} : integer(result);
  if ((op == "//" || op == "%") && right.number > 0 && left.number >= 0) {
    return integer(op == "%" ? left.number % right.number : left.number / right.number);
  }
  if (op == "**" && right.number >= 0 && right.number < 63) {
    result = 1;
    for (long long i = 0; i < right.number; ++i) {
      if (__builtin_mul_overflow(result, left.number, &result)) return {};
    }
    return integer(result);
  }
  if (op == "<<" && left.number >= 0 && right.number >= 0 && right.number < 32 && left.number < (1LL << 30)) {
    return integer(left.number << right.number);
  }
  return {};
}

Value Evaluator::comparison(const Module& module, int scope, Node node, Variables& variables, int depth) {
  std::vector<Value> operands;
  std::vector<std::string> operators;
  for (Node child : node.all_children()) {
    if (child.is(Kind::comment)) continue;
    if (child.field() == Field::operators || !child.named()) {
      operators.emplace_back(child.text());
    } else {
      operands.push_back(expression(module, scope, child, variables, depth));
    }
  }
  if (operands.size() != operators.size() + 1) return {};
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const Value& left = operands[i];
    const Value& right = operands[i + 1];
    const std::string& op = operators[i];
    bool held = false;
    if (is_number(left) && is_number(right)) {
      const long long a = left.number, b = right.number;
      if (op == "<")
        held = a < b;
      else if (op == "<=")
        held = a <= b;
      else if (op == ">")
        held = a > b;
      else if (op == ">=")
        held = a >= b;
      else if (op == "==" || op == "is")
        held = a == b;
      else if (op == "!=")
        held = a != b;
      else
        return {};
    } else if (left.kind == Value::Kind::text && right.kind == Value::Kind::text && (op == "==" || op == "!=")) {
      held = (left.text == right.text) == (op == "==");
    } else {
      return {};
    }
    if (!held) return boolean(false);
  }
  return boolean(true);
}

bool Evaluator::bind(Node target, const Value& value, Variables& variables) {
  if (target.is(Kind::identifier)) {
    variables[std::string(target.text())] = value;
    return true;
  }
  const std::vector<Node> parts = elements_of(target);
  if (parts.empty() || value.kind != Value::Kind::list || value.items->size() != parts.size()) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!bind(parts[i], (*value.items)[i], variables)) return false;
  }
  return true;
}

void Evaluator::comprehend(const Module& module, int scope, const std::vector<Node>& clauses, std::size_t at, Node body,
                           Variables& variables, std::vector<Value>& items, bool& lost, int depth) {
  if (lost || ++steps_ > kMostSteps || items.size() > kMostItems) {
    lost = true;
    return;
  }
  if (at == clauses.size()) {
    items.push_back(expression(module, scope, body, variables, depth));
    return;
  }
  const Node clause = clauses[at];
  if (clause.is(Kind::if_clause)) {
    const auto held = truth(expression(module, scope, clause.first_named_child(), variables, depth));
    lost = lost || !held;
    if (held && *held) comprehend(module, scope, clauses, at + 1, body, variables, items, lost, depth);
    return;
  }
  const Value values = expression(module, scope, clause.child(Field::right), variables, depth);
  if (values.kind != Value::Kind::list) {
    lost = true;
    return;
  }
  for (const Value& value : *values.items) {
    if (!bind(clause.child(Field::left), value, variables)) lost = true;
    comprehend(module, scope, clauses, at + 1, body, variables, items, lost, depth);
    if (lost) return;
  }
}

Value Evaluator::comprehension(const Module& module, int scope, Node node, Variables& variables, int depth) {
  std::vector<Node> clauses;
  for (Node child : node.children()) {
    if (child.is(Kind::for_in_clause) || child.is(Kind::if_clause)) clauses.push_back(child);
  }
  Variables inner = variables;
  std::vector<Value> items;
  bool lost = false;
  comprehend(module, scope, clauses, 0, node.child(Field::body), inner, items, lost, depth);
  return lost ? Value{} : list_of(std::move(items));
}

}  // namespace hone::source

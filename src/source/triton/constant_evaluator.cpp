#include "source/triton/constant_evaluator.hpp"

#include "source/triton/python.hpp"

namespace hone::source {

namespace {

constexpr int kDeepestCall = 12;
constexpr int kMostSteps = 200'000;  // of loops and expressions together
constexpr std::size_t kMostItems = 20'000;

using Variables = std::map<std::string, Value>;

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
    case Value::Kind::none:
      return false;
    case Value::Kind::boolean:
    case Value::Kind::integer:
      return value.number != 0;
    case Value::Kind::text:
      return !value.text.empty();
    case Value::Kind::list:
      return !value.items->empty();
    default:
      return std::nullopt;
  }
}

class Evaluator {
 public:
  Evaluator(ModuleSet& modules) : modules_(modules) {}

  Value expression(const Module& module, int scope, Node node, Variables& variables, int depth);
  std::optional<Value> take_alternative() {
    auto taken = std::move(alternative_);
    alternative_.reset();
    return taken;
  }

 private:
  enum class Flow { next, returned, broken, continued, lost };

  Value call(const Module& module, int scope, Node node, Variables& variables, int depth);
  Value run_function(const FunctionRef& function, const Arguments& arguments, const Module& module, int scope, Variables& variables,
                     int depth);
  Value make_config(const Module& module, int scope, Node node, Variables& variables, int depth);
  Value comprehension(const Module& module, int scope, Node node, Variables& variables, int depth);
  void comprehend(const Module& module, int scope, const std::vector<Node>& clauses, std::size_t at, Node body, Variables& variables,
                  std::vector<Value>& items, bool& lost, int depth);
  Value binary(const Module& module, int scope, Node node, Variables& variables, int depth);
  Value comparison(const Module& module, int scope, Node node, Variables& variables, int depth);
  Flow block(const Module& module, int scope, Node body, Variables& variables, Value& result, int depth);
  Flow statement(const Module& module, int scope, Node node, Variables& variables, Value& result, int depth);
  Flow branch(const Module& module, int scope, Node node, Variables& variables, Value& result, int depth);
  bool append(Value& list, const std::vector<Value>& more);
  bool bind(Node target, const Value& value, Variables& variables);
  bool depends_on_environment(const Module& module, Node condition);

  ModuleSet& modules_;
  int steps_ = 0;
  std::optional<Value> alternative_;
};

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
    case Kind::true_:
      return boolean(true);
    case Kind::false_:
      return boolean(false);
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
    case Kind::binary_operator:
      return binary(module, scope, node, variables, depth);
    case Kind::comparison_operator:
      return comparison(module, scope, node, variables, depth);
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
    case Kind::generator_expression:
      return comprehension(module, scope, node, variables, depth);
    case Kind::call:
      return call(module, scope, node, variables, depth);
    default:
      return {};
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
      if (op == "<") held = a < b;
      else if (op == "<=") held = a <= b;
      else if (op == ">") held = a > b;
      else if (op == ">=") held = a >= b;
      else if (op == "==" || op == "is") held = a == b;
      else if (op == "!=") held = a != b;
      else return {};
    } else if (left.kind == Value::Kind::text && right.kind == Value::Kind::text && (op == "==" || op == "!=")) {
      held = (left.text == right.text) == (op == "==");
    } else {
      return {};
    }
    if (!held) return boolean(false);
  }
  return boolean(true);
}

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
  if (name == "range" || name == "list" || name == "min" || name == "max" || name == "itertools.product" || name == "product" ||
      name == "len" || name == "tuple") {
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
    if (name == "list" || name == "tuple") return values.size() == 1 ? values[0] : values.empty() ? list_of({}) : Value{};
    if (name == "len") return values.size() == 1 && values[0].items ? integer(static_cast<long long>(values[0].items->size())) : Value{};
    for (const Value& value : values) {
      if (!is_number(value)) return {};
    }
    if (values.empty()) return {};
    if (name == "min" || name == "max") {
      long long best = values[0].number;
      for (const Value& value : values) best = name == "min" ? std::min(best, value.number) : std::max(best, value.number);
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

Evaluator::Flow Evaluator::block(const Module& module, int scope, Node body, Variables& variables, Value& result, int depth) {
  for (Node child : body.children()) {
    const Flow flow = statement(module, scope, child, variables, result, depth);
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

Evaluator::Flow Evaluator::branch(const Module& module, int scope, Node node, Variables& variables, Value& result, int depth) {
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
    if (strip_parentheses(arm.condition).is(Kind::not_operator)) return block(module, scope, arm.body, variables, result, depth);
    Variables copy = variables;
    Value other;
    if (block(module, scope, arm.body, copy, other, depth) == Flow::returned) alternative_ = other;
  }
  return Flow::next;
}

Evaluator::Flow Evaluator::statement(const Module& module, int scope, Node node, Variables& variables, Value& result, int depth) {
  if (++steps_ > kMostSteps || depth > 120) return Flow::lost;
  switch (node.kind()) {
    case Kind::return_statement:
      result = expression(module, scope, node.first_named_child(), variables, depth);
      return Flow::returned;
    case Kind::break_statement:
      return Flow::broken;
    case Kind::continue_statement:
      return Flow::continued;
    case Kind::if_statement:
      return branch(module, scope, node, variables, result, depth + 1);
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
        if (known == variables.end() || known->second.kind != Value::Kind::list || arguments.positional.size() != 1) return Flow::next;
        const Value value = expression(module, scope, arguments.positional[0], variables, depth);
        if (method == "append") return append(known->second, {value}) ? Flow::next : Flow::lost;
        return value.kind == Value::Kind::list && append(known->second, *value.items) ? Flow::next : Flow::lost;
      }
      return Flow::next;  // a docstring, a call without a use
    }
    default:
      return Flow::next;
  }
}

}  // namespace

std::string shown(const Value& value) {
  switch (value.kind) {
    case Value::Kind::none:
      return "None";
    case Value::Kind::boolean:
      return value.number != 0 ? "True" : "False";
    case Value::Kind::integer:
      return std::to_string(value.number);
    case Value::Kind::text:
      return "\"" + value.text + "\"";
    default:
      return "?";
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

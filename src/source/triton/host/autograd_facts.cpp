#include "source/triton/host/autograd_facts.hpp"

#include <algorithm>

#include "source/triton/launch/setting_source.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

model::MethodFact read_method(const Function& function) {
  model::MethodFact fact;
  fact.line = function.definition.line();
  for (const Decorator& decorator : function.decorators) fact.decorators.push_back("@" + text_of(decorator.expression));
  for (const Parameter& parameter : function.params) {
    model::FunctionParameter read{parameter.name, std::nullopt, std::nullopt, parameter.kind};
    if (parameter.annotation) read.annotation = text_of(parameter.annotation);
    if (parameter.default_value) read.default_value = text_of(strip_parentheses(parameter.default_value));
    fact.params.push_back(std::move(read));
  }
  return fact;
}

// `ctx.name = value`, also as one of several targets.
void read_attribute(const std::string& ctx, const std::string& method, Node target, Node value,
                    model::AutogradFact& fact) {
  if (target.is(Kind::attribute) && target.child(Field::object).text() == ctx) {
    fact.ctx_attributes.push_back(
        {std::string(target.child(Field::attribute).text()), text_of(strip_parentheses(value)), method, target.line()});
    return;
  }
  const std::vector<Node> targets = elements_of(target);
  const std::vector<Node> values = elements_of(strip_parentheses(value));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    read_attribute(ctx, method, targets[i], values.size() == targets.size() ? values[i] : value, fact);
  }
}

void read_method_body(const Module& module, int index, model::AutogradFact& fact) {
  const Function& function = module.functions()[static_cast<std::size_t>(index)];
  if (function.params.empty()) return;
  const std::string& ctx = function.params[0].name;
  for (Node statement : module.statements(index)) {
    if (statement.is(Kind::assignment)) {
      Node value = statement.child(Field::right);
      while (value.is(Kind::assignment)) value = value.child(Field::right);
      read_attribute(ctx, function.name, statement.child(Field::left), value, fact);
      continue;
    }
    const Node callee = statement.child(Field::function);
    if (!statement.is(Kind::call) || !callee.is(Kind::attribute) || callee.child(Field::object).text() != ctx) continue;
    if (callee.child(Field::attribute).text() == "save_for_backward") {
      model::SavedTensors saved{callee_line(statement), {}};
      for (const Node& argument : arguments_of(statement).positional)
        saved.args.push_back(text_of(strip_parentheses(argument)));
      fact.save_for_backward.push_back(std::move(saved));
    } else {
      fact.ctx_calls.push_back({callee_line(statement), text_of(statement)});
    }
  }
}

}  // namespace

std::vector<model::AutogradFact> read_autograd_functions(const Module& module) {
  std::vector<model::AutogradFact> facts;
  for (const Class& candidate : module.classes()) {
    if (!is_autograd_class(module, candidate)) continue;
    model::AutogradFact fact;
    fact.name = candidate.name;
    fact.file = module.path();
    fact.line = candidate.definition.line();
    fact.end_line = candidate.definition.end_line();
    for (const int method : candidate.methods) {
      const Function& function = module.functions()[static_cast<std::size_t>(method)];
      if (function.name == "forward") fact.forward = read_method(function);
      if (function.name == "backward") fact.backward = read_method(function);
      read_method_body(module, method, fact);
    }
    if (fact.backward) {
      const auto& decorators = fact.backward->decorators;
      fact.backward_is_staticmethod =
          std::find(decorators.begin(), decorators.end(), "@staticmethod") != decorators.end();
    }
    const auto by_line = [](const auto& a, const auto& b) { return a.line < b.line; };
    std::stable_sort(fact.ctx_attributes.begin(), fact.ctx_attributes.end(), by_line);
    std::stable_sort(fact.save_for_backward.begin(), fact.save_for_backward.end(), by_line);
    std::stable_sort(fact.ctx_calls.begin(), fact.ctx_calls.end(), by_line);
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace hone::source

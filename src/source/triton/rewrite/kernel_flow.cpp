#include "source/triton/rewrite/kernel_flow.hpp"

#include <algorithm>

#include "source/triton/kernel/kernel_facts.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source::rewrite {

bool is_loop(Node node) { return node.is(Kind::for_statement) || node.is(Kind::while_statement); }

std::vector<int> wanted_kernels(const Subject& subject, const Request& request) {
  std::vector<int> found;
  for (const int kernel : subject.kernels()) {
    if (wants(request, subject.pass_of_kernel(kernel), subject.function(kernel).name)) found.push_back(kernel);
  }
  return found;
}

bool KernelFlow::depends(Node expression, const std::function<bool(Node)>& seed,
                         const std::set<std::string>& names) const {
  const auto holds = [&](Node node) {
    if (seed(node)) return true;
    if (!node.is(Kind::identifier) || names.count(std::string(node.text())) == 0) return false;
    return node.field() != Field::attribute &&
           !(node.field() == Field::name && node.parent().is(Kind::keyword_argument));
  };
  if (holds(expression)) return true;
  for (Node node : expression.descendants()) {
    if (holds(node)) return true;
  }
  return false;
}

std::set<std::string> KernelFlow::depending(const std::function<bool(Node)>& seed) const {
  std::vector<std::pair<std::string, Node>> bindings;  // name, value
  const Function& function = subject_.function(kernel_);
  for (Node node : function.body.descendants()) {
    Node targets, value;
    if (node.is(Kind::assignment) || node.is(Kind::augmented_assignment)) {
      targets = node.child(Field::left);
      value = node.child(Field::right);
    } else if (node.is(Kind::for_statement)) {
      targets = node.child(Field::left);
      value = node.child(Field::right);
    } else {
      continue;
    }
    if (!targets || !value) continue;
    if (targets.is(Kind::identifier)) bindings.emplace_back(std::string(targets.text()), value);
    for (Node part : elements_of(targets)) {
      if (part.is(Kind::identifier)) bindings.emplace_back(std::string(part.text()), value);
    }
  }
  std::set<std::string> names;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [name, value] : bindings) {
      if (names.count(name) == 0 && depends(value, seed, names)) more = names.insert(name).second;
    }
  }
  return names;
}

std::string KernelFlow::op(Node call) const {
  if (!call.is(Kind::call)) return {};
  return language_op(subject_.module(), strip_parentheses(call.child(Field::function)));
}

std::vector<Node> KernelFlow::accesses(bool loads, bool stores) const {
  std::vector<Node> found;
  for (Node call : subject_.module().calls(kernel_)) {
    const std::string name = op(call);
    if ((loads && name == "load") || (stores && name == "store")) found.push_back(call);
  }
  return found;
}

Node KernelFlow::pointer_of(Node access) {
  const Arguments arguments = arguments_of(access);
  if (const Node* named = arguments.keyword("pointer")) return *named;
  return arguments.positional.empty() ? Node() : arguments.positional[0];
}

std::string KernelFlow::base_of(Node access) const {
  const int line = callee_line(access);
  const bool store = op(access) == "store";
  std::set<std::string> bases;  // of all such accesses of the line: facts know no column
  for (const model::AccessFact& fact : subject_.kernel_facts(kernel_).accesses)
    if (fact.line == line && fact.store == store && !fact.atomic) bases.insert(fact.base);
  if (bases.size() == 1) return *bases.begin();
  for (Node node : pointer_of(access).descendants())  // the name that the pointer begins with tells which of them
    if (node.is(Kind::identifier)) return bases.count(std::string(node.text())) > 0 ? std::string(node.text()) : "";
  return "";
}

std::set<std::string> KernelFlow::assigned_in(Node statement) const {
  std::set<std::string> names;
  const auto add = [&](Node targets) {
    if (targets.is(Kind::identifier)) names.insert(std::string(targets.text()));
    for (Node part : elements_of(targets)) {
      if (part.is(Kind::identifier)) names.insert(std::string(part.text()));
    }
  };
  const auto visit = [&](Node node) {
    if (node.is(Kind::assignment) || node.is(Kind::augmented_assignment) || node.is(Kind::for_statement))
      add(node.child(Field::left));
    if (node.is(Kind::named_expression)) add(node.child(Field::name));
  };
  visit(statement);
  for (Node node : statement.descendants()) visit(node);
  return names;
}

std::vector<Node> KernelFlow::loops() const {
  std::vector<Node> found;
  for (Node node : subject_.function(kernel_).body.descendants()) {
    if (is_loop(node)) found.push_back(node);
  }
  return found;
}

std::string KernelFlow::language() const {
  for (const auto& [name, import] : subject_.module().imports()) {
    const std::string full = import.module + (import.symbol.empty() ? "" : "." + import.symbol);
    if (full == "triton.language") return name;
  }
  return {};
}

}  // namespace hone::source::rewrite

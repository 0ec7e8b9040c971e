// Transcendental functions that a kernel computes twice of the same operands: computed once, and used again.
#include <algorithm>

#include "source/triton/module/python.hpp"
#include "source/triton/module/unparse.hpp"
#include "source/triton/rewrite/editor.hpp"
#include "source/triton/rewrite/kernel_flow.hpp"
#include "source/triton/rewrite/plans.hpp"

namespace hone::source::rewrite {

namespace {

const std::set<std::string> kFunctions = {"exp",  "exp2",  "expm1", "log", "log2", "log1p",   "sigmoid", "tanh",  "erf",
                                          "sqrt", "rsqrt", "sin",   "cos", "pow",  "softmax", "sqrt_rn", "div_rn"};

struct Occurrence {
  Node call;
  std::string text;
  std::set<std::string> operands;
};

std::set<std::string> operand_names(Node call) {
  std::set<std::string> names;
  for (Node node : call.child(Field::arguments).descendants()) {
    if (!node.is(Kind::identifier) || node.field() == Field::attribute) continue;
    if (node.field() == Field::name && node.parent().is(Kind::keyword_argument)) continue;
    names.insert(std::string(node.text()));
  }
  return names;
}

// Evaluated whenever its statement is, not only under a condition of the expression, and a statement of its own line.
bool is_unconditional(Node call) {
  for (Node at = call.parent(); at && !at.parent().is(Kind::block); at = at.parent()) {
    switch (at.kind()) {
      case Kind::conditional_expression:
      case Kind::boolean_operator:
      case Kind::lambda:
      case Kind::named_expression:
      case Kind::if_statement:
      case Kind::elif_clause:
      case Kind::for_statement:
      case Kind::while_statement:
      case Kind::list_comprehension:
      case Kind::generator_expression: return false;
      default: break;
    }
  }
  return true;
}

class Sharing {
 public:
  Sharing(const Subject& subject, int kernel) : subject_(subject), kernel_(kernel), flow_(subject, kernel) {
    for (Node call : subject.module().calls(kernel)) {
      if (kFunctions.count(flow_.op(call)) == 0) continue;
      occurrences_.push_back({call, unparse(call), operand_names(call)});
    }
  }

  // Groups of calls that give the same value; the first of each runs before the others whenever they do.
  std::vector<std::vector<const Occurrence*>> groups() const {
    std::vector<std::vector<const Occurrence*>> found;
    std::set<const Occurrence*> taken;
    for (const Occurrence& first : occurrences_) {
      if (taken.count(&first) > 0 || !is_unconditional(first.call)) continue;
      std::vector<const Occurrence*> group = {&first};
      for (const Occurrence& later : occurrences_) {
        if (later.call.start() <= first.call.start() || later.text != first.text || taken.count(&later) > 0) continue;
        if (first.call.contains(later.call) || !same_value(first, later)) continue;
        group.push_back(&later);
      }
      if (group.size() < 2) continue;
      taken.insert(group.begin(), group.end());
      found.push_back(std::move(group));
    }
    return found;
  }

  // `e` of `e = tl.exp(x)` where `e` keeps that value up to the last of the group.
  std::string name_of(const std::vector<const Occurrence*>& group) const {
    const Node assignment = group.front()->call.parent();
    if (!assignment.is(Kind::assignment) || !assignment.child(Field::left).is(Kind::identifier)) return {};
    if (!(assignment.child(Field::right) == group.front()->call)) return {};
    const std::string name(assignment.child(Field::left).text());
    for (std::size_t i = 1; i < group.size(); ++i) {
      if (changes_between({name}, group.front()->call, group[i]->call)) return {};
    }
    return group.front()->operands.count(name) > 0 ? "" : name;
  }

 private:
  bool same_value(const Occurrence& first, const Occurrence& later) const {
    // The block of the first must enclose the later one, or the first may not have run.
    if (!statement_of(first.call).parent().contains(later.call)) return false;
    return !changes_between(first.operands, first.call, later.call);
  }

  // Is one of `names` given a value between the two, or in a loop around the later alone?
  bool changes_between(const std::set<std::string>& names, Node first, Node later) const {
    const Node from = statement_of(first);
    for (Node node : subject_.function(kernel_).body.descendants()) {
      const bool binds = node.is(Kind::assignment) || node.is(Kind::augmented_assignment) ||
                         node.is(Kind::for_statement) || node.is(Kind::named_expression);
      if (!binds) continue;
      Node target = node.child(Field::left);
      if (node.is(Kind::named_expression)) target = node.child(Field::name);
      std::vector<Node> parts = elements_of(target);
      parts.push_back(target);
      const bool named = std::any_of(parts.begin(), parts.end(), [&](Node part) {
        return part.is(Kind::identifier) && names.count(std::string(part.text())) > 0;
      });
      if (!named) continue;
      const bool own = node == first.parent();  // `e = tl.exp(x)` gives e its value
      const bool between = node.start() >= from.start() && node.start() < later.start() && !(node.contains(later));
      if (between && !own) return true;
      for (Node at = later.parent(); at && !at.contains(first); at = at.parent()) {
        if (is_loop(at) && (at.contains(node) || at == node)) return true;
      }
    }
    return false;
  }

  const Subject& subject_;
  int kernel_;
  KernelFlow flow_;
  std::vector<Occurrence> occurrences_;
};

}  // namespace

base::Result<Plan> plan_shared_math(const Subject& subject, const Rewrite& rewrite,
                                    const std::vector<Request>& requests) {
  Plan plan;
  Editor editor(subject);
  std::set<int> done;
  for (const Request& request : requests) {
    if (!request.values.empty()) return bad_value(subject, rewrite, "no knob", request.values.begin()->first);
    for (const int kernel : wanted_kernels(subject, request)) {
      if (!done.insert(kernel).second) continue;
      const Sharing sharing(subject, kernel);
      const std::string& kernel_name = subject.function(kernel).name;
      int number = 0;
      for (const auto& group : sharing.groups()) {
        const Node first = group.front()->call;
        std::string name = sharing.name_of(group);
        const bool fresh = name.empty();
        if (fresh) {
          name = subject.fresh_name("shared_" + std::to_string(++number));
          editor.lines_before(statement_of(first), {name + " = " + std::string(first.text())});
        }
        for (std::size_t i = fresh ? 0 : 1; i < group.size(); ++i) editor.replace(group[i]->call, name);
        plan.sites.push_back({kernel_name, "", first.line(), subject.pass_of_kernel(kernel),
                              group.front()->text + ", " + std::to_string(group.size()) + " times"});
        plan.notes.push_back(kernel_name + ": " + group.front()->text + " computed once instead of " +
                             std::to_string(group.size()) + " times");
      }
    }
  }
  if (plan.sites.empty())
    return not_here(subject, rewrite, "no exp, sigmoid or the like is computed twice of the same operands");
  if (!editor.problem().empty()) return not_here(subject, rewrite, editor.problem());
  plan.replacements = editor.take();
  return plan;
}

}  // namespace hone::source::rewrite

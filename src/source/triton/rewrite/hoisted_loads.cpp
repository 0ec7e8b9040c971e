// Loads that give the same value in every turn of a loop, moved before it.
#include <algorithm>

#include "source/triton/module/python.hpp"
#include "source/triton/rewrite/editor.hpp"
#include "source/triton/rewrite/kernel_flow.hpp"
#include "source/triton/rewrite/plans.hpp"

namespace hone::source::rewrite {

namespace {

// `w = tl.load(W + cols, mask=mask)`, possibly with `.to(tl.float32)` behind it, as a whole statement.
Node assignment_of(Node load) {
  Node at = load.parent();
  while (at.is(Kind::attribute) || at.is(Kind::call) || at.is(Kind::parenthesized_expression)) at = at.parent();
  return at.is(Kind::assignment) && at.child(Field::left).is(Kind::identifier) ? at : Node();
}

constexpr const char* kMoves = "its address or mask changes in the loop";

class Hoisting {
 public:
  Hoisting(const Subject& subject, int kernel) : subject_(subject), kernel_(kernel), flow_(subject, kernel) {}

  // Why the load does not move out of `loop`; empty when it does.
  std::string obstacle(Node load, Node loop) const {
    const std::set<std::string> changing = flow_.assigned_in(loop);
    const auto never = [](Node) { return false; };
    if (flow_.depends(load, never, changing)) return kMoves;
    const Node assignment = assignment_of(load);
    if (!assignment) return "it is part of a larger expression";
    const Node statement = statement_of(assignment);
    if (!(statement.parent() == loop.child(Field::body))) return "it stands under a condition or in an inner loop";
    const std::string name(assignment.child(Field::left).text());
    if (flow_.depends(assignment.child(Field::right), never, changing)) return "what is made of it changes in the loop";
    int bindings = 0;
    for (Node node : loop.descendants()) {
      if (!node.is(Kind::assignment) && !node.is(Kind::augmented_assignment)) continue;
      if (node.child(Field::left).text() == name) ++bindings;
    }
    if (bindings != 1) return name + " is given another value in the loop";
    for (Node use : names_in(subject_.function(kernel_).body, name)) {
      if (!loop.contains(use)) return name + " is used outside the loop too";
      if (use.start() < assignment.start()) return name + " is read before it is loaded";
    }
    const std::string base = flow_.base_of(load);
    if (base.empty()) return "its address can not be traced to a parameter";
    for (Node node : loop.child(Field::body).descendants()) {
      const std::string op = flow_.op(node);
      if (op.rfind("atomic_", 0) == 0 || op == "debug_barrier") return "the loop has atomic operations or a barrier";
      if (op != "store") continue;
      const std::string stored = flow_.base_of(node);
      if (stored.empty() || stored == base || may_be_the_same(base, stored))
        return "the loop may store to what it loads";
    }
    return {};
  }

 private:
  // Can a launch hand the same tensor to both parameters?
  bool may_be_the_same(const std::string& a, const std::string& b) const {
    const std::vector<const Launch*> launches = subject_.launches_of(kernel_);
    if (launches.empty()) return true;
    for (const Launch* launch : launches) {
      std::string first, second;
      for (const auto& [param, value] : launch->fact.bound_params) {
        if (param == a) first = value;
        if (param == b) second = value;
      }
      if (first.empty() || second.empty() || first == second) return true;
      for (const auto& [left, right] : {std::pair(first, second), std::pair(second, first)}) {
        for (const Assignment& assignment : subject_.module().assignments(launch->scope, left)) {
          if (!names_in(assignment.value, right).empty() && !assignment.value.is(Kind::call)) return true;
        }
      }
    }
    return false;
  }

  const Subject& subject_;
  int kernel_;
  KernelFlow flow_;
};

}  // namespace

base::Result<Plan> plan_hoisted_loads(const Subject& subject, const Rewrite& rewrite,
                                      const std::vector<Request>& requests) {
  Plan plan;
  Editor editor(subject);
  std::set<std::uint32_t> done;
  std::string refused;
  for (const Request& request : requests) {
    if (!request.values.empty()) return bad_value(subject, rewrite, "no knob", request.values.begin()->first);
    for (const int kernel : wanted_kernels(subject, request)) {
      const KernelFlow flow(subject, kernel);
      const Hoisting hoisting(subject, kernel);
      const std::string& name = subject.function(kernel).name;
      for (Node load : flow.accesses(true, false)) {
        Node loop = load.parent();
        while (loop && !is_loop(loop)) loop = loop.parent();
        if (!loop.is(Kind::for_statement) || !loop.child(Field::body).contains(load)) continue;
        const std::string obstacle = hoisting.obstacle(load, loop);
        if (!obstacle.empty()) {
          if (obstacle != kMoves && refused.find(obstacle) == std::string::npos)
            refused += (refused.empty() ? "" : "; ") + name + ", load at line " + std::to_string(load.line()) + ": " +
                       obstacle;
          continue;
        }
        const Node statement = statement_of(load);
        if (!done.insert(statement.start()).second) continue;
        editor.lines_before(loop, {std::string(statement.text())});
        editor.remove_lines(statement);
        plan.sites.push_back({name, "", load.line(), subject.pass_of_kernel(kernel), "load of " + flow.base_of(load)});
        plan.notes.push_back(name + ": the load of " + flow.base_of(load) + " is done once, before the loop");
      }
    }
  }
  if (plan.sites.empty())
    return not_here(subject, rewrite,
                    refused.empty() ? "no load in a loop has an address that stays the same" : refused);
  if (!editor.problem().empty()) return not_here(subject, rewrite, editor.problem());
  plan.replacements = editor.take();
  return plan;
}

}  // namespace hone::source::rewrite

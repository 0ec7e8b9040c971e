#include "source/triton/module/reaching.hpp"

#include <algorithm>

#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

bool is_branch(Node node) {
  return node.is(Kind::elif_clause) || node.is(Kind::else_clause) || node.is(Kind::case_clause);
}

bool names_other_vendor(const std::string& condition) {
  return condition.find("xpu") != std::string::npos || condition.find("npu") != std::string::npos ||
         condition.find("is_npu_available") != std::string::npos || condition.find("musa") != std::string::npos;
}

bool ends_the_function(Node block) {
  Node last;
  for (Node child : block.children()) last = child;
  return last.is(Kind::return_statement) || last.is(Kind::raise_statement) || last.is(Kind::continue_statement) ||
         last.is(Kind::break_statement);
}

// The arm of `statement` (an if) in which `inside` lies: its consequence, an elif or an else clause; invalid: the
// condition.
Node arm_of(Node statement, Node inside) {
  for (Node child : statement.children()) {
    if (child.contains(inside)) return child;
  }
  return {};
}

std::string condition_of(Node statement, Node arm) {
  if (arm.is(Kind::elif_clause)) return text_of(arm.child(Field::condition));
  if (arm.is(Kind::else_clause)) return "not (" + text_of(statement.child(Field::condition)) + ")";
  return text_of(statement.child(Field::condition));
}

// The arms of an if as blocks, and whether the last is an else.
std::vector<Node> arms_of(Node statement, bool& has_else) {
  std::vector<Node> arms = {statement.child(Field::consequence)};
  has_else = false;
  for (Node child : statement.children()) {
    if (is_branch(child)) arms.push_back(child);
    has_else = has_else || child.is(Kind::else_clause);
  }
  return arms;
}

}  // namespace

bool reaches(Node statement, Node use, Reach& reach) {
  reach = {};
  reach.always = true;
  for (Node at = statement.parent(); at; at = at.parent()) {
    if (at.contains(use)) {
      // The common ancestor. Different arms of one `if` exclude each other.
      if (!at.is(Kind::if_statement) && !at.is(Kind::match_statement)) break;
      const Node mine = arm_of(at, statement), theirs = arm_of(at, use);
      if (mine == at.child(Field::condition)) break;  // a walrus in the condition
      if (!(mine == theirs)) return false;
      break;
    }
    const bool conditional = at.is(Kind::if_statement);
    if (conditional && !at.child(Field::condition).contains(statement)) {
      const Node arm = arm_of(at, statement);
      const std::string condition = condition_of(at, arm);
      reach.always = false;
      if (reach.condition.empty()) reach.condition = condition;
      reach.elsewhere = reach.elsewhere || (!arm.is(Kind::else_clause) && names_other_vendor(condition));
    } else if (at.is(Kind::for_statement) || at.is(Kind::while_statement) || at.is(Kind::except_clause) ||
               at.is(Kind::case_clause)) {
      reach.always = false;
    }
    if (at.is(Kind::block) && ends_the_function(at)) return false;
  }
  return true;
}

std::vector<Definition> reaching_definitions(const Module& module, int scope, const std::string& name, Node use,
                                             bool& complete) {
  complete = false;
  std::vector<Definition> found;
  const std::vector<Assignment>& all = module.assignments(scope, name);
  for (auto assignment = all.rbegin(); assignment != all.rend(); ++assignment) {
    if (assignment->statement.start() >= use.start()) continue;
    if (assignment->statement.contains(use) && assignment->how != Assignment::How::loop) continue;
    Reach reach;
    if (!reaches(assignment->statement, use, reach)) continue;
    found.push_back({*assignment, reach.condition, reach.elsewhere});
    if (reach.elsewhere) continue;
    if (reach.always && assignment->how != Assignment::How::augmented) {
      complete = true;
      return found;
    }
    // All arms of an if that always runs: nothing before it reaches.
    for (Node at = assignment->statement.parent(); at && !at.contains(use); at = at.parent()) {
      if (!at.is(Kind::if_statement)) continue;
      Reach outer;
      bool has_else = false;
      const std::vector<Node> arms = arms_of(at, has_else);
      if (!has_else || !reaches(at, use, outer) || !outer.always) continue;
      const bool covered = std::all_of(arms.begin(), arms.end(), [&](const Node& arm) {
        const bool defines = std::any_of(all.begin(), all.end(), [&](const Assignment& a) {
          return arm.contains(a.statement) && a.how != Assignment::How::augmented;
        });
        const Node body =
            arm.is(Kind::block) ? arm : arm.child(arm.is(Kind::elif_clause) ? Field::consequence : Field::body);
        return defines || ends_the_function(body);
      });
      if (!covered) continue;
      // Keep those inside this statement only.
      for (const Assignment& a : all) {
        const bool listed = std::any_of(found.begin(), found.end(),
                                        [&](const Definition& d) { return d.assignment.statement == a.statement; });
        Reach inner;
        if (listed || !at.contains(a.statement) || !reaches(a.statement, use, inner)) continue;
        found.push_back({a, inner.condition, inner.elsewhere});
      }
      complete = true;
      return found;
    }
  }
  return found;
}

}  // namespace hone::source

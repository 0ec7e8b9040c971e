// Several programs on each SM for launches with one: grid, partial buffers and rows per program follow one new count.
//
//   sm_count = ...multi_processor_count              sm_count = ...multi_processor_count
//   _dW = torch.empty((sm_count, n_cols))       ->   n_programs = 3 * sm_count
//   grid = (sm_count,)                               _dW = torch.empty((n_programs, n_cols)); grid = (n_programs,)
#include <fmt/format.h>

#include <algorithm>

#include "source/triton/launch/launch_grid.hpp"
#include "source/triton/module/python.hpp"
#include "source/triton/rewrite/editor.hpp"
#include "source/triton/rewrite/plans.hpp"
#include "source/triton/rewrite/size_table.hpp"

namespace hone::source::rewrite {

namespace {

constexpr const char* kKnob = "programs_per_sm";

// A variable of a host function that holds the number of SMs, and the launches whose grid it stands in.
struct SmCount {
  int function = kNoFunction;
  std::string name;
  Node settled;  // the statement of the function's body after which the count does not change
  std::vector<const Launch*> launches;
};

bool reads_sm_count(Node value) {
  for (Node node : value.descendants()) {
    if (node.is(Kind::identifier) && node.text() == "multi_processor_count") return true;
  }
  return false;
}

// The statement of the function's own body that contains `node`.
Node body_statement(const Function& function, Node node) {
  while (node && !(node.parent() == function.body)) node = node.parent();
  return node;
}

std::vector<SmCount> find_counts(const Subject& subject) {
  std::vector<SmCount> found;
  const Module& module = subject.module();
  for (const Launch& launch : subject.launches()) {
    if (launch.scope == kNoFunction) continue;
    const Node grid = resolved_grid(module, launch.scope, launch.call);
    for (Node node : grid.descendants()) {
      if (!node.is(Kind::identifier)) continue;
      const std::string name(node.text());
      const auto& assignments = module.assignments(launch.scope, name);
      const bool counts = std::any_of(assignments.begin(), assignments.end(),
                                      [](const Assignment& a) { return reads_sm_count(a.value); });
      if (!counts) continue;
      auto known = std::find_if(found.begin(), found.end(), [&](const SmCount& count) {
        return count.function == launch.scope && count.name == name;
      });
      if (known == found.end()) {
        const Node settled = body_statement(subject.function(launch.scope), assignments.back().statement);
        known = found.insert(found.end(), SmCount{launch.scope, name, settled, {}});
      }
      if (std::find(known->launches.begin(), known->launches.end(), &launch) == known->launches.end())
        known->launches.push_back(&launch);
      break;
    }
  }
  return found;
}

std::string table_function(const std::string& name, const SizeTable& table, long long otherwise) {
  std::string text = "def " + name + "(n):\n";
  text += docstring("Programs on each SM by row length", table.reason);
  for (const SizeRow& row : table.rows)
    text += "    if " + condition_text(row, "n") + ":\n        return " + std::to_string(row.values.at(kKnob)) + "\n";
  return text + "    return " + std::to_string(otherwise) + "\n\n\n";
}

base::Result<bool> change(const Subject& subject, const Rewrite& rewrite, const SmCount& count, const Request& request,
                          Editor& editor, Plan& plan) {
  HONE_TRY(table, table_of(subject, rewrite, request, {{kKnob, 1, 64, false}}));
  const Function& function = subject.function(count.function);
  const auto everywhere = table->everywhere.find(kKnob);
  const long long otherwise = everywhere == table->everywhere.end() ? 1 : everywhere->second;
  if (table->rows.empty() && otherwise == 1)
    return bad_value(subject, rewrite, "more than one program for each SM", "1, as it is");
  const std::string programs = subject.fresh_name("n_programs");
  std::string factor = std::to_string(otherwise);
  if (!table->rows.empty()) {
    const std::string size = size_name(subject, count.function, count.settled);
    if (size.empty())
      return not_here(subject, rewrite, function.name + " has no name for the row length before it counts programs");
    const char* pass = subject.pass_of_function(count.function) == Pass::forward ? "forward" : "backward";
    const std::string name = subject.fresh_name(std::string("_") + pass + "_programs_per_sm");
    editor.function_before(top_level_of(function.outer), table_function(name, *table, otherwise));
    factor = name + "(" + size + ")";
  }
  editor.lines_after(count.settled, {"# More than one program on each SM: while one waits for memory, another works.",
                                     programs + " = " + factor + " * " + count.name});
  for (Node use : names_in(function.body, count.name)) {
    if (use.start() > count.settled.end()) editor.replace(use, programs);
  }
  for (const Launch* launch : count.launches)
    plan.sites.push_back({launch->fact.kernel, function.name, launch->fact.line,
                          subject.pass_of_function(count.function), "grid of one program for each SM"});
  std::string note = fmt::format("{} launches {} programs on each SM instead of one", function.name,
                                 table->rows.empty() ? factor : "by row length several");
  note += "; partial results and rows per program follow, so the last sum adds them in another order";
  if (!table->reason.empty()) note += " (" + one_line(table->reason) + ")";
  plan.notes.push_back(std::move(note));
  return true;
}

}  // namespace

base::Result<Plan> plan_programs_per_sm(const Subject& subject, const Rewrite& rewrite,
                                        const std::vector<Request>& requests) {
  if (subject.launches().empty()) return not_here(subject, rewrite, "the file launches no kernel");
  const std::vector<SmCount> counts = find_counts(subject);
  if (counts.empty())
    return not_here(subject, rewrite,
                    "no launch whose grid holds a variable set from the device's number of multiprocessors");
  Plan plan;
  Editor editor(subject);
  std::vector<const SmCount*> done;
  for (const Request& request : requests) {
    for (const SmCount& count : counts) {
      const Pass pass = subject.pass_of_function(count.function);
      const bool wanted = std::any_of(count.launches.begin(), count.launches.end(),
                                      [&](const Launch* launch) { return wants(request, pass, launch->fact.kernel); });
      if (!wanted || std::find(done.begin(), done.end(), &count) != done.end()) continue;
      if (!count.settled) {
        return not_here(subject, rewrite,
                        subject.function(count.function).name + " counts its multiprocessors in an inner block");
      }
      done.push_back(&count);
      HONE_TRY(changed, change(subject, rewrite, count, request, editor, plan));
    }
  }
  if (done.empty()) return not_here(subject, rewrite, "no such launch in the pass or of the kernel asked for");
  if (!editor.problem().empty()) return not_here(subject, rewrite, editor.problem());
  plan.replacements = editor.take();
  return plan;
}

}  // namespace hone::source::rewrite

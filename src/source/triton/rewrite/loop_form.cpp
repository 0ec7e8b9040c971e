// The form of a kernel's loops: software pipelining (`tl.range(..., num_stages=)`) and unrolling (`loop_unroll_factor=`,
// tl.static_range for bounds known at compile time).
#include <algorithm>
#include <charconv>

#include "source/triton/module/python.hpp"
#include "source/triton/rewrite/editor.hpp"
#include "source/triton/rewrite/kernel_flow.hpp"
#include "source/triton/rewrite/plans.hpp"

namespace hone::source::rewrite {

namespace {

struct Loop {
  Node statement, iterated;  // the call of range, tl.range or tl.static_range
  std::string form;          // range, tl.range, static_range
};

bool innermost(Node loop) {
  for (Node node : loop.child(Field::body).descendants()) {
    if (is_loop(node)) return false;
  }
  return true;
}

// The counting loops of a kernel that hold no other loop.
std::vector<Loop> innermost_loops(const KernelFlow& flow) {
  std::vector<Loop> found;
  for (Node statement : flow.loops()) {
    const Node iterated = statement.child(Field::right);
    if (!statement.is(Kind::for_statement) || !iterated.is(Kind::call) || !innermost(statement)) continue;
    const std::string op = flow.op(iterated);
    const bool plain = op.empty() && iterated.child(Field::function).text() == "range";
    if (plain || op == "range") found.push_back({statement, iterated, plain ? "range" : "tl.range"});
    if (op == "static_range") found.push_back({statement, iterated, "static_range"});
  }
  return found;
}

// Why loads of the next turns must not be issued before this turn's stores; empty when they may.
std::string order_hazard(const KernelFlow& flow, const Loop& loop) {
  const std::set<std::string> changing = flow.assigned_in(loop.statement);
  bool loads = false;
  for (Node node : loop.statement.child(Field::body).descendants()) {
    const std::string op = flow.op(node);
    if (op.rfind("atomic_", 0) == 0) return "it has atomic operations";
    if (op == "debug_barrier") return "it has a barrier";
    if (op == "load") loads = true;
    if (op != "store") continue;
    const std::string base = flow.base_of(node), pointer = text_of(KernelFlow::pointer_of(node));
    for (Node load : flow.accesses(true, false)) {
      if (!loop.statement.contains(load)) continue;
      const std::string loaded = flow.base_of(load);
      if (base.empty() || loaded.empty()) return "an access can not be traced to a parameter";
      if (base != loaded) continue;
      const bool moves = flow.depends(
          KernelFlow::pointer_of(load), [](Node) { return false; }, changing);
      if (!moves || text_of(KernelFlow::pointer_of(load)) != pointer)
        return "it loads from " + base + ", which it also stores to at another place";
    }
  }
  return loads ? "" : "it loads nothing";
}

bool known_when_compiled(const Subject& subject, int kernel, const KernelFlow& flow, const Loop& loop) {
  const std::vector<std::string>& constants = subject.kernel_facts(kernel).constexpr_params;
  const std::string language = flow.language();
  for (Node node : loop.iterated.child(Field::arguments).descendants()) {
    if (!node.is(Kind::identifier) || node.field() == Field::attribute) continue;
    const std::string name(node.text());
    if (name == language || name == "triton") continue;
    if (std::count(constants.begin(), constants.end(), name) == 0) return false;
    if (!subject.module().assignments(kernel, name).empty()) return false;
  }
  for (Node node : loop.iterated.child(Field::arguments).descendants()) {
    if (!node.is(Kind::call)) continue;
    const std::string op = flow.op(node);
    const std::string name = subject.module().canonical(node.child(Field::function));
    if (op != "cdiv" && name != "triton.cdiv") return false;
  }
  return true;
}

void use_language_range(Editor& editor, const KernelFlow& flow, const Loop& loop) {
  if (loop.form == "range") editor.replace(loop.iterated.child(Field::function), flow.language() + ".range");
}

// Sets a keyword of the loop's call.
void set_keyword(Editor& editor, const Loop& loop, const std::string& keyword, const std::string& value) {
  const Arguments arguments = arguments_of(loop.iterated);
  if (const Node* given = arguments.keyword(keyword)) {
    editor.replace(*given, value);
  } else {
    editor.append(loop.iterated.child(Field::arguments), keyword + "=" + value);
  }
}

std::string loop_text(const Loop& loop) {
  return "loop over " + text_of(loop.statement.child(Field::left)) + " at line " +
         std::to_string(loop.statement.line());
}

constexpr const char* kSharedBytes = "shared_bytes";

// The size of a kernel's tiles: the one compile-time constant that tl.arange goes up to. Empty where there are several.
std::string tile_extent(const Subject& subject, int kernel, const KernelFlow& flow) {
  std::set<std::string> extents;
  for (Node call : subject.module().calls(kernel)) {
    if (flow.op(call) != "arange") continue;
    const Arguments arguments = arguments_of(call);
    const Node* named = arguments.keyword("end");
    const Node end = named != nullptr ? *named : arguments.positional.size() == 2 ? arguments.positional[1] : Node();
    extents.insert(end ? std::string(end.text()) : "");
  }
  const std::vector<std::string>& constants = subject.kernel_facts(kernel).constexpr_params;
  if (extents.size() != 1 || std::count(constants.begin(), constants.end(), *extents.begin()) == 0) return {};
  return *extents.begin();
}

// `stages` for tiles of which the turns in flight fit `shared_bytes` of memory, nothing for larger ones: a kernel that ran
// with them before must not ask for more memory than there is. One buffer fewer than stages is held for each load (seen in
// what Triton 3.6 compiles). Empty where the size of the tiles can not be told.
std::string stages_that_fit(const Subject& subject, int kernel, const KernelFlow& flow, const Loop& loop,
                            long long stages, long long shared_bytes) {
  const auto is_tile = [&](Node node) { return flow.op(node) == "arange"; };
  const std::set<std::string> tiles = flow.depending(is_tile);
  long long loads = 0;
  std::string base;
  for (Node load : flow.accesses(true, false)) {
    if (!loop.statement.contains(load) || !flow.depends(KernelFlow::pointer_of(load), is_tile, tiles)) continue;
    if (loads++ == 0) base = flow.base_of(load);
  }
  const std::string extent = tile_extent(subject, kernel, flow);
  if (extent.empty() || base.empty() || loads == 0) return {};
  if (stages < 2) return std::to_string(stages);
  long long bits = 8;
  while (2 * bits * loads * (stages - 1) <= 8 * shared_bytes) bits *= 2;
  return std::to_string(stages) + " if " + extent + " * " + base +
         ".dtype.element_ty.primitive_bitwidth <= " + std::to_string(bits) + " else None";
}

// One knob for the loops of a file; `change` edits a loop or says why it does not.
template <class Change>
base::Result<Plan> plan_loops(const Subject& subject, const Rewrite& rewrite, std::vector<Request> requests,
                              const std::string& knob, Change change) {
  Plan plan;
  Editor editor(subject);
  std::set<std::uint32_t> done;
  std::string refused;
  bool any = false;
  for (Request& request : requests) {
    std::string shared;
    if (const auto given = request.values.find(kSharedBytes); given != request.values.end() && knob == "num_stages") {
      shared = given->second;
      request.values.erase(given);
    }
    if (request.values.size() != 1 || request.values.begin()->first != knob)
      return bad_value(subject, rewrite, "the knob " + knob,
                       request.values.empty() ? "none" : request.values.begin()->first);
    const std::string& value = request.values.begin()->second;
    for (const int kernel : wanted_kernels(subject, request)) {
      const KernelFlow flow(subject, kernel);
      const std::string& name = subject.function(kernel).name;
      for (const Loop& loop : innermost_loops(flow)) {
        any = true;
        if (flow.language().empty()) {
          refused = "the file does not name triton.language as a module";
          continue;
        }
        if (done.count(loop.statement.start()) > 0) continue;
        base::Result<std::string> reason = change(editor, kernel, flow, loop, value, shared);
        if (!reason) return reason.error();
        if (!reason->empty()) {
          refused += (refused.empty() ? "" : "; ") + name + ", " + loop_text(loop) + ": " + *reason;
          continue;
        }
        done.insert(loop.statement.start());
        plan.sites.push_back({name, "", loop.statement.line(), subject.pass_of_kernel(kernel), loop_text(loop)});
        plan.notes.push_back(name + ", " + "loop over " + text_of(loop.statement.child(Field::left)) + ": " + knob +
                             "=" + value + (request.reason.empty() ? "" : " (" + request.reason + ")"));
      }
    }
  }
  if (plan.sites.empty())
    return not_here(subject, rewrite,
                    !refused.empty() ? refused
                    : any            ? "none of the kernels asked for has such a loop"
                                     : "no kernel has a counting loop");
  if (!editor.problem().empty()) return not_here(subject, rewrite, editor.problem());
  plan.replacements = editor.take();
  return plan;
}

base::Result<long long> whole_number(const Subject& subject, const Rewrite& rewrite, const std::string& text,
                                     long long least, long long most) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    return bad_value(subject, rewrite, "an integer from " + std::to_string(least) + " to " + std::to_string(most),
                     text);
  return value;
}

}  // namespace

base::Result<Plan> plan_loop_stages(const Subject& subject, const Rewrite& rewrite,
                                    const std::vector<Request>& requests) {
  return plan_loops(subject, rewrite, requests, "num_stages",
                    [&](Editor& editor, int kernel, const KernelFlow& flow, const Loop& loop, const std::string& value,
                        const std::string& shared) -> base::Result<std::string> {
                      HONE_TRY(number, whole_number(subject, rewrite, value, 1, 8));
                      std::string stages = value;
                      if (!shared.empty()) {
                        HONE_TRY(bytes, whole_number(subject, rewrite, shared, 1, 1 << 30));
                        stages = stages_that_fit(subject, kernel, flow, loop, *number, *bytes);
                        if (stages.empty()) return std::string("the size of its tiles can not be told");
                      }
                      if (loop.form == "static_range") return std::string("it is unrolled when it is compiled");
                      std::string hazard = order_hazard(flow, loop);
                      if (!hazard.empty()) return hazard;
                      use_language_range(editor, flow, loop);
                      set_keyword(editor, loop, "num_stages", stages);
                      return std::string();
                    });
}

base::Result<Plan> plan_loop_unrolling(const Subject& subject, const Rewrite& rewrite,
                                       const std::vector<Request>& requests) {
  return plan_loops(subject, rewrite, requests, "unroll",
                    [&](Editor& editor, int kernel, const KernelFlow& flow, const Loop& loop, const std::string& value,
                        const std::string&) -> base::Result<std::string> {
                      if (loop.form == "static_range") return std::string("it is unrolled already");
                      if (value == "static") {
                        if (!known_when_compiled(subject, kernel, flow, loop))
                          return std::string("its bounds are not known when it is compiled");
                        if (!arguments_of(loop.iterated).keywords.empty())
                          return std::string("it has options that tl.static_range has not");
                        editor.replace(loop.iterated.child(Field::function), flow.language() + ".static_range");
                        return std::string();
                      }
                      HONE_TRY(number, whole_number(subject, rewrite, value, 2, 16));
                      use_language_range(editor, flow, loop);
                      set_keyword(editor, loop, "loop_unroll_factor", value);
                      return std::string();
                    });
}

}  // namespace hone::source::rewrite

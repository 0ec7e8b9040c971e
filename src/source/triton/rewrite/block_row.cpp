// Several rows for each program of a row kernel: a block of BLOCK_ROW rows, with a mask for those beyond the last.
//
//   row = tl.program_id(0)                    row = (tl.program_id(0) * BLOCK_ROW + tl.arange(0, BLOCK_ROW))
//   x = tl.load(X + row * stride + cols)  ->  row_mask = row < n_rows
//   s = tl.sum(x, axis=0)                     x = tl.load((X + row * stride)[:, None] + cols[None, :], mask=row_mask[:, None])
//                                             s = tl.sum(x, axis=1)
#include <algorithm>
#include <charconv>

#include "source/triton/launch/launch_grid.hpp"
#include "source/triton/module/python.hpp"
#include "source/triton/rewrite/editor.hpp"
#include "source/triton/rewrite/plans.hpp"
#include "source/triton/rewrite/row_shapes.hpp"

namespace hone::source::rewrite {

namespace {

class BlockRow {
 public:
  BlockRow(const Subject& subject, int kernel, int rows, Editor& editor)
      : subject_(subject), kernel_(kernel), rows_(rows), function_(subject.function(kernel)), editor_(editor) {}

  // Edits kernel and launches; the reason why not, or empty. After a reason the editor is of no more use.
  std::string rewrite() {
    const KernelFlow flow(subject_, kernel_);
    if (flow.language().empty()) return "the file does not name triton.language as a module";
    const std::string triton = triton_name();
    if (triton.empty()) return "the file does not name triton as a module";
    const std::vector<const Launch*> launches = subject_.launches_of(kernel_);
    if (launches.empty()) return function_.name + " is not launched in this file";
    if (function_.param("BLOCK_ROW") != nullptr) return function_.name + " does several rows already";
    const std::string mask = subject_.fresh_name("row_mask"), count = row_count_name();
    RowShapes shapes(subject_, kernel_, editor_, mask);
    const std::string reason = shapes.rewrite();
    if (!reason.empty()) return reason;
    if (!function_.params.empty() && function_.params.back().default_value)
      return function_.name + " has parameters with defaults at its end";
    editor_.lines_after(shapes.index_statement(), {mask + " = " + shapes.index_name() + " < " + count});
    const Node list = function_.definition.child(Field::parameters);
    editor_.append(list, count);
    editor_.append(list, "BLOCK_ROW: " + flow.language() + ".constexpr");
    for (const Launch* launch : launches) {
      const std::string wrong = change_launch(*launch, count, triton);
      if (!wrong.empty()) return wrong;
    }
    return editor_.problem();
  }

 private:
  // Of the kernel's parameter: one that the kernel has not got yet.
  std::string row_count_name() const {
    std::string name = "n_rows";
    for (int number = 2; function_.param(name) != nullptr || !subject_.module().assignments(kernel_, name).empty();
         ++number)
      name = "n_rows_" + std::to_string(number);
    return name;
  }

  std::string triton_name() const {
    for (const auto& [name, import] : subject_.module().imports()) {
      if (import.module == "triton" && import.symbol.empty()) return name;
    }
    return {};
  }

  // Fewer programs along axis 0, and the kernel told how many rows there are.
  std::string change_launch(const Launch& launch, const std::string& count, const std::string& triton) {
    const Node grid = strip_parentheses(resolved_grid(subject_.module(), launch.scope, launch.call));
    const std::vector<Node> extents = elements_of(grid);
    if (!grid.is(Kind::tuple) || extents.empty())
      return "the grid of " + function_.name + " is no tuple that stands in the file";
    const bool inside = launch.call.contains(grid);
    for (const Launch& other : subject_.launches()) {
      if (inside || other.scope != launch.scope || other.kernel == launch.kernel) continue;
      if (resolved_grid(subject_.module(), other.scope, other.call) == grid)
        return "the grid of " + function_.name + " is that of " + other.fact.kernel + " too";
    }
    for (Node node : extents[0].descendants()) {
      if (node.is(Kind::call) && node.text().find("cdiv") != std::string_view::npos)
        return "axis 0 of " + function_.name + " is a number of blocks, not of rows";
    }
    if (extents[0].is(Kind::call)) return "axis 0 of " + function_.name + " is computed by a call";
    for (const auto& [name, value] : launch.fact.bound_params) {
      if (name == count) return function_.name + " has a parameter " + count;
    }
    const std::string rows(extents[0].text());
    if (grids_.insert(grid.start()).second)
      editor_.replace(extents[0], triton + ".cdiv(" + rows + ", " + std::to_string(rows_) + ")");
    const Node list = launch.call.child(Field::arguments);
    editor_.append(list, count + "=" + rows);
    editor_.append(list, "BLOCK_ROW=" + std::to_string(rows_));
    return {};
  }

  const Subject& subject_;
  int kernel_, rows_;
  const Function& function_;
  Editor& editor_;
  std::set<std::uint32_t> grids_;
};

}  // namespace

base::Result<Plan> plan_block_row(const Subject& subject, const Rewrite& rewrite,
                                  const std::vector<Request>& requests) {
  Plan plan;
  std::set<int> done;
  std::string refused;
  for (const Request& request : requests) {
    const auto given = request.values.find("BLOCK_ROW");
    const std::string text = given == request.values.end() ? "" : given->second;
    int rows = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rows);
    const bool number = error == std::errc() && end == text.data() + text.size();
    if (request.values.size() != 1 || !number || rows < 2 || rows > 64 || !is_power_of_two(rows))
      return bad_value(subject, rewrite, "BLOCK_ROW as a power of two from 2 to 64", text.empty() ? "none" : text);
    for (const int kernel : wanted_kernels(subject, request)) {
      if (subject.kernel_facts(kernel).is_device_helper || !done.insert(kernel).second) continue;
      Editor editor(subject);  // of this kernel alone: what is refused leaves no edit
      const std::string reason = BlockRow(subject, kernel, rows, editor).rewrite();
      if (!reason.empty()) {
        refused += (refused.empty() ? "" : "; ") + reason;
        continue;
      }
      for (Replacement& replacement : editor.take()) plan.replacements.push_back(std::move(replacement));
      const std::string& name = subject.function(kernel).name;
      for (const Launch* launch : subject.launches_of(kernel))
        plan.sites.push_back({name, launch->fact.in_function, launch->fact.line,
                              subject.pass_of_function(launch->scope), "one row for each program"});
      plan.notes.push_back(
          name + ": " + std::to_string(rows) + " rows for each program, so that what all rows need is loaded " +
          "once for them; sums along axis 1" + (request.reason.empty() ? "" : " (" + request.reason + ")"));
    }
  }
  if (plan.sites.empty())
    return not_here(subject, rewrite, !refused.empty() ? refused : "the file has no kernel that is launched here");
  return plan;
}

}  // namespace hone::source::rewrite

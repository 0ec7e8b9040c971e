// Partial results summed by a kernel of the operator's own, and rounded in it: one launch where the framework's sum and the
// conversion behind it are two, whose time and scratch memory grow with the number of partial results.
//
//   _dW = torch.empty((programs, n_cols), dtype=torch.float32, ...)
//   dW = _dW.sum(dim=0).to(W.dtype)          ->   dW = _sum_rows(_dW, W.dtype)
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "source/triton/module/python.hpp"
#include "source/triton/rewrite/editor.hpp"
#include "source/triton/rewrite/kernel_flow.hpp"
#include "source/triton/rewrite/plans.hpp"
#include "source/triton/rewrite/size_table.hpp"

namespace hone::source::rewrite {

namespace {

// `P.sum(dim=0).to(D)` in a host function.
struct Sum {
  Node whole;
  int function = kNoFunction;
  std::string partial, dtype;
};

// The call `object.name(...)`: its object, or nothing.
Node object_of(Node call, std::string_view name) {
  const Node callee = call.child(Field::function);
  if (!call.is(Kind::call) || !callee.is(Kind::attribute) || callee.child(Field::attribute).text() != name) return {};
  return callee.child(Field::object);
}

bool is_first_dimension(Node call) {
  const Arguments arguments = arguments_of(call);
  if (!arguments.double_splats.empty() || arguments.positional.size() + arguments.keywords.size() != 1) return false;
  const Node* named = arguments.keyword("dim");
  const Node dimension = named != nullptr ? *named : arguments.positional.empty() ? Node() : arguments.positional[0];
  return dimension && integer_value(dimension) == 0;
}

// torch.empty((a, b), dtype=torch.float32, ...) or torch.empty(a, b, ...): two dimensions, contiguous, float32.
bool is_float_matrix(const Module& module, Node value) {
  if (!value.is(Kind::call)) return false;
  const std::string callee = module.canonical(value.child(Field::function));
  if (callee != "torch.empty" && callee != "torch.zeros") return false;
  const Arguments arguments = arguments_of(value);
  const Node* dtype = arguments.keyword("dtype");
  if (dtype == nullptr || module.canonical(*dtype) != "torch.float32" || !arguments.double_splats.empty()) return false;
  if (arguments.positional.size() == 1) return elements_of(strip_parentheses(arguments.positional[0])).size() == 2;
  return arguments.positional.size() == 2;
}

// Every value that the name can have before the sum is such a matrix or None.
bool holds_partial_results(const Module& module, int function, const std::string& name, Node sum) {
  bool any = false;
  for (const Assignment& assignment : module.assignments(function, name)) {
    if (assignment.how != Assignment::How::plain || assignment.element >= 0) return false;
    if (assignment.value.contains(sum)) continue;  // db = db.sum(0).to(...)
    std::vector<Node> values = {strip_parentheses(assignment.value)};
    if (values.front().is(Kind::conditional_expression)) {
      std::vector<Node> parts;
      for (Node part : values.front().children()) parts.push_back(part);
      if (parts.size() != 3) return false;
      values = {strip_parentheses(parts[0]), strip_parentheses(parts[2])};
    }
    for (Node value : values) {
      if (value.text() == "None") continue;
      if (!is_float_matrix(module, value)) return false;
      any = true;
    }
  }
  return any;
}

bool is_given_to_a_launch(const Subject& subject, int function, const std::string& name) {
  const auto launches = subject.launches_in(function);
  return std::any_of(launches.begin(), launches.end(), [&](const Launch* launch) {
    return !names_in(launch->call.child(Field::arguments), name).empty();
  });
}

std::vector<Sum> find_sums(const Subject& subject) {
  std::vector<Sum> found;
  const Module& module = subject.module();
  std::set<int> functions;
  for (const Launch& launch : subject.launches()) functions.insert(launch.scope);
  functions.erase(kNoFunction);
  for (const int function : functions) {
    for (Node call : module.calls(function)) {
      const Node sum = object_of(call, "to");
      if (!sum || !sum.is(Kind::call) || !is_first_dimension(sum)) continue;
      const Node partial = object_of(sum, "sum");
      if (!partial || !partial.is(Kind::identifier)) continue;
      const Arguments target = arguments_of(call);
      // x.dtype: a type, and no device.
      const bool typed = target.positional.size() == 1 && target.keywords.empty() && target.double_splats.empty() &&
                         target.positional[0].is(Kind::attribute) &&
                         target.positional[0].child(Field::attribute).text() == "dtype";
      const std::string name(partial.text());
      if (!typed || !holds_partial_results(module, function, name, call)) continue;
      if (!is_given_to_a_launch(subject, function, name)) continue;
      found.push_back({call, function, name, std::string(target.positional[0].text())});
    }
  }
  return found;
}

std::string kernel_text(const std::string& kernel, const std::string& tl) {
  return fmt::format(R"(@triton.jit
def {0}(
    X_ptr,
    X_row_stride,
    Y_ptr,
    n_rows,
    n_cols,
    BLOCK_ROWS: {1}.constexpr,
    BLOCK_COLS: {1}.constexpr,
):
    """
    y_j = sum_i(x_ij) in float32, rounded once to the type of y
    """
    col_offsets = {1}.program_id(0).to({1}.int64) * BLOCK_COLS + {1}.arange(0, BLOCK_COLS)
    col_mask = col_offsets < n_cols
    total = {1}.zeros((BLOCK_ROWS, BLOCK_COLS), dtype={1}.float32)
    for start in range(0, n_rows, BLOCK_ROWS):
        row_offsets = start + {1}.arange(0, BLOCK_ROWS)
        total += {1}.load(
            X_ptr + row_offsets[:, None] * X_row_stride + col_offsets[None, :],
            mask=(row_offsets < n_rows)[:, None] & col_mask[None, :],
            other=0.0,
        )
    {1}.store(Y_ptr + col_offsets, {1}.sum(total, axis=0).to(Y_ptr.dtype.element_ty), mask=col_mask)


)",
                     kernel, tl);
}

// Measured on an H200 (Triton 3.6), 132 to 1056 rows of 1024 to 16384 columns: 6 to 27 us, the framework's sum and
// conversion 11 to 42 us.
std::string host_text(const std::string& host, const std::string& kernel, bool in_device_context) {
  const std::string indent = in_device_context ? "        " : "    ";
  std::string text = "def " + host + "(X, dtype):\n";
  text += "    n_rows, n_cols = X.shape\n";
  text += "    BLOCK_ROWS, BLOCK_COLS = 128, 32\n";
  text += "    Y = torch.empty((n_cols,), dtype=dtype, device=X.device)\n";
  if (in_device_context) text += "    with device_context(X.device):\n";
  text += indent + kernel + "[(triton.cdiv(n_cols, BLOCK_COLS),)](\n";
  for (const char* argument :
       {"X", "X.stride(0)", "Y", "n_rows", "n_cols", "BLOCK_ROWS=BLOCK_ROWS", "BLOCK_COLS=BLOCK_COLS", "num_warps=8"})
    text += indent + "    " + argument + ",\n";
  return text + indent + ")\n    return Y\n\n\n";
}

}  // namespace

base::Result<Plan> plan_partial_sum(const Subject& subject, const Rewrite& rewrite,
                                    const std::vector<Request>& requests) {
  Plan plan;
  Editor editor(subject);
  const std::vector<Sum> sums = find_sums(subject);
  const Module& module = subject.module();
  if (sums.empty())
    return not_here(subject, rewrite,
                    "no float32 buffer that a launch fills is summed over its rows and converted by the framework");
  const std::string tl = KernelFlow(subject, subject.kernels().empty() ? 0 : subject.kernels().front()).language();
  const auto& imports = module.imports();
  if (tl.empty() || imports.count("torch") == 0 || imports.count("triton") == 0)
    return not_here(subject, rewrite, "the file does not import torch, triton and triton.language by name");
  const std::string kernel = subject.fresh_name("_sum_rows_kernel"), host = subject.fresh_name("_sum_rows");
  const bool in_device_context =
      imports.count("device_context") > 0 || module.find_function("device_context") != kNoFunction;
  Node first;
  for (const Request& request : requests) {
    if (!request.values.empty()) return bad_value(subject, rewrite, "no knob", request.values.begin()->first);
    for (const Sum& sum : sums) {
      const Function& function = subject.function(sum.function);
      const Pass pass = subject.pass_of_function(sum.function);
      if (request.pass != Pass::any && request.pass != pass) continue;
      const auto launches = subject.launches_in(sum.function);
      const bool wanted = std::any_of(launches.begin(), launches.end(),
                                      [&](const Launch* launch) { return wants(request, pass, launch->fact.kernel); });
      if (!wanted) continue;
      const bool known = std::any_of(plan.sites.begin(), plan.sites.end(), [&](const Site& site) {
        return site.line == sum.whole.line() && site.what == "sum of " + sum.partial;
      });
      if (known) continue;
      editor.replace(sum.whole, host + "(" + sum.partial + ", " + sum.dtype + ")");
      const Node definition = top_level_of(function.outer);
      if (!first || definition.start() < first.start()) first = definition;
      plan.sites.push_back(
          {launches.front()->fact.kernel, function.name, sum.whole.line(), pass, "sum of " + sum.partial});
      plan.notes.push_back(fmt::format(
          "{} sums the rows of {} by {}, one launch for the sum and the conversion, in another order of the sum",
          function.name, sum.partial, kernel));
    }
  }
  if (plan.sites.empty()) return not_here(subject, rewrite, "no such sum in the pass or of the kernel asked for");
  editor.function_before(first, kernel_text(kernel, tl) + host_text(host, kernel, in_device_context));
  if (!editor.problem().empty()) return not_here(subject, rewrite, editor.problem());
  plan.replacements = editor.take();
  return plan;
}

}  // namespace hone::source::rewrite

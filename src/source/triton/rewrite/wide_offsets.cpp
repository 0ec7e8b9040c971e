// 64-bit program indices where a product with a stride can pass 2^31 elements: `tl.program_id(0)` becomes
// `tl.program_id(0).to(tl.int64)`, as most kernels of this kind write it.
#include <algorithm>

#include "source/triton/module/python.hpp"
#include "source/triton/rewrite/editor.hpp"
#include "source/triton/rewrite/kernel_flow.hpp"
#include "source/triton/rewrite/plans.hpp"

namespace hone::source::rewrite {

namespace {

// Block pointers and descriptors take 32-bit offsets only.
bool takes_narrow_offsets(const std::string& op) {
  return op == "make_block_ptr" || op == "advance" || op == "make_tensor_descriptor";
}

bool is_widened(Node call) {
  const Node attribute = call.parent();
  return attribute.is(Kind::attribute) && attribute.parent().is(Kind::call) &&
         (attribute.child(Field::attribute).text() == "to" || attribute.child(Field::attribute).text() == "cast");
}

}  // namespace

base::Result<Plan> plan_wide_offsets(const Subject& subject, const Rewrite& rewrite,
                                     const std::vector<Request>& requests) {
  Plan plan;
  Editor editor(subject);
  std::set<std::uint32_t> done;
  std::string refused;
  for (const Request& request : requests) {
    if (!request.values.empty()) return bad_value(subject, rewrite, "no knob", request.values.begin()->first);
    for (const int kernel : wanted_kernels(subject, request)) {
      const model::KernelFact& fact = subject.kernel_facts(kernel);
      if (fact.int32_offset_lines.empty()) continue;
      const KernelFlow flow(subject, kernel);
      const std::string language = flow.language();
      if (language.empty()) {
        refused = "the file does not name triton.language as a module";
        continue;
      }
      int widened = 0;
      for (Node call : subject.module().calls(kernel)) {
        if (flow.op(call) != "program_id" || is_widened(call) || done.count(call.start()) > 0) continue;
        const auto is_this = [&](Node node) { return node == call; };
        const std::set<std::string> names = flow.depending(is_this);
        bool offset = false, narrow = false;
        for (Node node : subject.function(kernel).body.descendants()) {
          const bool product =
              node.is(Kind::binary_operator) && node.child(Field::operator_).text() == "*" &&
              std::count(fact.int32_offset_lines.begin(), fact.int32_offset_lines.end(), node.line()) > 0;
          offset = offset || (product && flow.depends(node, is_this, names));
          narrow = narrow || (node.is(Kind::call) && takes_narrow_offsets(flow.op(node)) &&
                              flow.depends(node.child(Field::arguments), is_this, names));
        }
        if (!offset) continue;
        if (narrow) {
          refused = fact.name + " hands the index to a block pointer, which takes 32-bit offsets only";
          continue;
        }
        editor.insert(call.end(), ".to(" + language + ".int64)");
        done.insert(call.start());
        ++widened;
        plan.sites.push_back({fact.name, "", call.line(), subject.pass_of_kernel(kernel), "program index"});
      }
      if (widened > 0)
        plan.notes.push_back(fact.name +
                             ": 64-bit program index, so that offsets hold for tensors of 2^31 elements and more");
    }
  }
  if (plan.sites.empty()) {
    return not_here(subject, rewrite,
                    !refused.empty() ? refused : "no kernel multiplies a 32-bit program index by a stride");
  }
  plan.replacements = editor.take();
  return plan;
}

}  // namespace hone::source::rewrite

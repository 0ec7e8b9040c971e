#include "source/triton/kernel/tier.hpp"

#include <algorithm>
#include <set>

#include "source/triton/launch/setting_source.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

bool is_backward(const Launch& launch) {
  for (const std::string* name : {&launch.fact.kernel, &launch.fact.in_function}) {
    if (name->find("backward") != std::string::npos || name->find("bwd") != std::string::npos) return true;
  }
  return false;
}

// A matrix product or convolution in host code, as text; empty if none.
std::string host_product(const std::vector<const Module*>& own) {
  static const std::set<std::string> products = {"torch.mm",
                                                 "torch.matmul",
                                                 "torch.bmm",
                                                 "torch.addmm",
                                                 "torch.baddbmm",
                                                 "torch.einsum",
                                                 "torch.nn.functional.linear",
                                                 "torch.nn.functional.conv2d",
                                                 "torch.conv2d",
                                                 "torch.nn.functional.conv1d",
                                                 "torch.nn.functional.scaled_dot_product_attention"};
  for (const Module* module : own) {
    for (Node node : module->tree().root().descendants()) {
      if (node.is(Kind::binary_operator) && node.child(Field::operator_).text() == "@")
        return "`@` at line " + std::to_string(node.line());
      if (node.is(Kind::call) && products.count(module->canonical(node.child(Field::function))) > 0) {
        return text_of(node.child(Field::function)) + " at line " + std::to_string(node.line());
      }
    }
  }
  return {};
}

// The functions that a method of an autograd class reaches by calls inside its file.
std::set<FunctionRef> reached_from(ModuleSet& modules, const std::vector<const Module*>& own,
                                   const std::string& method) {
  std::set<FunctionRef> reached;
  std::vector<FunctionRef> open;
  for (const Module* module : own) {
    for (const Class& candidate : module->classes()) {
      if (!is_autograd_class(*module, candidate)) continue;
      for (const int index : candidate.methods) {
        if (module->functions()[static_cast<std::size_t>(index)].name == method) open.push_back({module, index});
      }
    }
  }
  while (!open.empty()) {
    const FunctionRef at = open.back();
    open.pop_back();
    if (!reached.insert(at).second) continue;
    for (Node call : at.module->calls(at.index)) {
      const Node callee = strip_parentheses(call.child(Field::function));
      if (!callee.is(Kind::identifier)) continue;
      const FunctionRef inner = modules.function_named(*at.module, callee, at.index);
      if (inner && std::find(own.begin(), own.end(), inner.module) != own.end()) open.push_back(inner);
    }
  }
  return reached;
}

// Does forward compute the gradient? Then backward launches nothing but a scaling of what forward left.
bool gradient_in_forward(ModuleSet& modules, KernelCatalog& catalog, const std::vector<const Module*>& own,
                         const std::vector<Launch>& launches, const std::vector<model::AutogradFact>& functions) {
  const std::set<FunctionRef> backward = reached_from(modules, own, "backward");
  bool forward = false;
  for (const Launch& launch : launches) {
    const bool from_backward = is_backward(launch) || backward.count({launch.module, launch.scope}) > 0;
    if (!from_backward) forward = true;
    if (!from_backward || !launch.kernel) continue;
    const model::KernelFact& kernel = catalog.facts(launch.kernel);
    // Scaling: one store, to what it has loaded.
    bool in_place = false;
    for (const model::AccessFact& store : kernel.accesses) {
      for (const model::AccessFact& load : kernel.accesses) {
        in_place = in_place || (store.store && !load.store && !store.base.empty() && store.base == load.base);
      }
    }
    const bool only_scales = in_place && kernel.reductions.empty() && kernel.precision_ops.empty() &&
                             kernel.dot_lines.empty() && kernel.store_lines.size() == 1 &&
                             kernel.load_lines.size() <= 2;
    if (!only_scales) return false;
  }
  const bool has_backward =
      std::any_of(functions.begin(), functions.end(), [](const auto& f) { return f.backward.has_value(); });
  return forward && has_backward;
}

}  // namespace

void read_tier(ModuleSet& modules, KernelCatalog& catalog, const std::vector<const Module*>& own,
               const std::vector<Launch>& launches, model::AuditedOp& op) {
  std::string dot, forward_reduction, backward_reduction, outputs;
  for (const Launch& launch : launches) {
    if (!launch.kernel) continue;
    const model::KernelFact& kernel = catalog.facts(launch.kernel);
    const std::string where = kernel.name + " (line " + std::to_string(kernel.line) + ")";
    if (!kernel.dot_lines.empty()) dot = "tl.dot in " + where;
    if (!kernel.reductions.empty()) {
      std::string& reduction = is_backward(launch) ? backward_reduction : forward_reduction;
      if (reduction.empty()) reduction = "tl." + kernel.reductions[0].op + " in " + where;
    }
    std::set<std::string> stored;
    for (const model::AccessFact& access : kernel.accesses) {
      if (access.store && !access.base.empty()) stored.insert(access.base);
    }
    const bool exponential = std::any_of(
        kernel.precision_ops.begin(), kernel.precision_ops.end(),
        [](const model::MathFact& math) { return math.op == "exp" || math.op == "exp2" || math.op == "log"; });
    if (!is_backward(launch) && !kernel.reductions.empty() && exponential && stored.size() >= 3) {
      outputs = std::to_string(stored.size()) + " outputs from exponentials and reductions in " + where;
    }
  }
  const std::string product = host_product(own);
  if (launches.empty() && op.indirect_launches.empty()) {
    if (op.autograd_functions.empty() && op.jit_kernels.empty()) return;
    op.tier = 3;
    op.tier_reason = "no kernel is launched here: host code composes other operations";
    return;
  }
  if (!dot.empty()) {
    op.tier = 3;
    op.tier_reason = "matrix products inside a kernel: " + dot;
  } else if (!product.empty()) {
    op.tier = 3;
    op.tier_reason = "matrix products or convolutions between launches: " + product;
  } else if (gradient_in_forward(modules, catalog, own, launches, op.autograd_functions)) {
    op.tier = 3;
    op.tier_reason = "the gradient is computed in forward; backward only scales it";
    if (outputs.empty() && op.in_place.flag == std::nullopt && !op.in_place.forward_overwrites_input)
      op.tier_alternatives = {2};
    if (forward_reduction.empty()) op.tier_alternatives = {1, 2};
  } else if (!outputs.empty()) {
    op.tier = 3;
    op.tier_reason = "several fused steps: " + outputs;
  } else if (!forward_reduction.empty()) {
    op.tier = 2;
    op.tier_reason = "reduction across a row or tile: " + forward_reduction;
  } else if (!backward_reduction.empty()) {
    op.tier = 1;
    op.tier_reason = "element-wise forward; only backward reduces: " + backward_reduction;
    op.tier_alternatives = {2};
  } else if (launches.empty()) {
    op.tier = 3;
    op.tier_reason = "composed of other operations' launches";
  } else {
    op.tier = 1;
    op.tier_reason = "element-wise: no reduction and no matrix product in any kernel";
  }
}

}  // namespace hone::source

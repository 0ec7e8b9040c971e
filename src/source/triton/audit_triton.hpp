// The facts of one operation from its modules.
#pragma once

#include <string>
#include <vector>

#include "model/source_facts.hpp"
#include "source/triton/module/module_set.hpp"

namespace hone::source {

// `own`: the operation's files, the one it is named by first. A file that launches nothing and defines no kernel yields
// an op without facts; nothing here fails.
model::AuditedOp audit_triton(ModuleSet& modules, const std::string& op, const std::vector<const Module*>& own);

// The modules beside `primary` whose kernels it launches and whose name starts with its own: its kernel file
// (fused_moe.py launches from fused_moe_kernels.py). Shared utilities and other operations are not among them.
std::vector<const Module*> companion_modules(ModuleSet& modules, const Module& primary);

// Has the file anything to audit: a kernel, a launch or an autograd function?
bool has_triton(const model::AuditedOp& op);

}  // namespace hone::source

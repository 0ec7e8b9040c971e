// The tier of an operation: 1 element-wise, 2 reduction, 3 fused or complex. A prior for its bottleneck class, not the
// class.
#pragma once

#include "model/source_facts.hpp"
#include "source/triton/launch/launch_facts.hpp"

namespace hone::source {

void read_tier(ModuleSet& modules, KernelCatalog& catalog, const std::vector<const Module*>& own,
               const std::vector<Launch>& launches, model::AuditedOp& op);

}  // namespace hone::source

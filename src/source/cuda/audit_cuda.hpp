// Facts of CUDA C++ source: __global__ functions, launches, shared memory, vector types, pragmas.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/source_facts.hpp"

namespace hone::source {

base::Result<model::AuditedOp> audit_cuda(const std::string& path, const std::string& text);

// The text with what the grammar does not know overwritten by as many spaces, so that offsets stay: __cluster_dims__(..),
// __grid_constant__, alignment and other attributes, `__device__` on lambdas.
std::string with_unknown_tokens_blanked(const std::string& text);

}  // namespace hone::source

// Facts of CUDA C++ source: __global__ functions, launches, shared memory, vector types, pragmas.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/source_facts.hpp"

namespace hone::source {

base::Result<model::AuditedOp> audit_cuda(const std::string& path, const std::string& text);

}  // namespace hone::source

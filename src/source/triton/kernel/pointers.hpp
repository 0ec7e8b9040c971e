// Which pointer parameter each memory access of a kernel goes through, and whether its offset can overflow 32 bits.
#pragma once

#include "model/source_facts.hpp"
#include "source/triton/module/module.hpp"

namespace hone::source {

// Fills accesses, int32_offset_lines and row_offset_params of `fact`.
void trace_pointers(const Module& module, const Function& function, model::KernelFact& fact);

}  // namespace hone::source

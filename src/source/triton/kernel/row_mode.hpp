// Operations that keep two families of kernels, one row or a block of rows for each program, and choose between them.
#pragma once

#include <vector>

#include "model/source_facts.hpp"
#include "source/triton/module/module.hpp"

namespace hone::source {

model::RowModeFact read_row_mode(const std::vector<const Module*>& own, const std::vector<model::KernelFact>& kernels,
                                 const std::vector<model::LaunchFact>& launches,
                                 const std::vector<model::TodoComment>& remarks);

}  // namespace hone::source

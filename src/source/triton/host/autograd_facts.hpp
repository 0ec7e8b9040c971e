// Facts of each torch.autograd.Function: its methods, what it saves, what travels through ctx.
#pragma once

#include <vector>

#include "model/source_facts.hpp"
#include "source/triton/module/module.hpp"

namespace hone::source {

std::vector<model::AutogradFact> read_autograd_functions(const Module& module);

}  // namespace hone::source

// @triton.autotune: how many configurations there are and which values they try, found by running the code that builds
// them in a small evaluator of constants, lists, loops and conditions.
#pragma once

#include "model/source_facts.hpp"
#include "source/triton/module/module_set.hpp"

namespace hone::source {

model::AutotuneFact read_autotune(ModuleSet& modules, const Module& module, Node decorator);

}  // namespace hone::source

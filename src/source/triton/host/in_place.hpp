// Which launches overwrite a buffer that existed before: an input of forward, a saved tensor, an incoming gradient.
#pragma once

#include <vector>

#include "model/source_facts.hpp"
#include "source/triton/launch/launch_facts.hpp"

namespace hone::source {

model::InPlaceFact read_in_place(ModuleSet& modules, KernelCatalog& catalog, const std::vector<const Module*>& own,
                                 const std::vector<Launch>& launches,
                                 const std::vector<model::AutogradFact>& functions);

}  // namespace hone::source

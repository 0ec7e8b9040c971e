// Facts of each launch `kernel[grid](...)`, and of calls to another operation's host function that launches.
#pragma once

#include <vector>

#include "model/source_facts.hpp"
#include "source/triton/module/module_set.hpp"

namespace hone::source {

// `kernel_of` gives the facts of a kernel by its function; it lives as long as the call.
class KernelCatalog {
 public:
  explicit KernelCatalog(ModuleSet& modules) : modules_(modules) {}
  const model::KernelFact& facts(const FunctionRef& kernel);

 private:
  ModuleSet& modules_;
  std::map<FunctionRef, std::unique_ptr<model::KernelFact>> known_;
};

// One launch with the node it was read from.
struct Launch {
  model::LaunchFact fact;
  const Module* module = nullptr;
  int scope = kNoFunction;
  Node call;
  FunctionRef kernel;  // empty: its definition is not here
};

std::vector<Launch> read_launches(ModuleSet& modules, KernelCatalog& catalog, const Module& module);

// `own` are the modules of the operation itself.
std::vector<model::IndirectLaunch> read_indirect_launches(ModuleSet& modules, const Module& module,
                                                          const std::vector<const Module*>& own);

}  // namespace hone::source

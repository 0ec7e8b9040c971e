// The settings of a launch (tile sizes, num_warps, num_stages): where each comes from, and whether num_stages acts at
// all.
#pragma once

#include <vector>

#include "model/source_facts.hpp"
#include "source/triton/launch/star_kwargs.hpp"
#include "source/triton/module/module_set.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

struct LaunchSite {
  ModuleSet& modules;
  const Module& module;
  int scope;
  Node call;
  const model::KernelFact* kernel;  // null: unknown
  FunctionRef kernel_function;
};

void read_settings(const LaunchSite& site, const Arguments& arguments, const std::vector<StarDictionary>& stars,
                   model::LaunchFact& fact);

}  // namespace hone::source

// Which assignments of a name can reach a place in host code, by the branches both stand in.
#pragma once

#include <string>
#include <vector>

#include "source/triton/module/module.hpp"

namespace hone::source {

struct Definition {
  Assignment assignment;
  std::string condition;   // of the branch that it stands in and the use does not; empty when unconditional
  bool elsewhere = false;  // in a branch for devices of other vendors (XPU, NPU)
};

// The definitions of `name` in function `scope` before `use`, last first. A definition that always runs hides those
// before it, as do branches that cover every case; one in the other branch of an `if`, or followed by a return, does
// not reach. Definitions for other vendors' devices come marked and hide nothing. `complete` tells that nothing from
// outside the function (its parameter, a module constant) can reach.
std::vector<Definition> reaching_definitions(const Module& module, int scope, const std::string& name, Node use,
                                             bool& complete);

// For any statement: how it relates to the use. Nothing when it can not reach.
struct Reach {
  bool always = false;
  std::string condition;
  bool elsewhere = false;
};
bool reaches(Node statement, Node use, Reach& reach);

}  // namespace hone::source

// Facts of one @triton.jit function, read from its signature and body.
#pragma once

#include "model/source_facts.hpp"
#include "source/triton/module/module_set.hpp"

namespace hone::source {

model::KernelFact read_kernel(ModuleSet& modules, const Module& module, int function);

// "sum" for a node whose canonical name lies in triton.language; empty for others.
std::string language_op(const Module& module, Node callee);

// Whether a parameter is annotated as a compile-time constant.
bool is_constexpr(const Module& module, Node annotation);

}  // namespace hone::source

// Facts of C++ and CUDA C++ source: kernels with their loops and accesses, launches, shared memory, vector types, pragmas.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/source_facts.hpp"

namespace hone::source {

enum class CppLanguage { cpp, cuda };

// In C++ a kernel is a function with a pointer or a span among its parameters whose elements it reads or writes in a loop; in CUDA
// every __global__ function is one. An op without kernels holds none. Fails on UTF-16 and on what the parser gives up on.
base::Result<model::AuditedOp> audit_cpp(const std::string& path, const std::string& text, CppLanguage language);

}  // namespace hone::source

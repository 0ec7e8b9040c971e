// Whose kernel it is, told by its name: a first capture holds a framework's kernels beside the user's own.
#pragma once

#include <string>

namespace hone::counters {

// "PyTorch", "cuBLAS", ...; empty for a kernel of no known library.
std::string library_of(const std::string& kernel_name);

// The function's own name: without return type, namespaces, template arguments and parameters.
std::string base_name(const std::string& kernel_name);

}  // namespace hone::counters

// Environment variables. src/cli/environment.cpp lists all that hone reads.
#pragma once

#include <string>

namespace hone::base {

// The value of a variable, empty where it is unset.
std::string environment_variable(const char* name);

}  // namespace hone::base

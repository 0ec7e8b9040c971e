// The environment's variables: their values, and for the manual page what each one does.
#pragma once

#include <string>
#include <vector>

namespace hone::cli {

struct Variable {
  std::string name;
  std::string help;  // one sentence without a full stop
};

// All that hone and the libraries it opens look at.
const std::vector<Variable>& environment_variables();

// The value; empty where it is not set.
std::string variable(const char* name);

}  // namespace hone::cli

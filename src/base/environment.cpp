#include "base/environment.hpp"

#include <cstdlib>

namespace hone::base {

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace hone::base

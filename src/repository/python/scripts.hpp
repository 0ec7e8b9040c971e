// The Python files of the worker, embedded by the build from worker/*.py.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace hone::repository::python {

struct Script {
  std::string name, text;
};
const std::vector<Script>& scripts();

// Writes these below `directory`, each only where it differs.
base::Result<void> unpack(base::FileSystem& files, const std::vector<Script>& scripts, const std::string& directory);

}  // namespace hone::repository::python

// The Python files of the worker, embedded by the build from worker/*.py.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace hone::repository::liger {

struct Script {
  std::string name, text;
};
const std::vector<Script>& scripts();

// Writes them below `directory`, each only where it differs.
base::Result<void> unpack_scripts(base::FileSystem& files, const std::string& directory);

}  // namespace hone::repository::liger

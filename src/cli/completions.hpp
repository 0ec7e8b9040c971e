// Shell completions, made from the tables of flags.hpp: commands, flags, values, files, and the kernels of the repository in use.
#pragma once

#include <string>

#include "base/result.hpp"

namespace hone::cli {

base::Result<std::string> completion_script(const std::string& shell);  // bash, zsh or fish

}  // namespace hone::cli

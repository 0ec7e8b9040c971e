// Commands that hone suggests, so that they can be pasted: with the flags that say where the work of this call is.
#pragma once

#include <string>

#include "base/error.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"

namespace hone::cli {

// " --repo \"my kernels\" --device cpu": what was typed here and another command needs to work at the same place; one that takes
// a profile also needs what is asked of it. Nothing from configuration files: the same ones will be in force.
std::string carried_flags(const Typed& typed, const CommandSpec& next);

// "hone optimize rms_norm" and what is carried to it.
std::string suggested(const Typed& typed, const std::string& command, const std::string& kernel);

// A text in which commands stand as stages name them, 'hone profile rms_norm' or 'hone profile KERNEL', with what is carried to
// each. Flags that it has already stay as they are.
std::string completed(const std::string& text, const Typed& typed, const std::string& kernel);

// The error with its remedy completed.
base::Error completed(base::Error error, const Typed& typed, const std::string& kernel);

}  // namespace hone::cli

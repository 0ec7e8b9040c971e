// Turns errno into an Error that names the path, the system's words and what to do. Shared by the ports of base.
#pragma once

#include <string>

#include "base/error.hpp"

namespace hone::base {

// The system's words for an errno value, for any thread.
std::string system_words(int error_number);

// `expected` says what was tried ("a file that can be written"); the remedy follows from the errno.
Error system_error(int error_number, const std::string& expected, const std::string& path);

}  // namespace hone::base

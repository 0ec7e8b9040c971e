// How every command tells an error: for people on the error stream, and with --json as the one document on the output.
#pragma once

#include <iosfwd>

#include "base/error.hpp"

namespace hone::cli {

// Returns the exit code of the error. Of long words and texts head and tail are shown, with the count of what is left out.
int print_error(const base::Error& whole, bool json, std::ostream& out, std::ostream& err);

}  // namespace hone::cli

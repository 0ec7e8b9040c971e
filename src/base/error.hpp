// What went wrong, as a value a person can act on. Every floor speaks it; only cli prints it and turns it into an exit code.
#pragma once

#include <string>

namespace hone::base {

// The kinds are the exit codes of the command line (0 is success, so it has no kind).
enum class ErrorKind {
  internal = 1,      // a broken promise of hone's own code
  usage = 2,         // the command line asks for something that does not exist
  preflight = 3,     // something the work needs is missing here
  untrusted = 4,     // the measurement can not be trusted here
  gate = 5,          // a gate failed; everything has been restored
  interrupted = 130  // the user stopped it; everything has been restored
};

// One error: four answers and its kind. `where` is a file, a file:line, a device or a step; empty when `expected` says it.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string expected;  // "a kernel name"
  std::string found;     // "'rms_nrom'"
  std::string where;     // "command line"
  std::string remedy;    // "did you mean rms_norm? 'hone list' shows all of them"
};

// The error as the block of lines printed for people: at most four labelled lines.
std::string describe(const Error& error);

int exit_code(ErrorKind kind);

}  // namespace hone::base

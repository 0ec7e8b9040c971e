// The system's C++ compiler as hone uses it: found once, asked its version, run for each program.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/result.hpp"
#include "device/device.hpp"

namespace hone::device::cpu {

struct Toolchain {
  std::vector<std::string> command;  // the program's absolute path, and arguments that came with its name
  std::string version;               // the first line of --version
  std::string identity;              // command and the whole of --version: another one is another compiler
  std::vector<std::string> flags;

  std::string flags_text() const;
};

// `compiler`: a command with optional arguments; empty: the first of c++, g++, clang++ on PATH. A named compiler that is not
// there is an error, never replaced by another.
base::Result<Toolchain> find_toolchain(const std::string& compiler, base::Processes& processes);

// Compiles the source in `folder`, which must be empty or missing and is left to the caller to remove. Returns the bytes
// of the shared object. An error of the source (kind gate) carries the compiler's first messages and the first file:line;
// a compiler that can not work here is of kind preflight.
base::Result<std::string> compile_shared_object(const Toolchain& toolchain, const ProgramSource& source,
                                                const std::string& folder, base::Processes& processes,
                                                base::FileSystem& files);

}  // namespace hone::device::cpu

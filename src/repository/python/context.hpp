// What the engine works with: the machine's ports, a folder of its own, the interpreter and the device.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"

namespace hone::repository::python {

struct Context {
  base::FileSystem& files;
  base::Processes& processes;
  base::Clock& clock;
  std::string scratch;          // absolute: hone's own folder for scripts and variants, not among the user's sources
  std::string device = "auto";  // "auto", "cuda:N", or "cpu": Triton's interpreter, which checks and measures nothing
  std::string python = "python3";
  std::int64_t answer_ms = 120'000;  // longest time for one answer of the worker; past it the process is ended

  std::string scripts() const { return base::join(scratch, "worker"); }
};

}  // namespace hone::repository::python

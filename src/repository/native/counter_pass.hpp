// The passes of a built-in kernel as a program of their own, for a profiler that looks at a process from outside: hone starts
// itself with the words of a CounterPass, opens the same session and runs each pass a few times. Nothing is timed there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "repository/native/native_repository.hpp"

namespace hone::repository::native {

struct CounterPass {
  std::string settings_directory, kernel, dtype, x_value;
  std::string scope = "general";  // "forward", "backward", or both
  std::uint64_t seed = 0;
  int launches = 1;  // of each pass
  kernels::Options options;

  // "DIRECTORY KERNEL DTYPE X SCOPE SEED LAUNCHES [OPTION=VALUE...]" as words, and back.
  std::vector<std::string> words() const;
  static std::optional<CounterPass> parse(const std::vector<std::string>& words);
};

// Runs the passes on `context`'s device and waits for them. Errors: as opening the session, and a fault of a kernel.
base::Result<void> run_counter_pass(NativeContext context, const CounterPass& pass);

}  // namespace hone::repository::native

// The passes of a manifest's kernel as a program of their own, for a profiler that looks at a process from outside: hone starts
// itself with these words, opens the same session and runs each pass a few times. Nothing is timed there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "repository/manifest/manifest_repository.hpp"

namespace hone::repository::manifest {

struct CounterPass {
  std::string manifest, kernel, dtype, x_value;
  std::string scope = "general";  // "forward", "backward", or both
  std::uint64_t seed = 0;
  int launches = 1;  // of each pass

  std::vector<std::string> words() const;
  static std::optional<CounterPass> parse(const std::vector<std::string>& words);
};

// Runs the passes on `context`'s device and waits for them. Errors: as opening the session, and a fault of a kernel.
base::Result<void> run_counter_pass(const ManifestContext& context, const CounterPass& pass);

}  // namespace hone::repository::manifest

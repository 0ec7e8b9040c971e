// The passes of a kernel as a program of their own, for a profiler that looks at a process from outside: hone starts itself with
// the words of a CounterPass, opens the same session and runs each pass a few times. Nothing is timed there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "repository/repository.hpp"

namespace hone::repository::launch {

struct CounterPass {
  std::string repository, place;  // Operation::repository and place
  std::string kernel, dtype, x_value;
  std::string scope = "general";  // "forward", "backward", or both
  std::uint64_t seed = 0;
  int launches = 1;                         // of each pass
  std::int64_t last_level_cache_bytes = 0;  // model::Request's: the sizes may rest on it
  std::map<std::string, std::string> options = {};

  // "REPOSITORY PLACE KERNEL DTYPE X SCOPE SEED LAUNCHES CACHE_BYTES [OPTION=VALUE...]" as words, and back.
  std::vector<std::string> words() const;
  static std::optional<CounterPass> parse(const std::vector<std::string>& words);
};

// Runs the passes on the device of `repository`, whose sessions are the engine's, and waits for them. Errors: as opening the
// session, and a fault of a kernel.
base::Result<void> run_counter_pass(Repository& repository, const CounterPass& pass);

}  // namespace hone::repository::launch

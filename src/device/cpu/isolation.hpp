// Work in a forked child that may crash, loop forever or exit: it costs one call, not the process. Against accidents of
// generated code, not against malice: the child keeps this user's rights.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone::device::cpu {

struct Region {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// Runs `work` in a child. When it succeeds there, the child's content of `regions` is copied into this process; otherwise
// they are as before, except when the child is killed while it hands them over, which is an error as well.
// A crash, an exit, or no end within deadline_ns is an error of kind gate; `what` names the work in it. When `*stop` becomes
// true the child is killed, which is an error of kind interrupted.
base::Result<void> run_in_child(const std::function<base::Result<void>()>& work, const std::vector<Region>& regions,
                                std::int64_t deadline_ns, const std::string& what,
                                const std::atomic<bool>* stop = nullptr);

}  // namespace hone::device::cpu

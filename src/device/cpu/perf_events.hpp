// Hardware counters of Linux (perf_event_open) over the threads of a pool.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/result.hpp"

namespace hone::device::cpu {

using Events = std::vector<std::pair<std::string, double>>;

// Counts while `work` runs, summed over the threads, user mode only, scaled where the processor took turns between events.
// Besides the counts: instructions_per_cycle, llc_misses_per_kilo_instruction, branch_misses_per_kilo_instruction where
// their parts were counted. Empty with `reason` (what the system said and what to do) where there are no counters, or when
// `work` fails.
Events count_while(const std::vector<pid_t>& threads, const std::function<base::Result<void>()>& work,
                   std::string& reason);

// Why perf_event_open failed, and the remedy. `paranoid`: content of /proc/sys/kernel/perf_event_paranoid, may be empty.
std::string why_no_events(int error_number, const std::string& paranoid);

}  // namespace hone::device::cpu

// From launches to kernels: trials and repeats of one kernel become one summary.
#pragma once

#include <vector>

#include "counters/launch_record.hpp"
#include "model/counters.hpp"

namespace hone::counters {

model::CounterSummary summary_of(const LaunchRecord& launch);

// Launches of one name are one kernel. Of one grid and block: the median of each metric. Of several that move the same bytes
// one after the other: trials of an autotuner, the fastest stands. Otherwise: several sizes, the longest stands.
std::vector<model::CounterSummary> summarize(const std::vector<LaunchRecord>& launches);

}  // namespace hone::counters

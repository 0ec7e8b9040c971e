// What this CPU can do at most, measured with small programs built by the same compiler and run by the same pool as kernels.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "device/device.hpp"
#include "model/device_info.hpp"

namespace hone::device::cpu {

struct CeilingPlan {
  std::int64_t all_last_level_bytes = 0;  // as the system reports
  std::int64_t cache_bytes = 0;           // the effective size where it is known, otherwise the same
  std::int64_t available_bytes = 0;       // 0: not known
  int cores = 1;
};

// See ceilings.cpp for each one's program and the choice of the working set. A ceiling that can not be measured is left out,
// with a note.
base::Result<model::Ceilings> measure_ceilings(Device& device, const CeilingPlan& plan, const CeilingOptions& options,
                                               base::Clock& clock);

// See Device::ceiling_programs. Buffers as large as those of the measurement.
base::Result<std::unique_ptr<CeilingPrograms>> programs_beside(Device& device, const CeilingPlan& plan,
                                                               const model::Ceilings& ceilings);

// See Device::measure_cache_size. The sweep starts above the private caches and ends at twice what the system reports.
base::Result<std::int64_t> measure_cache_size(Device& device, const CeilingPlan& plan, const CeilingOptions& options,
                                              base::Clock& clock);

}  // namespace hone::device::cpu

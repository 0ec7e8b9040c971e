// What the system says of its processor and memory, from files (/proc, /sys) where they are and system calls where not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "model/device_info.hpp"

namespace hone::device::cpu {

struct SystemFacts {
  model::DeviceInfo info;                 // without compiler and ceilings
  std::vector<int> cpus;                  // that this process may use, in order; never empty
  std::string processor_identity;         // what -march=native depends on
  std::int64_t all_last_level_bytes = 0;  // of every last-level cache together; a guess of 32 MiB where none is known
};

// `most_cores`: 0 for no limit but the system's (affinity and the control group's share).
SystemFacts read_system(base::FileSystem& files, int most_cores);

// Memory that can be had now without swapping, within the control group's limit; 0 where the system does not tell.
std::int64_t available_memory_bytes(base::FileSystem& files);

// Runnable threads, average of the last minute, and the processor's temperature; 0 where the system does not tell.
double load_average(base::FileSystem& files);
double processor_temperature_c(base::FileSystem& files);

}  // namespace hone::device::cpu

// Counters of launches on a GPU: Nsight Compute over hone itself, started anew to run them; occupancy by calculation of what was
// not captured; and what the machine code consists of, where a disassembler is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/result.hpp"
#include "device/device.hpp"
#include "model/counters.hpp"

namespace hone::repository::launch {

// One launch of each configuration warms up and is skipped, one is captured.
inline constexpr int kLaunchesOfACapture = 2;

// One pass as it is launched. Launches of the device's own library are its author's and are left out.
struct CountedPass {
  std::string mode;
  std::shared_ptr<device::Program> program;
  std::vector<device::Launch> launches;
};

struct CaptureTools {
  base::Processes* processes = nullptr;  // none: nothing is captured
  base::FileSystem& files;
  std::vector<std::string> command;  // runs the passes, kLaunchesOfACapture times each; empty: nothing is captured
};

base::Result<model::Counters> gpu_counters(const model::DeviceInfo& device, const std::vector<CountedPass>& passes,
                                           const CaptureTools& tools);

}  // namespace hone::repository::launch

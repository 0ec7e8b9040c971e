// Nsight Compute as a program: where it is, whether it may read counters here, and how it is run so that only the kernel's
// own launches are replayed. Everything goes through the ports, so the plan is tested without a GPU.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/process.hpp"
#include "counters/ncu_csv.hpp"
#include "model/counters.hpp"

namespace hone::counters {

struct NcuTool {
  std::string path;
  int year = 0, release = 0;  // 2025, 3; 0 where the version could not be read
};

// On PATH, then below $CUDA_HOME and $CUDA_PATH, /usr/local/cuda*, /opt/nvidia/nsight-compute/*, the newest first.
std::optional<NcuTool> find_ncu(base::Processes& processes, base::FileSystem& files,
                                const std::map<std::string, std::string>& environment);

struct Permission {
  bool allowed = false;
  std::string reason, remedy;  // where it is not allowed
};
// From /proc/driver/nvidia/params and the capabilities of this process. A missing driver is no permission either.
Permission counter_permission(base::FileSystem& files);

struct CaptureRequest {
  std::vector<std::string> command;  // the program to profile
  std::string directory;             // its working folder; empty: the current one
  std::vector<std::string> kernels;  // function names, from the audit or the binary; empty: every kernel
  bool from_start = true;            // false: the program says when, by cudaProfilerStart and cudaProfilerStop
  int warmup_launches = 1;           // of each kernel, skipped
  int launches = 1;                  // of each kernel and launch configuration, captured
  std::int64_t limit_s = 120;        // then the capture is ended and what it has is kept
};

// The command line: kernel filter, warm-up skipped, the sections a summary needs, clocks left alone, a time bound that ends
// the capture with an interrupt, which lets Nsight Compute print what it has.
base::Command capture_command(const NcuTool& tool, const CaptureRequest& request);

// The same for a person to type: "ncu ... > FILE.csv".
std::string command_by_hand(const CaptureRequest& request);

// Runs the capture and reads it. Partial results are results, with a note. Errors: nothing was captured, with the profiler's
// own message; interrupted.
base::Result<Capture> capture(base::Processes& processes, const NcuTool& tool, const CaptureRequest& request);

// Find, check, run, read: the counters block of a profile. Where counters can not be had, `status` is "unavailable" with the
// reason and the remedy; only an interruption is an error.
base::Result<model::Counters> collect(base::Processes& processes, base::FileSystem& files,
                                      const std::map<std::string, std::string>& environment,
                                      const CaptureRequest& request);

}  // namespace hone::counters

// Occupancy by calculation: what fits on a multiprocessor, from registers, shared memory and block size. The route that
// needs no counters and no permission.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/counters.hpp"
#include "model/device_info.hpp"

namespace hone::counters {

// What one multiprocessor holds. Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability";
// allocation units from the occupancy calculator of Nsight Compute, checked against 15 captured launches on an H200.
struct SmLimits {
  int warps = 0, blocks = 0;
  int registers = 65536;
  std::int64_t shared_bytes = 0;           // the largest carve-out
  std::int64_t shared_reserved_bytes = 0;  // for each block, by the driver
  int register_unit = 256;                 // registers are given to a warp in steps of this
  int warp_granularity = 4;                // warps that registers allow are counted in steps of this
  std::int64_t shared_unit_bytes = 128;
};

// Nothing for a compute capability that is not in the table ("9.0" is, "3.5" is not).
std::optional<SmLimits> sm_limits(const std::string& compute_capability);

struct Occupancy {
  int by_registers = 0, by_shared = 0, by_warps = 0, by_blocks = 0;  // blocks an SM that each would allow
  int blocks_per_sm = 0;
  double pct = 0;  // of the warps an SM can hold
  std::string
      limiter;  // "registers", "shared memory", "block size", "blocks per SM", or a tie of them joined by " and "; empty at 100 %
};

// Shared bytes are static plus dynamic, without what the driver reserves. Nothing where the block can not run at all
// (0 threads, more than 1024, more shared memory or registers than there are).
std::optional<Occupancy> occupancy(const SmLimits& limits, int threads_per_block, int registers_per_thread,
                                   std::int64_t shared_bytes_per_block);

// A summary that holds what calculation gives: theoretical occupancy, its limiter, waves. Throughputs stay absent.
// Nothing where the device's compute capability is unknown or the block can not run.
std::optional<model::CounterSummary> calculated_summary(const model::DeviceInfo& device, const std::string& name,
                                                        std::int64_t grid, int threads_per_block,
                                                        int registers_per_thread, std::int64_t shared_bytes_per_block);

}  // namespace hone::counters

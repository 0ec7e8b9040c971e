// What hardware counters, or the experiments that stand in for them, say of kernel launches.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/values.hpp"

namespace hone::model {

struct Stall {
  std::string reason;
  double pct = 0;
  bool operator==(const Stall&) const = default;
};

// One distinct kernel of a capture. A metric that is absent or n/a in the capture is nullopt, never 0. Without a capture it
// holds what calculation gives: launch, registers, theoretical occupancy with its limiter, waves.
struct CounterSummary {
  std::string name, grid, block;
  std::string pass;  // "forward", "backward"; empty where only the name can tell
  std::optional<double> occupancy_pct, theoretical_occupancy_pct;
  std::string
      occupancy_limiter;  // "registers", "shared memory", "block size", a tie joined by " and ", "grid"; empty when not known
  std::optional<double> compute_throughput_pct, memory_throughput_pct, dram_throughput_pct;
  std::optional<double> l1_hit_rate_pct, l2_hit_rate_pct;
  std::optional<double> registers_per_thread, spills, duration_us;
  std::optional<double> l1_throughput_pct, l2_throughput_pct;  // of the cache's nominal peak
  std::optional<double> dram_bytes, sm_clock_ghz, waves_per_sm, grid_size, block_size;
  std::optional<double> sm_count;             // of the device the launch ran on
  std::optional<double> blocks_per_sm_limit;  // blocks that fit on one multiprocessor at once
  std::optional<double> shared_bytes_per_block;
  std::vector<Stall> stalls;  // the largest three, largest first
  std::string owner;          // whose kernel it is by its name: "PyTorch", "cuBLAS"; empty: the user's own
  int launches = 1;           // launches of the capture this summary stands for
  std::string note;           // "4 autotune trials, the fastest shown"
  std::string instructions;   // what its machine code consists of, in words; empty without a disassembler
  // Whether hardware counted anything of it.
  bool counted() const {
    return occupancy_pct || compute_throughput_pct || memory_throughput_pct || dram_throughput_pct || dram_bytes ||
           duration_us || !stalls.empty();
  }
  bool operator==(const CounterSummary&) const = default;
};

// A counter-free experiment: the same pass with one thing changed, as a ratio of times (changed / unchanged).
struct Experiment {
  std::string name;  // "no-compute", "no-memory", "threads", "more-warps", "fewer-warps", "size-scaling"
  std::string x_value, mode;
  std::string parameter;  // "threads=1"; empty where the name says it all
  double ratio = 0, ci_low = 0, ci_high = 0;
  std::string observation;  // one sentence with the figures
  bool operator==(const Experiment&) const = default;
};

struct Counters {
  std::string status;  // "available" or "unavailable"
  std::string reason;  // why unavailable
  std::string remedy;  // how to get them
  std::string route;   // "nsight-compute", "perf-events", "counter-free"
  std::vector<CounterSummary> kernels;
  std::vector<Experiment> experiments;
  std::vector<std::pair<std::string, double>>
      cpu_events;  // "instructions_per_cycle", "llc_misses_per_kilo_instruction"
  bool operator==(const Counters&) const = default;
};

}  // namespace hone::model

// A device as found, and what it was measured to reach.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/values.hpp"

namespace hone::model {

// One ceiling with the spread of its samples, all in the same unit; headroom is taken against p50.
struct Ceiling {
  double p20 = 0, p50 = 0, p80 = 0;
  int samples = 0;
  std::string program =
      {};  // the fastest shape of its program, in the device's own words; empty where it has one shape
  bool operator==(const Ceiling&) const = default;
};

// The state of the machine while its ceilings were measured. 0 where it is not known.
struct Conditions {
  double load = 0;  // runnable threads, average of the last minute
  double clock_mhz = 0, temperature_c = 0;
  bool operator==(const Conditions&) const = default;
};

// Ceilings by name. Fixed names: copy_bytes_per_s (read plus written bytes), read_bytes_per_s, write_bytes_per_s,
// copy_streaming_bytes_per_s, write_streaming_bytes_per_s, fma_flops_per_s, memory_latency_ns, launch_latency_ns,
// l2_bytes_per_s, matrix_bf16_flops_per_s, matrix_fp16_flops_per_s, matrix_tf32_flops_per_s.
struct Ceilings {
  std::map<std::string, Ceiling> by_name;
  Source source = Source::measured;
  std::string measured_at;         // UTC
  std::vector<std::string> notes;  // how the working set was chosen; what could not be measured, and why
  Conditions conditions;
  // Bytes of the last-level cache that this process gets hits from, by the knee of the read bandwidth over the size of the
  // working set; 0 where no knee was measured. Virtual machines report the cache of the whole host.
  std::int64_t effective_last_level_cache_bytes = 0;
  double p50(const std::string& name) const;  // 0 where the ceiling is not known
  bool operator==(const Ceilings&) const = default;
};

struct Cache {
  int level = 0;
  std::int64_t bytes = 0;
  int shared_by_cores = 1;
  bool operator==(const Cache&) const = default;
};

struct DeviceInfo {
  std::string name;                // "AMD EPYC", "NVIDIA H200"
  std::string kind;                // "cpu" or "cuda"
  std::string id;                  // "cpu", "cuda:0"
  std::string architecture;        // "x86-64 avx512", "hopper"
  std::string compute_capability;  // "9.0"; empty on a CPU
  int sm_count = 0;                // multiprocessors; cores usable by this process on a CPU
  std::int64_t total_memory_bytes = 0;
  std::vector<std::string> isa;                    // CPU vector extensions found
  std::vector<Cache> caches;                       // data caches, level 1 upwards
  std::int64_t shared_memory_per_block_bytes = 0;  // CUDA: the opt-in maximum
  std::int64_t registers_per_sm = 0;
  int max_threads_per_sm = 0;
  double clock_mhz = 0;             // as sampled; 0 where the device does not tell
  std::string driver;               // driver, or the operating system's kernel on a CPU
  std::string compiler;             // compiler that builds kernels, with its version; empty: none
  std::string compiler_problem;     // why there is none, where that is known; of this run, in no document
  std::string target_gpu = "auto";  // as asked with --target-gpu
  bool hardware_match = true;
  Ceilings ceilings;

  // The effective size where it was measured, otherwise what the system reports; 0 where neither is known.
  std::int64_t last_level_cache_bytes() const;
  std::int64_t reported_last_level_cache_bytes() const;  // of the last level of `caches`; 0 where none is known
  // The larger of both: what may stay in a cache where a bound must hold whatever the cache does.
  std::int64_t largest_last_level_cache_bytes() const;
  bool operator==(const DeviceInfo&) const = default;
};

}  // namespace hone::model

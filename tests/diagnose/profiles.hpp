// Profiles built by hand for the tests of the diagnosis: a CPU of 10 GB/s copy and 100 GFLOP/s, passes with chosen times.
#pragma once

#include <string>

#include "model/profile.hpp"

namespace hone::diagnose::test {

inline model::Profile cpu_profile() {
  model::Profile profile;
  profile.kernel = "rms_norm";
  profile.identity.kernel = "rms_norm";
  profile.identity.repository = "native";
  profile.identity.tier = 2;
  profile.identity.tier_description = "reduction across a row";
  profile.identity.source_file = {"kernels/rms_norm/rms_norm.hpp", true, ""};
  profile.device.kind = "cpu";
  profile.device.name = "test processor";
  profile.device.architecture = "x86-64 avx2";
  profile.device.sm_count = 4;
  profile.device.caches = {{3, 32 << 20, 4}};
  profile.device.ceilings.by_name = {{"copy_bytes_per_s", {9.9e9, 10e9, 10.1e9, 20}},
                                     {"fma_flops_per_s", {99e9, 100e9, 101e9, 20}},
                                     {"launch_latency_ns", {4000, 5000, 6000, 20}}};
  profile.baseline.x_name = "hidden_size";
  profile.counters.status = "unavailable";
  profile.counters.reason = "no performance events in this virtual machine";
  profile.counters.route = "counter-free";
  return profile;
}

// One pass at one size: `share_pct` of the copy ceiling, `host_pct` of the caller's time idle.
inline void add_pass(model::Profile& profile, const std::string& x, const std::string& mode, double bytes,
                     double share_pct, double host_pct = 1) {
  const double floor_ms = bytes / 10e9 * 1000, measured_ms = floor_ms * 100 / share_pct;
  profile.headroom.push_back(
      {x, mode, floor_ms, measured_ms, measured_ms / floor_ms, bytes, bytes / 4, "copy_bytes_per_s", share_pct});
  const auto row = [&](const std::string& metric, double ms) {
    profile.baseline.rows.push_back(
        {x, mode, "hone", metric, "ms", ms * 0.99, ms, ms * 1.01, 50, model::Source::measured});
  };
  row("speed", measured_ms);
  row("wall", measured_ms / (1 - host_pct / 100));
}

inline void add_ablations(model::Profile& profile, const std::string& x, const std::string& mode, double no_compute,
                          double no_memory) {
  profile.counters.experiments.push_back(
      {"no-compute", x, mode, "", no_compute, no_compute - 0.01, no_compute + 0.01, ""});
  profile.counters.experiments.push_back({"no-memory", x, mode, "", no_memory, no_memory - 0.01, no_memory + 0.01, ""});
}

// Forward and backward of one size, with the class that the two figures give.
inline model::Profile one_size(double share_pct, double no_compute, double no_memory, double host_pct = 1) {
  model::Profile profile = cpu_profile();
  add_pass(profile, "8192", "forward", 256e6, share_pct, host_pct);
  add_pass(profile, "8192", "backward", 384e6, share_pct, host_pct);
  add_ablations(profile, "8192", "forward", no_compute, no_memory);
  add_ablations(profile, "8192", "backward", no_compute, no_memory);
  return profile;
}

// A GPU of 4 TB/s copy whose launches were not counted: one pass at two sizes, half the bytes at the smaller one.
inline model::Profile gpu_profile(double share_pct, double no_compute, double no_memory) {
  model::Profile profile = cpu_profile();
  profile.device.kind = "cuda";
  profile.device.name = "test GPU";
  profile.device.architecture = "hopper";
  profile.device.compute_capability = "9.0";
  profile.device.sm_count = 132;
  add_pass(profile, "4096", "forward", 128e6, share_pct);
  add_pass(profile, "8192", "forward", 256e6, share_pct);
  add_ablations(profile, "8192", "forward", no_compute, no_memory);
  profile.counters.reason = "the driver lets only administrators read counters";
  return profile;
}

// A launch of which nothing was counted: one program of 8 warps on each multiprocessor, held there by registers.
inline model::CounterSummary calculated_launch(double waves = 0.5) {
  model::CounterSummary kernel;
  kernel.name = "rms_norm_forward";
  kernel.grid_size = 132;
  kernel.block_size = 256;
  kernel.sm_count = 132;
  kernel.registers_per_thread = 128;
  kernel.blocks_per_sm_limit = 2;
  kernel.theoretical_occupancy_pct = 25;
  kernel.occupancy_limiter = "registers";
  kernel.waves_per_sm = waves;
  return kernel;
}

}  // namespace hone::diagnose::test

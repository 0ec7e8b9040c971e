#include <array>

#include "tests/support/sample_documents.hpp"

namespace hone::test {

namespace {

using namespace model;

DeviceInfo h200() {
  DeviceInfo device;
  device.name = "NVIDIA H200";
  device.kind = "cuda";
  device.id = "cuda:0";
  device.architecture = "hopper";
  device.compute_capability = "9.0";
  device.sm_count = 132;
  device.total_memory_bytes = 150'110'011'392;
  device.target_gpu = "blackwell";
  device.hardware_match = false;
  device.caches = {{1, 256 << 10, 1}, {2, 50 << 20, 132}};
  device.shared_memory_per_block_bytes = 232'448;
  device.registers_per_sm = 65'536;
  device.max_threads_per_sm = 2048;
  device.clock_mhz = 1980;
  device.driver = "580.65, CUDA 13.0";
  device.compiler = "Triton 3.6.0";
  device.ceilings.by_name["copy_bytes_per_s"] = {4.25e12, 4.27e12, 4.28e12, 30};
  device.ceilings.by_name["fma_flops_per_s"] = {59.1e12, 60.2e12, 60.8e12, 30};
  device.ceilings.by_name["matrix_bf16_flops_per_s"] = {719e12, 727e12, 731e12, 30};
  device.ceilings.by_name["launch_latency_ns"] = {2180, 2300, 2460, 200};
  device.ceilings.measured_at = "2026-11-30T02:31:00Z";
  return device;
}

CounterSummary forward_kernel() {
  CounterSummary kernel;
  kernel.name = "_rms_norm_forward_kernel";
  kernel.grid = "(16384, 1, 1)";
  kernel.block = "(256, 1, 1)";
  kernel.occupancy_pct = 86.4;
  kernel.theoretical_occupancy_pct = 100;
  kernel.compute_throughput_pct = 38.2;
  kernel.memory_throughput_pct = 88.1;
  kernel.dram_throughput_pct = 88.1;
  kernel.l1_hit_rate_pct = 0.4;
  kernel.l2_hit_rate_pct = 50.1;
  kernel.registers_per_thread = 32;
  kernel.spills = 0;
  kernel.duration_us = 66.9;
  kernel.stalls = {{"long scoreboard", 61.2}, {"barrier", 14.9}, {"short scoreboard", 6.3}};
  return kernel;
}

CounterSummary backward_kernel() {
  CounterSummary kernel;
  kernel.name = "_rms_norm_backward_kernel";
  kernel.grid = "(132, 1, 1)";
  kernel.block = "(256, 1, 1)";
  kernel.occupancy_pct = 12.4;
  kernel.theoretical_occupancy_pct = 25;
  kernel.occupancy_limiter = "grid";
  kernel.compute_throughput_pct = 21.0;
  kernel.memory_throughput_pct = 44.7;
  kernel.l2_hit_rate_pct = 33.9;
  kernel.registers_per_thread = 113;
  kernel.duration_us = 182;
  kernel.stalls = {{"long scoreboard", 48.0}, {"barrier", 27.5}};
  kernel.note = "spills and the L1 hit rate are not in this capture";
  return kernel;
}

struct Row {
  const char* mode;
  double liger, huggingface, wall, floor, noise_pct;
};

}  // namespace

Profile sample_gpu_profile() {
  Profile profile = sample_profile();
  profile.created = "2026-11-30T02:40:00Z";
  profile.command = "hone profile rms_norm --repo Liger-Kernel --target-gpu blackwell";
  profile.summary =
      "Latency-bound backward: a grid of 132 programs leaves 7 of 8 warps of each SM empty; launch more programs "
      "first, up "
      "to 48 % off.";
  profile.identity.repository = "liger";
  profile.identity.source_file = {"src/liger_kernel/ops/rms_norm.py", true, ""};
  profile.identity.benchmark_script = {"benchmark/scripts/benchmark_rms_norm.py", true, ""};
  profile.identity.test_file = {"test/transformers/test_rms_norm.py", true, "-k float32 selects no test of it"};
  profile.device = h200();
  profile.baseline = {};
  profile.headroom.clear();
  profile.baseline.x_name = "T";
  for (const Row& row :
       std::array{Row{"forward", 0.0669, 0.402, 0.091, 0.0629, 0.5}, Row{"backward", 0.182, 0.611, 0.339, 0.0943, 0.4},
                  Row{"full", 0.249, 1.013, 0.431, 0.157, 0.4}}) {
    const auto add = [&](const char* provider, const char* metric, double ms) {
      profile.baseline.rows.push_back(
          {"16384", row.mode, provider, metric, "ms", ms * 0.995, ms, ms * 1.008, 100, Source::measured});
    };
    add("liger", "speed", row.liger);
    add("huggingface", "speed", row.huggingface);
    add("liger", "wall", row.wall);
    profile.headroom.push_back({"16384", row.mode, row.floor, row.liger, row.liger / row.floor,
                                row.floor * 1e-3 * 4.27e12, 0, "copy_bytes_per_s", 100 * row.floor / row.liger});
    NoiseFloor noise;
    noise.x_value = "16384";
    noise.mode = row.mode;
    noise.smallest_effect_pct = row.noise_pct;
    profile.baseline.noise_floor.push_back(noise);
  }
  profile.baseline.observations = {
      "backward",
      "its grid is the number of SMs, so each SM holds one block of 8 warps",
      "16384",
      "One size: no trend.",
      {"backward's wall time is 1.9 times its kernel time: the caller's benchmark measures the "
       "host as well"}};
  profile.counters = {};
  profile.counters.status = "available";
  profile.counters.route = "nsight-compute";
  profile.counters.kernels = {forward_kernel(), backward_kernel()};
  profile.bottleneck.cls = BottleneckClass::latency_bound;
  profile.bottleneck.plain_rule_class = "unclassified";
  profile.bottleneck.limiter = "grid";
  profile.bottleneck.evidence = {
      {"memory throughput", "44.7 % with compute at 21.0 %: neither unit is busy", "latency-bound", Source::counters},
      {"achieved occupancy", "12.4 % of 64 warps", "latency-bound", Source::counters},
      {"grid", "132 programs on 132 SMs", "latency-bound", Source::source_code},
      {"top stall", "long scoreboard 48.0 %", "memory-bound", Source::counters}};
  profile.bottleneck.reasoning = "Neither memory nor compute is busy, and each SM holds 8 of 64 warps.";
  profile.bottleneck.refutation = "A grid of three programs an SM that is not faster.";
  profile.bottleneck.by_pass = {{"forward", BottleneckClass::memory_bound, "bandwidth"},
                                {"backward", BottleneckClass::latency_bound, "grid"},
                                {"full", BottleneckClass::latency_bound, "grid"}};
  profile.configuration.parameters = {
      {"BLOCK_SIZE", "4096", HowSet::settings_function, "next power of two; no lane is masked at 4096", Liveness::live,
       ""},
      {"num_warps", "8", HowSet::settings_function, "", Liveness::live, "4 values, 4 distinct machine codes"},
      {"num_stages", "3", HowSet::default_value, "", Liveness::dead, "3 values, 1 machine code"},
      {"grid", "132", HowSet::hard_coded, "the number of SMs", Liveness::unknown, ""}};
  profile.opportunities = {{"The backward grid leaves the SMs empty",
                            "Each SM holds one block of 8 warps; 113 registers a thread would allow two.",
                            {{"src/liger_kernel/ops/rms_norm.py", 308}},
                            "grid-sizing",
                            48,
                            "More partial weight gradients to sum at the end."}};
  profile.strategy_order[1] = {"grid-sizing", "Launch several programs for each SM", "Latency-bound by its grid.",
                               "48 % of backward", "low"};
  profile.strategy_order.pop_back();
  return profile;
}

}  // namespace hone::test

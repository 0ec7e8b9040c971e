#include <array>
#include <cmath>

#include "tests/support/sample_documents.hpp"

namespace hone::test {

namespace {

using namespace model;

constexpr double copy_bytes_per_s = 21.4e9;
constexpr double rows = 16384;

struct Pass {
  const char* mode;
  double tensors;                        // how often rows x size elements cross memory
  std::array<double, 4> over_floor;      // measured / floor at each size
  std::array<double, 4> eager_over_own;  // eager provider / this kernel
  std::array<double, 4> noise_pct;
};

constexpr std::array<int, 4> sizes{1024, 2048, 4096, 8192};
constexpr std::array passes{Pass{"forward", 2, {1.31, 1.24, 1.21, 1.19}, {2.9, 3.1, 3.2, 3.2}, {1.4, 0.9, 0.7, 0.6}},
                            Pass{"backward", 3, {1.62, 1.55, 1.52, 1.50}, {3.4, 3.5, 3.6, 3.7}, {1.1, 0.8, 0.6, 0.6}},
                            Pass{"full", 5, {1.50, 1.43, 1.40, 1.38}, {3.2, 3.3, 3.4, 3.5}, {1.2, 0.8, 0.7, 0.6}}};

double rounded(double value, double step) { return std::round(value / step) * step; }

double floor_ms(const Pass& pass, int size) { return pass.tensors * rows * size * 2 / copy_bytes_per_s * 1e3; }

BaselineRow time_row(int size, const char* mode, const char* provider, const char* metric, double p50) {
  p50 = rounded(p50, 1e-4);
  return {std::to_string(size),       mode, provider,        metric, "ms", rounded(p50 * 0.991, 1e-4), p50,
          rounded(p50 * 1.014, 1e-4), 60,   Source::measured};
}

void add_rows(Profile& profile) {
  for (const Pass& pass : passes)
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double floor = floor_ms(pass, sizes[i]);
      const double own = rounded(floor * pass.over_floor[i], 1e-4);
      auto& table = profile.baseline.rows;
      table.push_back(time_row(sizes[i], pass.mode, "hone", "speed", own));
      table.push_back(time_row(sizes[i], pass.mode, "eager", "speed", own * pass.eager_over_own[i]));
      table.push_back(time_row(sizes[i], pass.mode, "hone", "wall", own + 0.021));
      profile.headroom.push_back({std::to_string(sizes[i]),
                                  pass.mode,
                                  floor,
                                  own,
                                  own / floor,
                                  pass.tensors * rows * sizes[i] * 2,
                                  pass.tensors * 4 * rows * sizes[i],
                                  "copy_bytes_per_s",
                                  100 * floor / own,
                                  floor / 1.02,
                                  {100 * floor / own - 1.4, 100 * floor / own + 1.1, 12}});
      NoiseFloor noise;
      noise.x_value = std::to_string(sizes[i]);
      noise.mode = pass.mode;
      noise.smallest_effect_pct = pass.noise_pct[i];
      noise.comparison.ratio = 1 + pass.noise_pct[i] / 400;
      noise.comparison.ci_low = 1 - pass.noise_pct[i] / 200;
      noise.comparison.ci_high = 1 + pass.noise_pct[i] / 100;
      noise.comparison.verdict = Verdict::same;
      noise.comparison.baseline_ms = {own * 0.99, own, own * 1.01, 40};
      noise.comparison.candidate_ms = {own * 0.99, own, own * 1.012, 40};
      noise.comparison.wall_ratio = 1.001;
      noise.comparison.pairs = 40;
      noise.comparison.reason = "interval narrow enough";
      noise.comparison.baseline_samples_ns = {own * 1e6, own * 1.01e6};
      noise.comparison.candidate_samples_ns = {own * 1.002e6, own * 0.99e6};
      profile.baseline.noise_floor.push_back(noise);
    }
  for (const int size : sizes) {
    const double tensor_mb = rows * size * 2 / 1e6;
    for (const auto& [provider, tensors] : {std::pair{"hone", 2.0}, {"eager", 6.0}})
      profile.baseline.rows.push_back({std::to_string(size), "full", provider, "memory", "MB", tensor_mb * tensors,
                                       tensor_mb * tensors, tensor_mb * tensors, 3, Source::measured});
  }
}

DeviceInfo cpu() {
  DeviceInfo device;
  device.name = "AMD EPYC 9654";
  device.kind = "cpu";
  device.id = "cpu";
  device.architecture = "x86-64 avx512";
  device.sm_count = 2;
  device.total_memory_bytes = 16'783'613'952;
  device.isa = {"sse4.2", "avx2", "avx512f", "avx512bw", "avx512_bf16"};
  device.caches = {{1, 32 << 10, 1}, {2, 1 << 20, 1}, {3, 32 << 20, 8}};
  device.driver = "Linux 6.1.0";
  device.compiler = "g++ 12.2.0";
  auto& ceilings = device.ceilings.by_name;
  ceilings["copy_bytes_per_s"] = {20.9e9, copy_bytes_per_s, 21.8e9, 25};
  ceilings["copy_streaming_bytes_per_s"] = {25.7e9, 26.2e9, 26.5e9, 25};
  ceilings["read_bytes_per_s"] = {27.1e9, 27.9e9, 28.3e9, 25};
  ceilings["write_bytes_per_s"] = {11.8e9, 12.1e9, 12.4e9, 25};
  ceilings["write_streaming_bytes_per_s"] = {21.9e9, 22.6e9, 23.0e9, 25};
  ceilings["fma_flops_per_s"] = {231e9, 234e9, 236e9, 25};
  ceilings["memory_latency_ns"] = {108, 112, 117, 25};
  ceilings["launch_latency_ns"] = {8100, 8600, 9900, 200};
  ceilings["copy_streaming_bytes_per_s"].program = "ceiling_copy_streaming_2";
  device.ceilings.conditions = {0.2, 2450, 0};
  device.ceilings.effective_last_level_cache_bytes = 27 << 20;
  device.ceilings.measured_at = "2026-11-30T03:22:39Z";
  device.ceilings.notes = {"Working set 128 MiB, four times the last-level cache."};
  return device;
}

Counters counter_free() {
  Counters counters;
  counters.status = "unavailable";
  counters.reason = "perf_event_open: permission denied (perf_event_paranoid is 3)";
  counters.remedy = "sysctl kernel.perf_event_paranoid=1, then run 'hone profile rms_norm' again";
  counters.route = "counter-free";
  counters.experiments = {
      {"no-compute", "4096", "forward", "", 0.981, 0.974, 0.989,
       "With the arithmetic taken out and every load and store kept, forward takes 0.981 of its time: arithmetic is "
       "hidden "
       "behind memory."},
      {"no-memory", "4096", "forward", "", 0.262, 0.258, 0.267,
       "With all rows read from one cached row, forward takes 0.262 of its time: memory is what it waits for."},
      {"no-compute", "4096", "backward", "", 0.842, 0.833, 0.851,
       "With the arithmetic taken out, backward takes 0.842 of its time: the sum over rows for the weight gradient is "
       "not "
       "fully hidden."},
      {"threads", "4096", "forward", "threads=1", 1.38, 1.36, 1.41,
       "On one thread forward takes 1.38 times as long, not 2: two threads already share one memory."},
      {"size-scaling", "8192", "forward", "", 1.97, 1.95, 1.99,
       "Twice the size takes 1.97 times as long: time follows bytes."}};
  return counters;
}

Bottleneck memory_bound() {
  Bottleneck bottleneck;
  bottleneck.cls = BottleneckClass::memory_bound;
  bottleneck.plain_rule_class = "not applicable: the rule needs hardware counters";
  bottleneck.confidence = Confidence::high;
  bottleneck.limiter = "bandwidth";
  bottleneck.evidence = {
      {"arithmetic intensity", "2.0 FLOP/byte against a balance point of 10.9", "memory-bound", Source::source_code},
      {"share of copy bandwidth", "82.6 % forward at 4096", "memory-bound", Source::measured},
      {"no-compute experiment", "0.981 [0.974, 0.989] of the time", "memory-bound", Source::measured},
      {"no-memory experiment", "0.262 [0.258, 0.267] of the time", "memory-bound", Source::measured},
      {"no-compute experiment, backward", "0.842 [0.833, 0.851] of the time", "against memory-bound",
       Source::measured}};
  bottleneck.reasoning =
      "Forward does two operations for each byte it must move, a fifth of what this machine could do while it waits, "
      "and "
      "taking the arithmetic out changes its time by less than 2 %. Its stores go through the cache, so each line is "
      "read "
      "before it is written: the traffic is three tensors where two are needed.";
  bottleneck.refutation =
      "A variant with fewer bytes (streaming stores) that is not faster, or one with less arithmetic that is.";
  bottleneck.by_pass = {{"forward", BottleneckClass::memory_bound, "bandwidth"},
                        {"backward", BottleneckClass::balanced, "bandwidth, then the reduction over rows"},
                        {"full", BottleneckClass::memory_bound, "bandwidth"}};
  return bottleneck;
}

Configuration configuration() {
  Configuration configuration;
  configuration.parameters = {{"tile_width", "16", HowSet::settings_function, "fp32 lanes of one vector",
                               Liveness::live, "3 values, 3 distinct machine codes"},
                              {"BLOCK_ROW", "1024: 4, 4096: 1", HowSet::settings_function,
                               "rows a program takes at once", Liveness::live, "4 values, 4 distinct machine codes"},
                              {"num_threads", "2", HowSet::default_value, "cores this process may use", Liveness::live,
                               "changes what is launched"},
                              {"streaming_stores", "0", HowSet::hard_coded, "1: stores bypass the caches",
                               Liveness::live, "2 values, 2 distinct machine codes"},
                              {"prefetch_rows", "0", HowSet::hard_coded, "rows fetched ahead", Liveness::dead,
                               "3 values, 1 machine code at 4096: the compiler drops it"}};
  configuration.memory_access = {
      "Rows are contiguous; each program reads its row once, in order, 64 bytes a load.",
      "None: loads and stores go through all caches.", "Backward may write dx over dy; off by default.",
      "Saved: one reciprocal deviation a row (4 bytes). Recomputed in backward: the normalized row."};
  configuration.compute = {"1 rsqrt a row, in fp32", "llama: the sum of squares in fp32, the product in bf16",
                           "Single pass forward; backward in one pass with partial weight gradients for each thread",
                           "BLOCK_SIZE, casting mode, weight offset"};
  return configuration;
}

}  // namespace

Profile sample_profile() {
  Profile profile;
  profile.kernel = "rms_norm";
  profile.created = "2026-11-30T03:24:10Z";
  profile.hone_version = "0.1.0";
  profile.hone_commit = "0123abc";
  profile.command = "hone profile rms_norm --dtype bf16";
  profile.summary =
      "Memory-bound: forward reaches 83 % of copy bandwidth and backward 66 %; try streaming stores first, up to 18 % "
      "off.";
  profile.identity.kernel = "rms_norm";
  profile.identity.repository = "native";
  profile.identity.source_file = {"kernels/rms_norm/rms_norm.hpp", true, ""};
  profile.identity.benchmark_script = {"", false, "built-in kernels are timed by hone itself"};
  profile.identity.test_file = {"tests/kernels/rms_norm_test.cpp", true, ""};
  profile.identity.source_hash = "9f86d081884c7d65";
  profile.identity.tier = 2;
  profile.identity.tier_description = "reduction: one sum of squares over each row";
  profile.device = cpu();
  profile.baseline.x_name = "hidden_size";
  add_rows(profile);
  profile.baseline.observations = {
      "backward",
      "it moves three tensors where forward moves two, and sums the weight gradient over all rows",
      "8192",
      "Linear: time grows 1.97-fold when the size doubles from 4096 to 8192.",
      {"forward at 1024: the noise floor is 1.4 %, above the 1 % rule for stopping"}};
  profile.counters = counter_free();
  profile.bottleneck = memory_bound();
  profile.configuration = configuration();
  profile.opportunities = {{"Stores read each line before they write it",
                            "Ordinary stores fetch the line they overwrite: about a third of forward's traffic.",
                            {{"kernels/rms_norm/rms_norm.hpp", 41}, {"kernels/rms_norm/rms_norm.hpp", 77}},
                            "streaming-stores",
                            18,
                            "Streaming can lose where the next pass reads the output from cache: measure both ways."},
                           {"One row at a time leaves loads unoverlapped",
                            "At 1024 a row is 2 KiB, so the latency of its first line is 6 % of its time.",
                            {{"kernels/rms_norm/rms_norm_config.hpp", 23}},
                            "rows-per-program",
                            6,
                            "More rows need more registers."}};
  profile.strategy_order = {
      {"parameter-sweep", "Sweep the knobs over all sizes", "Cheap, and the shipped settings are a heuristic.",
       "not bounded beforehand", "low: settings only"},
      {"streaming-stores", "Write past the caches", "Memory-bound with stores that read first.",
       "18 % of forward, 12 % of backward", "low"},
      {"rows-per-program", "Take several short rows at once", "Latency of the first line at 1024.", "6 % at 1024",
       "medium: registers"}};
  profile.estimated_iterations = {3, "Two opportunities above the noise floor, and the sweep."};
  profile.request.kernel = "rms_norm";
  profile.request.dtype = "bf16";
  profile.request.sizes = {"1024", "2048", "4096", "8192"};
  profile.request.options = {{"casting_mode", "llama"}};
  profile.request.seed = 18'446'744'073'709'551'615u;
  return profile;
}

}  // namespace hone::test

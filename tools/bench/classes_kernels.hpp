// Kernels whose class is known by construction, on one device: launched, timed, ablated, and described as a profile's pass.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "counters/occupancy.hpp"
#include "device/device.hpp"
#include "measure/protocol.hpp"
#include "model/profile.hpp"
#include "tools/bench/classes_programs.hpp"

namespace tools {

using namespace hone;
using model::BottleneckClass;

inline constexpr char kMode[] = "forward", kSize[] = "1";
inline constexpr std::int64_t kHostWorkNs = 200'000;

template <class T>
T value_or_fail(base::Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", base::describe(result.error()));
  std::exit(base::exit_code(result.error().kind));
}

inline void check(const base::Result<void>& result) {
  if (result) return;
  fmt::print(stderr, "{}\n", base::describe(result.error()));
  std::exit(base::exit_code(result.error().kind));
}

// One kernel of known class: its launch, and what it moves and computes at least.
struct Synthetic {
  std::string name;
  BottleneckClass known = BottleneckClass::balanced;
  std::string why;
  device::Launch launch;  // without its program
  double bytes = 0, flops = 0;
  std::int64_t host_work_ns = 0;  // that the caller does before each launch
};

class LaunchSubject final : public measure::Subject {
 public:
  LaunchSubject(std::string name, device::Device& device, base::Clock& clock, device::Launch launch,
                std::int64_t host_work_ns)
      : name_(std::move(name)),
        device_(device),
        clock_(clock),
        launch_(std::move(launch)),
        host_work_ns_(host_work_ns) {}
  std::string name() const override { return name_; }
  base::Result<model::Sample> sample() override {
    const std::int64_t start = clock_.now_ns();
    while (clock_.now_ns() - start < host_work_ns_) {
    }
    const double host_ns = host_work_ns_ > 0 ? static_cast<double>(clock_.now_ns() - start) : 0;
    auto sample = device_.time({launch_}, {true});
    if (sample) sample->wall_ns += host_ns;
    return sample;
  }

 private:
  std::string name_;
  device::Device& device_;
  base::Clock& clock_;
  device::Launch launch_;
  std::int64_t host_work_ns_;
};

class Kernels {
 public:
  Kernels(device::Device& device, base::Clock& clock)
      : device_(device), clock_(clock), gpu_(device.info().kind == "cuda") {}

  // Buffers, programs and the list. Ends the process where that fails.
  void prepare() {
    const std::int64_t cache = std::max<std::int64_t>(device_.info().last_level_cache_bytes(), 16 << 20);
    bytes_ = std::clamp<std::int64_t>(4 * cache, 64 << 20, 512 << 20) >> 20 << 20;
    for (auto* buffer : {&from_, &to_, &chain_, &sink_})
      *buffer = value_or_fail(device_.allocate(static_cast<std::size_t>(buffer == &sink_ ? 1 << 20 : bytes_)));
    fill();
    const auto& isa = device_.info().isa;
    lanes_ = std::find(isa.begin(), isa.end(), "avx512f") != isa.end() ? 16 : 8;
    for (int ablation = 0; ablation < 3; ++ablation) {
      device::ProgramSource source{"synthetic kernels",
                                   {{"classes.hpp", gpu_ ? classes_gpu_text : classes_cpu_text}},
                                   "classes.hpp",
                                   {{"ABLATION", std::to_string(ablation)}, {"LANES", std::to_string(lanes_)}}};
      programs_.push_back(value_or_fail(device_.compile(source)));
    }
    gpu_ ? list_for_gpu() : list_for_cpu();
  }

  const std::vector<Synthetic>& list() const { return list_; }

  void run(const Synthetic& kernel, int launches) {
    for (int i = 0; i < launches; ++i) check(device_.run({with_program(kernel, 0)}));
  }

  // The pass as a profile holds it without counters.
  model::Profile profile_of(const Synthetic& kernel, const model::Ceilings& ceilings) {
    model::Profile profile;
    profile.kernel = profile.identity.kernel = kernel.name;
    profile.identity.repository = "native";
    profile.device = device_.info();
    profile.device.ceilings = ceilings;
    profile.counters.status = "unavailable";
    profile.counters.route = "counter-free";
    profile.counters.reason = "not asked here";
    add_times(kernel, ceilings, profile);
    if (kernel.host_work_ns == 0) {
      profile.counters.experiments.push_back(ablation_of(kernel, 1, "no-compute"));
      profile.counters.experiments.push_back(ablation_of(kernel, 2, "no-memory"));
    }
    const int registers = programs_[0]->resources(kernel.launch.entry).registers_per_thread;
    if (gpu_)
      if (auto summary = counters::calculated_summary(profile.device, kernel.launch.entry, kernel.launch.programs,
                                                      kernel.launch.threads, registers, 0))
        profile.counters.kernels.push_back(*summary);
    return profile;
  }

 private:
  // Random floats to copy, and one cycle through every 128-byte line of `chain_`, far apart from step to step.
  void fill() {
    const std::int64_t lines = bytes_ / 128;
    std::vector<std::uint32_t> words(static_cast<std::size_t>(bytes_ / 4));
    std::uint32_t state = 1;
    for (std::uint32_t& word : words) {
      state = state * 1664525U + 1013904223U;
      word = 0x3f800000U | state >> 9;  // 1 to 2
    }
    check(device_.upload({from_.get(), 0}, words.data(), words.size() * 4));
    std::int64_t stride = static_cast<std::int64_t>(0.618 * static_cast<double>(lines)) | 1;
    while (std::gcd(stride, lines) != 1) stride += 2;
    for (std::int64_t line = 0; line < lines; ++line)
      words[static_cast<std::size_t>(line * 32)] = static_cast<std::uint32_t>((line + stride) % lines);
    check(device_.upload({chain_.get(), 0}, words.data(), words.size() * 4));
  }

  void add_times(const Synthetic& kernel, const model::Ceilings& ceilings, model::Profile& profile) {
    measure::Budget budget;
    budget.aim_ns = 1'500'000'000;
    budget.max_samples = 40;
    LaunchSubject subject(kernel.name, device_, clock_, with_program(kernel, 0), kernel.host_work_ns);
    const measure::Timing timing = value_or_fail(measure::time(subject, clock_, budget));
    const auto row = [&](const char* metric, const model::Quantiles& ms) {
      profile.baseline.rows.push_back(
          {kSize, kMode, "hone", metric, "ms", ms.p20, ms.p50, ms.p80, ms.samples, model::Source::measured});
    };
    row("speed", timing.device_ms);
    row("wall", timing.wall_ms);
    const double copy = ceilings.p50("copy_bytes_per_s"), fma = ceilings.p50("fma_flops_per_s");
    const double memory_ms = copy > 0 ? 1e3 * kernel.bytes / copy : 0,
                 compute_ms = fma > 0 ? 1e3 * kernel.flops / fma : 0;
    model::Headroom headroom;
    headroom.x_value = kSize;
    headroom.mode = kMode;
    headroom.floor_ms = std::max(memory_ms, compute_ms);
    headroom.measured_ms = timing.device_ms.p50;
    headroom.ratio = headroom.floor_ms > 0 ? headroom.measured_ms / headroom.floor_ms : 0;
    headroom.bytes = kernel.bytes;
    headroom.flops = kernel.flops;
    headroom.ceiling = memory_ms >= compute_ms ? "copy_bytes_per_s" : "fma_flops_per_s";
    profile.headroom.push_back(headroom);
  }

  device::Launch with_program(const Synthetic& kernel, int ablation) const {
    device::Launch launch = kernel.launch;
    launch.program = programs_[static_cast<std::size_t>(ablation)].get();
    return launch;
  }

  model::Experiment ablation_of(const Synthetic& kernel, int ablation, const std::string& name) {
    LaunchSubject unchanged(kernel.name, device_, clock_, with_program(kernel, 0), 0);
    LaunchSubject changed(name, device_, clock_, with_program(kernel, ablation), 0);
    measure::CompareOptions options;
    options.budget.aim_ns = 2'000'000'000;
    options.budget.max_samples = 20;
    const model::Comparison found = value_or_fail(measure::compare(unchanged, changed, clock_, options));
    return {name, kSize, kMode, "", found.ratio, found.ci_low, found.ci_high, ""};
  }

  void add(const std::string& name, BottleneckClass known, const std::string& why, std::int64_t programs, int threads,
           std::vector<device::Argument> arguments, double bytes, double flops, std::int64_t host_work_ns = 0) {
    Synthetic kernel{name, known, why, {}, bytes, flops, host_work_ns};
    kernel.launch.entry = (host_work_ns > 0 ? "pure_copy" : name) + "_forward";
    kernel.launch.programs = programs;
    kernel.launch.threads = threads;
    kernel.launch.arguments = std::move(arguments);
    list_.push_back(std::move(kernel));
  }

  void list_for_gpu() {
    const device::BufferView from{from_.get(), 0}, to{to_.get(), 0}, chain{chain_.get(), 0}, sink{sink_.get(), 0};
    const std::int64_t vectors = bytes_ / 16, small = 4096, few = 1 << 16, lines = bytes_ / 128;
    const std::int64_t units = device_.info().sm_count;
    const auto all = static_cast<double>(units);
    add("pure_copy", BottleneckClass::memory_bound, "each byte read once and written once", (vectors + 1023) / 1024,
        256, {to, from, vectors}, 2.0 * static_cast<double>(bytes_), 0);
    constexpr std::int32_t steps = 4096, chains = 8;
    add("fma_chain", BottleneckClass::compute_bound, "multiply-adds in registers", units * 8, 256, {sink, steps}, 4096,
        2.0 * steps * chains * 256 * 8 * all);
    constexpr std::int32_t jumps = 400, starved_jumps = 100;
    add("pointer_chase", BottleneckClass::latency_bound, "each load needs the one before, one warp a multiprocessor",
        units, 32, {sink, chain, jumps, lines}, 32.0 * 32 * all * jumps, 0);
    add("one_block_copy", BottleneckClass::latency_bound, "one block on the whole device", 1, 1024, {to, from, few},
        2.0 * 16 * few, 0);
    add("register_starved", BottleneckClass::latency_bound, "200 registers a thread leave room for 8 warps", units * 8,
        256, {sink, chain, from, starved_jumps, lines}, 32.0 * 256 * 8 * all * starved_jumps, 0);
    add("slow_host", BottleneckClass::host_bound, "a launch of about 2 us, 200 us of host work before each", 8, 256,
        {to, from, small}, 2.0 * 16 * small, 0, kHostWorkNs);
  }

  void list_for_cpu() {
    const device::BufferView from{from_.get(), 0}, to{to_.get(), 0}, chain{chain_.get(), 0}, sink{sink_.get(), 0};
    const std::int64_t cores = device_.info().sm_count;
    add("pure_copy", BottleneckClass::memory_bound, "each byte read once and written once", bytes_ / kClassesBlockBytes,
        0, {to, from}, 2.0 * static_cast<double>(bytes_), 0);
    constexpr std::int64_t rounds = 400'000, jumps = 100'000;
    add("fma_chain", BottleneckClass::compute_bound, "multiply-adds in registers", cores, 0, {sink, rounds}, 64,
        2.0 * kClassesCpuChains * lanes_ * static_cast<double>(rounds * cores));
    add("pointer_chase", BottleneckClass::latency_bound, "each load needs the one before", 1, 1, {sink, chain, jumps},
        64.0 * jumps, 0);
    add("slow_host", BottleneckClass::host_bound, "a launch of a few us, 200 us of host work before each", 1, 0,
        {to, from}, 2.0 * kClassesBlockBytes, 0, kHostWorkNs);
  }

  device::Device& device_;
  base::Clock& clock_;
  const bool gpu_;
  std::int64_t bytes_ = 0;
  int lanes_ = 8;
  std::unique_ptr<device::Buffer> from_, to_, chain_, sink_;
  std::vector<std::shared_ptr<device::Program>> programs_;
  std::vector<Synthetic> list_;
};

}  // namespace tools

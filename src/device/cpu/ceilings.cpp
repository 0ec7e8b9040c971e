// Bandwidths, arithmetic rate and latencies, as the quantiles of samples taken like a kernel's.
//
// Bandwidth: all cores, caches emptied before each sample, each core its own contiguous share, in three shapes (walking 1, 2
// or 4 places of the share at once); the best shape is the ceiling, since a ceiling below what a kernel reaches is none.
// Counted are the bytes of the program: a copy reads and writes each byte once. The read for ownership that a normal store
// costs on most processors is not counted, so the streaming ceilings are higher where it happens.
#include "device/cpu/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "device/cpu/ceiling_programs.hpp"
#include "device/stoppable.hpp"
#include "model/timing.hpp"

namespace hone::device::cpu {

namespace {

constexpr std::int64_t block_bytes = 64 << 10;
constexpr std::int64_t smallest_set_bytes = 64 << 20, largest_set_bytes = std::int64_t{8} << 30;
constexpr int line_bytes = 64;
constexpr int sink_bytes = 64 * 4096;

// The quantile by linear interpolation of sorted values.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

model::Ceiling summarize(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.2), quantile(values, 0.5), quantile(values, 0.8), static_cast<int>(values.size())};
}

ProgramSource ceiling_source() {
  ProgramSource source;
  source.name = "ceiling programs";
  source.files = {{"ceilings.cpp", ceiling_program_text}};
  source.main_file = "ceilings.cpp";
  source.defines = {{"BLOCK_BYTES", std::to_string(block_bytes)}};
  return source;
}

class Measurement {
 public:
  Measurement(Device& device, const CeilingPlan& plan, const CeilingOptions& options)
      : device_(device), plan_(plan), options_(options), quick_(options.quick) {}

  base::Result<model::Ceilings> measure() {
    if (auto ready = prepare(); !ready) return ready.error();
    measure_bandwidths();
    keep("fma_flops_per_s", measure_fma());
    keep("memory_latency_ns", measure_memory_latency());
    keep("launch_latency_ns", measure_launch_latency());
    result_.source = model::Source::measured;
    return std::move(result_);
  }

 private:
  base::Result<void> prepare();
  void measure_bandwidths();
  base::Result<model::Ceiling> measure_fma();
  base::Result<model::Ceiling> measure_memory_latency();
  base::Result<model::Ceiling> measure_launch_latency();

  Launch launch(std::string entry, std::int64_t programs, std::vector<Argument> arguments, int threads = 0) {
    Launch one;
    one.program = program_.get();
    one.entry = std::move(entry);
    one.programs = programs;
    one.threads = threads;
    one.arguments = std::move(arguments);
    return one;
  }
  // Device times of `samples` runs after one that is not kept.
  base::Result<std::vector<double>> times(const Launch& one, int samples, bool cold) {
    std::vector<double> kept;
    for (int i = 0; i <= samples; ++i) {
      if (options_.stopped()) return stopped("a ceiling");
      auto sample = device_.time({one}, {cold});
      if (!sample) return sample.error();
      if (i > 0) kept.push_back(std::max(1.0, sample->device_ns));
    }
    return kept;
  }
  void keep(const std::string& name, const base::Result<model::Ceiling>& ceiling) {
    if (ceiling) {
      result_.by_name[name] = *ceiling;
    } else {
      result_.notes.push_back(name + " could not be measured: " + ceiling.error().found);
    }
  }

  Device& device_;
  const CeilingPlan plan_;
  const CeilingOptions options_;
  const bool quick_;
  model::Ceilings result_;
  std::shared_ptr<Program> program_;
  std::unique_ptr<Buffer> first_, second_, sink_;
  std::int64_t half_bytes_ = 0;
};

base::Result<void> Measurement::prepare() {
  auto program = device_.compile(ceiling_source());
  if (!program) return program.error();
  program_ = *program;
  std::int64_t set_bytes = std::max(4 * plan_.all_last_level_bytes, smallest_set_bytes);
  const std::int64_t wanted = set_bytes;
  if (plan_.available_bytes > 0) set_bytes = std::min(set_bytes, plan_.available_bytes / 4);
  set_bytes = std::min(set_bytes, largest_set_bytes);
  half_bytes_ = set_bytes / 2 / (4 * block_bytes) * (4 * block_bytes);
  if (half_bytes_ <= 0) {
    return base::Error{base::ErrorKind::preflight,
                       fmt::format("{} bytes of free memory to measure ceilings with", 4 * smallest_set_bytes),
                       fmt::format("{} bytes free", plan_.available_bytes), "cpu", "free memory"};
  }
  for (auto* buffer : {&first_, &second_}) {
    auto allocated = device_.allocate(static_cast<std::size_t>(half_bytes_));
    if (!allocated) return allocated.error();
    *buffer = std::move(*allocated);
  }
  auto sink = device_.allocate(sink_bytes);
  if (!sink) return sink.error();
  sink_ = std::move(*sink);
  result_.notes.push_back(
      fmt::format("working set {} MiB, {} cores, last-level caches {} MiB together; caches emptied before each sample",
                  2 * half_bytes_ >> 20, plan_.cores, plan_.all_last_level_bytes >> 20));
  if (2 * half_bytes_ < wanted / 2)
    result_.notes.push_back("memory bounded the working set below 4 times the last-level caches");
  result_.notes.push_back(
      "copy counts the bytes read and the bytes written by the program, without reads for ownership");
  return {};
}

void Measurement::measure_bandwidths() {
  struct Test {
    const char* name;
    const char* entry;
    int buffers;  // whose bytes it moves
  };
  const Test tests[] = {{"copy_bytes_per_s", "ceiling_copy", 2},
                        {"copy_streaming_bytes_per_s", "ceiling_copy_streaming", 2},
                        {"read_bytes_per_s", "ceiling_read", 1},
                        {"write_bytes_per_s", "ceiling_write", 1},
                        {"write_streaming_bytes_per_s", "ceiling_write_streaming", 1}};
  const int samples = quick_ ? 5 : 12;
  std::string chosen;
  for (const Test& test : tests) {
    const bool reads = test.name[0] == 'r', writes_only = test.name[0] == 'w';
    std::vector<Argument> arguments = {BufferView{reads ? sink_.get() : first_.get(), 0}};
    if (!writes_only) arguments.push_back(BufferView{second_.get(), 0});
    std::optional<model::Ceiling> best;
    int best_streams = 0;
    std::optional<base::Error> failure;
    for (const int streams : {1, 2, 4}) {
      auto taken =
          times(launch(fmt::format("{}_{}", test.entry, streams), half_bytes_ / block_bytes, arguments), samples, true);
      if (!taken) {
        failure = taken.error();
        break;
      }
      for (double& value : *taken) value = static_cast<double>(half_bytes_) * test.buffers / (value * 1e-9);
      const model::Ceiling ceiling = summarize(std::move(*taken));
      if (!best || ceiling.p50 > best->p50) {
        best = ceiling;
        best_streams = streams;
      }
    }
    keep(test.name, failure ? base::Result<model::Ceiling>(*failure) : base::Result<model::Ceiling>(*best));
    if (!failure) chosen += fmt::format("{}{} {}", chosen.empty() ? "" : ", ", test.name, best_streams);
  }
  result_.notes.push_back("places of its share that a core walks at once, the best of 1, 2, 4: " + chosen);
}

base::Result<model::Ceiling> Measurement::measure_fma() {
  const Argument sink = BufferView{sink_.get(), 0};
  if (auto asked = device_.run({launch("ceiling_fma_flops", 1, {sink}, 1)}); !asked) return asked.error();
  std::int64_t flops_of_round = 0;
  if (auto read = device_.download(&flops_of_round, {sink_.get(), 0}, sizeof flops_of_round); !read)
    return read.error();
  constexpr std::int64_t rounds = 400'000;  // about 2 ms
  auto taken = times(launch("ceiling_fma", plan_.cores, {sink, rounds}), quick_ ? 15 : 50, false);
  if (!taken) return taken.error();
  for (double& value : *taken) value = static_cast<double>(flops_of_round * rounds * plan_.cores) / (value * 1e-9);
  return summarize(std::move(*taken));
}

// One core follows a random cycle through all pairs of cache lines (pairs are fetched together), so that no prefetcher helps.
base::Result<model::Ceiling> Measurement::measure_memory_latency() {
  constexpr std::int64_t step_bytes = 2 * line_bytes;
  const auto places = static_cast<std::size_t>(half_bytes_ / step_bytes);
  std::vector<std::uint32_t> next(places);
  std::iota(next.begin(), next.end(), 0U);
  std::mt19937_64 random(1);
  for (std::size_t i = places - 1; i > 0; --i) std::swap(next[i], next[random() % i]);  // Sattolo: a single cycle
  std::vector<std::byte> image(static_cast<std::size_t>(half_bytes_));
  // The program follows addresses: one launch tells where the buffer is.
  const Argument sink = BufferView{sink_.get(), 0}, memory = BufferView{second_.get(), 0};
  const std::int64_t none = 0;
  if (auto asked = device_.run({launch("ceiling_chase", 1, {sink, memory, none}, 1)}); !asked) return asked.error();
  std::uint64_t address = 0;
  if (auto read = device_.download(&address, {sink_.get(), 0}, sizeof address); !read) return read.error();
  for (std::size_t i = 0; i < places; ++i) {
    const std::uint64_t target = address + std::uint64_t{next[i]} * step_bytes;
    std::memcpy(image.data() + i * step_bytes, &target, sizeof target);
  }
  if (auto written = device_.upload({second_.get(), 0}, image.data(), image.size()); !written) return written.error();
  constexpr std::int64_t steps = 40'000;
  auto taken = times(launch("ceiling_chase", 1, {sink, memory, steps}, 1), quick_ ? 9 : 25, true);
  if (!taken) return taken.error();
  for (double& value : *taken) value /= static_cast<double>(steps);
  return summarize(std::move(*taken));
}

// The wall time of a launch that does nothing, workers awake from the one before.
base::Result<model::Ceiling> Measurement::measure_launch_latency() {
  const Launch nothing = launch("ceiling_empty", plan_.cores, {});
  const int samples = quick_ ? 100 : 400;
  std::vector<double> taken;
  for (int i = 0; i < samples + 10; ++i) {
    if (options_.stopped()) return stopped("a ceiling");
    auto sample = device_.time({nothing}, {false});
    if (!sample) return sample.error();
    if (i >= 10) taken.push_back(sample->wall_ns);
  }
  return summarize(std::move(taken));
}

}  // namespace

base::Result<model::Ceilings> measure_ceilings(Device& device, const CeilingPlan& plan, const CeilingOptions& options,
                                               base::Clock& clock) {
  auto ceilings = Measurement(device, plan, options).measure();
  if (options.stopped()) return stopped("the ceilings");  // what is missing is not what can not be measured
  if (ceilings) ceilings->measured_at = clock.utc();
  return ceilings;
}

}  // namespace hone::device::cpu

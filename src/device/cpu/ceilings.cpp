// Bandwidths, arithmetic rate and latencies, as the quantiles of samples taken like a kernel's.
//
// Bandwidth: all cores, caches emptied before each sample, each core its own contiguous share, in three shapes (walking 1, 2
// or 4 places of the share at once); the best shape is the ceiling, since a ceiling below what a kernel reaches is none. The
// working set is 4 times the effective size of the last-level caches.
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

#include "device/cache_knee.hpp"
#include "device/cpu/ceiling_bench.hpp"
#include "device/stoppable.hpp"
#include "model/timing.hpp"

namespace hone::device::cpu {

namespace {

constexpr std::int64_t smallest_set_bytes = 64 << 20, largest_set_bytes = std::int64_t{8} << 30;
// Where the system reports more cache than this CPU was seen to use, more of it may come back: working sets stay above it.
constexpr std::int64_t most_for_reported_bytes = 256 << 20;
constexpr std::int64_t smallest_swept_bytes = 1 << 20, largest_swept_bytes = std::int64_t{1} << 30;
constexpr std::int64_t longest_sweep_ns = 1'500'000'000;
constexpr int line_bytes = 64;

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

std::int64_t wanted_set_bytes(const CeilingPlan& plan) {
  const std::int64_t for_reported = std::min(4 * plan.all_last_level_bytes, most_for_reported_bytes);
  return std::min(std::max({4 * plan.cache_bytes, smallest_set_bytes, for_reported}), largest_set_bytes);
}

std::int64_t working_set_bytes(const CeilingPlan& plan) {
  const std::int64_t wanted = wanted_set_bytes(plan);
  return plan.available_bytes > 0 ? std::min(wanted, plan.available_bytes / 4) : wanted;
}

class Measurement {
 public:
  Measurement(Device& device, const CeilingPlan& plan, const CeilingOptions& options)
      : device_(device), plan_(plan), options_(options), quick_(options.quick) {}

  base::Result<model::Ceilings> measure() {
    HONE_PROPAGATE(prepare());
    measure_bandwidths();
    keep("fma_flops_per_s", measure_fma());
    keep("memory_latency_ns", measure_memory_latency());
    keep("launch_latency_ns", measure_launch_latency());
    result_.source = model::Source::measured;
    if (!clocks_mhz_.empty()) result_.conditions.clock_mhz = summarize(std::move(clocks_mhz_)).p50;
    return std::move(result_);
  }

 private:
  base::Result<void> prepare();
  void measure_bandwidths();
  base::Result<std::pair<std::string, std::vector<double>>> measure_bandwidth(const std::string& name, int buffers);
  base::Result<model::Ceiling> measure_fma();
  base::Result<model::Ceiling> measure_memory_latency();
  base::Result<model::Ceiling> measure_launch_latency();

  // Device times of `samples` runs after one that is not kept.
  base::Result<std::vector<double>> times(const Launch& one, int samples, bool cold) {
    std::vector<double> kept;
    for (int i = 0; i <= samples; ++i) {
      if (options_.stopped()) return stopped("a ceiling");
      HONE_TRY(sample, device_.time({one}, {cold}));
      if (i > 0) kept.push_back(std::max(1.0, sample->device_ns));
      clocks_mhz_.push_back(sample->clock_mhz);
    }
    return kept;
  }
  void keep(const std::string& name, const base::Result<model::Ceiling>& ceiling, const std::string& program = "") {
    if (ceiling) {
      result_.by_name[name] = *ceiling;
      result_.by_name[name].program = program;
    } else {
      result_.notes.push_back(name + " could not be measured: " + ceiling.error().found);
    }
  }

  Device& device_;
  const CeilingPlan plan_;
  const CeilingOptions options_;
  const bool quick_;
  model::Ceilings result_;
  std::unique_ptr<CeilingBench> bench_;
  std::vector<double> clocks_mhz_;
};

base::Result<void> Measurement::prepare() {
  const std::int64_t set_bytes = working_set_bytes(plan_);
  if (set_bytes / 2 < 4 * kCeilingBlockBytes) {
    return base::Error{base::ErrorKind::preflight,
                       fmt::format("{} bytes of free memory to measure ceilings with", 4 * smallest_set_bytes),
                       fmt::format("{} bytes free", plan_.available_bytes), "cpu", "free memory"};
  }
  HONE_TRY(bench, CeilingBench::make(device_, plan_.cores, set_bytes / 2, {}));
  bench_ = std::move(*bench);
  result_.notes.push_back(fmt::format(
      "working set {} MiB, {} cores, last-level caches {} MiB together{}; caches emptied before each sample",
      2 * bench_->half_bytes() >> 20, plan_.cores, plan_.cache_bytes >> 20,
      plan_.cache_bytes == plan_.all_last_level_bytes
          ? ""
          : fmt::format(" by measurement, {} MiB as reported", plan_.all_last_level_bytes >> 20)));
  if (2 * bench_->half_bytes() < wanted_set_bytes(plan_) / 2)
    result_.notes.push_back("memory bounded the working set below 4 times the last-level caches");
  result_.notes.push_back(
      "copy counts the bytes read and the bytes written by the program, without reads for ownership");
  return {};
}

void Measurement::measure_bandwidths() {
  struct Test {
    const char* ceiling;
    const char* name;
    int buffers;  // whose bytes it moves
  };
  const Test tests[] = {{"copy_bytes_per_s", "ceiling_copy", 2},
                        {"copy_streaming_bytes_per_s", "ceiling_copy_streaming", 2},
                        {"read_bytes_per_s", "ceiling_read", 1},
                        {"write_bytes_per_s", "ceiling_write", 1},
                        {"write_streaming_bytes_per_s", "ceiling_write_streaming", 1}};
  for (const Test& test : tests) {
    auto measured = measure_bandwidth(test.name, test.buffers);
    if (measured)
      keep(test.ceiling, summarize(std::move(measured->second)), measured->first);
    else
      keep(test.ceiling, measured.error());
  }
}

// A short look at each shape chooses the one whose samples count.
base::Result<std::pair<std::string, std::vector<double>>> Measurement::measure_bandwidth(const std::string& name,
                                                                                         int buffers) {
  std::optional<Launch> best;
  double least_ns = 0;
  for (const int streams : {1, 2, 4}) {
    const Launch shape = bench_->bandwidth(name, streams, bench_->half_bytes());
    HONE_TRY(looked, times(shape, 3, true));
    std::sort(looked->begin(), looked->end());
    if (const double median = quantile(*looked, 0.5); !best || median < least_ns) best = shape, least_ns = median;
  }
  HONE_TRY(taken, times(*best, quick_ ? 5 : 12, true));
  for (double& value : *taken) value = static_cast<double>(bench_->half_bytes()) * buffers / (value * 1e-9);
  return std::pair{best->entry, std::move(*taken)};
}

base::Result<model::Ceiling> Measurement::measure_fma() {
  HONE_TRY(taken, times(bench_->fma(), quick_ ? 15 : 50, false));
  for (double& value : *taken) value = bench_->flops_of_fma() / (value * 1e-9);
  return summarize(std::move(*taken));
}

// One core follows a random cycle through all pairs of cache lines (pairs are fetched together), so that no prefetcher helps.
base::Result<model::Ceiling> Measurement::measure_memory_latency() {
  constexpr std::int64_t step_bytes = 2 * line_bytes;
  const auto places = static_cast<std::size_t>(bench_->half_bytes() / step_bytes);
  std::vector<std::uint32_t> next(places);
  std::iota(next.begin(), next.end(), 0U);
  std::mt19937_64 random(1);
  for (std::size_t i = places - 1; i > 0; --i) std::swap(next[i], next[random() % i]);  // Sattolo: a single cycle
  std::vector<std::byte> image(static_cast<std::size_t>(bench_->half_bytes()));
  // The program follows addresses: one launch tells where the buffer is.
  const Argument sink = bench_->sink(), memory = bench_->from();
  const std::int64_t none = 0;
  HONE_PROPAGATE(device_.run({bench_->launch("ceiling_chase", 1, {sink, memory, none}, 1)}));
  std::uint64_t address = 0;
  HONE_PROPAGATE(device_.download(&address, bench_->sink(), sizeof address));
  for (std::size_t i = 0; i < places; ++i) {
    const std::uint64_t target = address + std::uint64_t{next[i]} * step_bytes;
    std::memcpy(image.data() + i * step_bytes, &target, sizeof target);
  }
  HONE_PROPAGATE(device_.upload(bench_->from(), image.data(), image.size()));
  constexpr std::int64_t steps = 40'000;
  HONE_TRY(taken, times(bench_->launch("ceiling_chase", 1, {sink, memory, steps}, 1), quick_ ? 9 : 25, true));
  for (double& value : *taken) value /= static_cast<double>(steps);
  return summarize(std::move(*taken));
}

// The wall time of a launch that does nothing, workers awake from the one before.
base::Result<model::Ceiling> Measurement::measure_launch_latency() {
  const Launch nothing = bench_->launch("ceiling_empty", plan_.cores, {});
  const int samples = quick_ ? 100 : 400;
  std::vector<double> taken;
  for (int i = 0; i < samples + 10; ++i) {
    if (options_.stopped()) return stopped("a ceiling");
    HONE_TRY(sample, device_.time({nothing}, {false}));
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
  if (ceilings) ceilings->effective_last_level_cache_bytes = device.info().ceilings.effective_last_level_cache_bytes;
  return ceilings;
}

namespace {

// Of the private caches of all cores together; those do not count as the last level's.
std::int64_t below_last_level_bytes(const CeilingPlan& plan, const model::DeviceInfo& info) {
  std::int64_t bytes = 0;
  int last = 0, below = 0;
  for (const model::Cache& cache : info.caches) last = std::max(last, cache.level);
  for (const model::Cache& cache : info.caches) {
    if (cache.level == last || cache.level < below) continue;
    below = cache.level;
    bytes = cache.bytes * std::max(1, plan.cores / std::max(1, cache.shared_by_cores));
  }
  return bytes;
}

}  // namespace

base::Result<std::unique_ptr<CeilingPrograms>> programs_beside(Device& device, const CeilingPlan& plan,
                                                               const model::Ceilings& ceilings) {
  if (working_set_bytes(plan) / 2 < kCeilingBlockBytes) return std::unique_ptr<CeilingPrograms>();
  HONE_TRY(bench, CeilingBench::make(device, plan.cores, working_set_bytes(plan) / 2, ceilings));
  return std::unique_ptr<CeilingPrograms>(std::move(*bench));
}

base::Result<std::int64_t> measure_cache_size(Device& device, const CeilingPlan& plan, const CeilingOptions& options,
                                              base::Clock& clock) {
  std::int64_t largest = std::clamp(2 * plan.all_last_level_bytes, smallest_set_bytes, largest_swept_bytes);
  if (plan.available_bytes > 0) largest = std::min(largest, plan.available_bytes / 4);
  const auto sizes =
      working_sets(std::max(smallest_swept_bytes, 2 * below_last_level_bytes(plan, device.info())), largest);
  if (sizes.size() < 2) return std::int64_t{0};
  HONE_TRY(bench, CeilingBench::make(device, plan.cores, sizes.back(), {}, CeilingBench::Buffers::read_alone));
  HONE_TRY(curve, cache_curve(sizes, clock, longest_sweep_ns, [&](std::int64_t bytes) -> base::Result<double> {
             const Launch launch = (*bench)->bandwidth("ceiling_read", 2, bytes);
             const int kept = static_cast<int>(std::clamp<std::int64_t>((16 << 20) / bytes, 1, 8));
             double least_ns = 0;
             for (int i = 0; i <= kept; ++i) {
               if (options.stopped()) return stopped("the size of the caches");
               auto sample = device.time({launch}, {false});
               if (!sample) return sample.error();
               const double ns = std::max(1.0, sample->device_ns);
               if (i == 1 || (i > 1 && ns < least_ns)) least_ns = ns;
             }
             return static_cast<double>(bytes) / (least_ns * 1e-9);
           }));
  return effective_cache_bytes(*curve);
}

}  // namespace hone::device::cpu

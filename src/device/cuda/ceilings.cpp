// Bandwidths, arithmetic rate and latencies, as the quantiles of samples taken like a kernel's.
//
// Bandwidth: each thread moves 1, 2, 4 or 8 vectors of 16 bytes in blocks of 256, 512 or 1024 threads; a short look at every
// shape chooses the best by its median, and the samples that count are then taken of it alone, since a ceiling below what a kernel
// reaches is none. The working set is at least 16 times the L2. Counted are the bytes of the program: a copy reads and writes
// each byte once. L2: a third of the cache, read by all multiprocessors 64 times past the first level.
#include "device/cuda/ceilings.hpp"
#include "device/stoppable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "device/cache_knee.hpp"
#include "device/cuda/ceiling_bench.hpp"

namespace hone::device::cuda {

namespace {

constexpr int chase_step_bytes = 128;
constexpr std::int64_t longest_sweep_ns = 500'000'000;
constexpr std::int64_t smallest_half_bytes = std::int64_t{64} << 20, largest_half_bytes = std::int64_t{2} << 30;

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

base::Result<std::unique_ptr<CeilingBench>> make_bench(const CeilingParts& parts, std::int64_t half_bytes,
                                                       const model::Ceilings& shapes) {
  return CeilingBench::make(parts.session, parts.compiler, parts.capability, parts.info.sm_count, half_bytes, shapes);
}

class Measurement {
 public:
  Measurement(const CeilingParts& parts, const CeilingOptions& options) : parts_(parts), options_(options) {}

  base::Result<model::Ceilings> measure() {
    HONE_PROPAGATE(prepare());
    measure_bandwidth("copy", 2);
    measure_bandwidth("read", 1);
    measure_bandwidth("write", 1);
    keep("l2_bytes_per_s", measure_l2());
    keep("fma_flops_per_s", measure_fma());
    keep("memory_latency_ns", measure_memory_latency());
    keep("launch_latency_ns", measure_launch_latency());
    bench_.reset();
    measure_matrix_rates(parts_, options_, result_);
    result_.source = model::Source::measured;
    result_.conditions.clock_mhz = clock_mhz_;
    result_.effective_last_level_cache_bytes = parts_.info.ceilings.effective_last_level_cache_bytes;
    return std::move(result_);
  }

 private:
  base::Result<void> prepare();
  void measure_bandwidth(const std::string& kind, int buffers);
  base::Result<model::Ceiling> measure_l2();
  base::Result<model::Ceiling> measure_fma();
  base::Result<model::Ceiling> measure_memory_latency();
  base::Result<model::Ceiling> measure_launch_latency();

  int samples(int quick, int full) const { return options_.quick ? quick : full; }
  // Device times of `count` runs after one that is not kept; wall times where asked.
  base::Result<std::vector<double>> times(const Launch& one, int count, bool cold, bool wall = false) {
    HONE_TRY(prepared, hone::device::cuda::prepare(*parts_.session, {one}));
    std::vector<double> kept;
    for (int i = 0; i <= count; ++i) {
      if (options_.stopped()) return stopped("a ceiling");
      HONE_TRY(sample, parts_.stopwatch.time(*prepared, cold));
      clock_mhz_ = std::max(clock_mhz_, sample->clock_mhz);
      if (i > 0) kept.push_back(std::max(1.0, wall ? sample->wall_ns : sample->device_ns));
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

  const CeilingParts& parts_;
  const CeilingOptions options_;
  model::Ceilings result_;
  std::unique_ptr<CeilingBench> bench_;
  double clock_mhz_ = 0;  // the highest seen
};

base::Result<std::int64_t> half_of(const CeilingParts& parts, std::int64_t wanted) {
  std::size_t free_bytes = 0, total_bytes = 0;
  (void)parts.session->driver().memory_info(&free_bytes, &total_bytes);
  if (free_bytes > 0) wanted = std::min(wanted, static_cast<std::int64_t>(free_bytes) / 4);
  wanted = wanted >> 20 << 20;
  if (wanted >= smallest_half_bytes) return wanted;
  return base::Error{base::ErrorKind::preflight,
                     fmt::format("{} bytes of free GPU memory to measure ceilings with", 4 * smallest_half_bytes),
                     fmt::format("{} bytes free", free_bytes), parts.session->id(),
                     "end what else uses the GPU's memory"};
}

// By what the driver reports: the cache's size in silicon.
base::Result<std::int64_t> working_half(const CeilingParts& parts) {
  return half_of(
      parts, std::clamp(8 * parts.info.reported_last_level_cache_bytes(), std::int64_t{512} << 20, largest_half_bytes));
}

base::Result<void> Measurement::prepare() {
  HONE_TRY(half, working_half(parts_));
  HONE_TRY(bench, make_bench(parts_, *half, {}));
  bench_ = std::move(*bench);
  result_.notes.push_back(fmt::format("working set {} MiB, L2 {} MiB, emptied by reading before each sample",
                                      2 * bench_->half_bytes() >> 20,
                                      parts_.info.reported_last_level_cache_bytes() >> 20));
  result_.notes.push_back("copy counts the bytes read and the bytes written by the program");
  return {};
}

void Measurement::measure_bandwidth(const std::string& kind, int buffers) {
  const std::string name = kind + "_bytes_per_s";
  std::optional<CeilingShape> best;
  double best_ns = 0;
  std::optional<base::Error> failure;
  for (const int threads : {256, 512, 1024}) {
    for (const int vectors : {1, 2, 4, 8}) {
      auto looked = times(bench_->bandwidth(kind, {threads, vectors}, bench_->half_bytes()), samples(3, 5), true);
      if (!looked) {
        failure = looked.error();
        continue;
      }
      std::sort(looked->begin(), looked->end());
      const double median = quantile(*looked, 0.5);
      if (!best || median < best_ns) {
        best = {threads, vectors};
        best_ns = median;
      }
    }
  }
  if (!best) return keep(name, *failure);
  auto taken = times(bench_->bandwidth(kind, *best, bench_->half_bytes()), samples(9, 31), true);
  if (!taken) return keep(name, taken.error());
  for (double& value : *taken) value = static_cast<double>(bench_->half_bytes()) * buffers / (value * 1e-9);
  keep(name, summarize(std::move(*taken)));
  result_.by_name[name].program = best->text();
  result_.notes.push_back("best shape: " + name + " " + best->text());
}

base::Result<model::Ceiling> Measurement::measure_l2() {
  constexpr int threads = 1024, rounds = 64;
  std::int64_t read = 0;
  HONE_TRY(taken, times(bench_->l2(threads, parts_.info.reported_last_level_cache_bytes() / 3, rounds, read),
                        samples(7, 21), false));
  for (double& value : *taken) value = static_cast<double>(read) * rounds / (value * 1e-9);
  return summarize(std::move(*taken));
}

base::Result<model::Ceiling> Measurement::measure_fma() {
  HONE_TRY(taken, times(bench_->fma(), samples(9, 31), false));
  for (double& value : *taken) value = bench_->flops_of_fma() / (value * 1e-9);
  return summarize(std::move(*taken));
}

// One thread follows a random cycle through lines of 128 bytes, far more than the caches and the translation tables hold.
base::Result<model::Ceiling> Measurement::measure_memory_latency() {
  const auto places = static_cast<std::size_t>(std::min<std::int64_t>(bench_->half_bytes(), std::int64_t{256} << 20) /
                                               chase_step_bytes);
  std::vector<std::uint32_t> next(places);
  std::iota(next.begin(), next.end(), 0U);
  std::mt19937_64 random(1);
  for (std::size_t i = places - 1; i > 0; --i) std::swap(next[i], next[random() % i]);  // Sattolo: a single cycle
  std::vector<std::uint32_t> image(places * (chase_step_bytes / sizeof(std::uint32_t)));
  for (std::size_t i = 0; i < places; ++i) image[i * (chase_step_bytes / sizeof(std::uint32_t))] = next[i];
  const Status status = parts_.session->driver().copy_to_device(bench_->read_buffer().pointer(), image.data(),
                                                                image.size() * sizeof(std::uint32_t));
  HONE_PROPAGATE(parts_.session->check(status, "a chain of indices on the GPU", "cuMemcpyHtoD"));
  constexpr std::int32_t steps = 4000;
  HONE_TRY(taken, times(bench_->chase(steps), samples(5, 15), true));
  for (double& value : *taken) value /= steps;
  return summarize(std::move(*taken));
}

// The wall time of a launch that does nothing, as the caller sees it.
base::Result<model::Ceiling> Measurement::measure_launch_latency() {
  HONE_TRY(taken, times(bench_->launch("ceiling_empty", 1, 32, {}), samples(50, 200), false, true));
  return summarize(std::move(*taken));
}

}  // namespace

model::Ceiling summarize(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.2), quantile(values, 0.5), quantile(values, 0.8), static_cast<int>(values.size())};
}

base::Result<model::Ceilings> measure_ceilings(const CeilingParts& parts, const CeilingOptions& options,
                                               base::Clock& clock) {
  auto ceilings = Measurement(parts, options).measure();
  if (options.stopped()) return stopped("the ceilings");  // what is missing is not what can not be measured
  if (ceilings) ceilings->measured_at = clock.utc();
  return ceilings;
}

base::Result<std::unique_ptr<CeilingPrograms>> programs_beside(const CeilingParts& parts,
                                                               const model::Ceilings& ceilings) {
  HONE_TRY(half, working_half(parts));
  HONE_TRY(bench, make_bench(parts, *half, ceilings));
  return std::unique_ptr<CeilingPrograms>(std::move(*bench));
}

base::Result<std::int64_t> measure_cache_size(const CeilingParts& parts, const CeilingOptions& options,
                                              base::Clock& clock) {
  constexpr int threads = 256, rounds = 16;
  const std::int64_t reported = parts.info.reported_last_level_cache_bytes();
  if (reported <= 0) return std::int64_t{0};
  HONE_TRY(half, half_of(parts, std::max(4 * reported, smallest_half_bytes)));
  HONE_TRY(bench, make_bench(parts, *half, {}));
  // Sizes are whole turns of all threads, so the smallest is one of those.
  std::int64_t turn = 0;
  (void)(*bench)->l2(threads, 1, rounds, turn);
  std::vector<std::int64_t> sizes = working_sets(turn, *half);
  for (std::int64_t& bytes : sizes) bytes = bytes / turn * turn;
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  HONE_TRY(curve, cache_curve(sizes, clock, longest_sweep_ns, [&](std::int64_t bytes) -> base::Result<double> {
             if (options.stopped()) return stopped("the size of the caches");
             std::int64_t read = 0;
             auto prepared = prepare(*parts.session, {(*bench)->l2(threads, bytes, rounds, read)});
             if (!prepared) return prepared.error();
             auto sample = parts.stopwatch.time(*prepared, false);
             if (!sample) return sample.error();
             return static_cast<double>(read) * rounds / (std::max(1.0, sample->device_ns) * 1e-9);
           }));
  return effective_cache_bytes(*curve);
}

}  // namespace hone::device::cuda

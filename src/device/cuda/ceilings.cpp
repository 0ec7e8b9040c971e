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

#include "device/cuda/ceiling_programs.hpp"

namespace hone::device::cuda {

namespace {

constexpr int vector_bytes = 16, chase_step_bytes = 128, fma_chains = 16, fma_steps = 4;
constexpr std::size_t sink_bytes = 4096;
constexpr std::int64_t smallest_half_bytes = std::int64_t{64} << 20, largest_half_bytes = std::int64_t{2} << 30;

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

class Measurement {
 public:
  Measurement(const CeilingParts& parts, const CeilingOptions& options) : parts_(parts), options_(options) {}

  base::Result<model::Ceilings> measure() {
    if (auto ready = prepare(); !ready) return ready.error();
    measure_bandwidth("copy_bytes_per_s", "ceiling_copy", 2);
    measure_bandwidth("read_bytes_per_s", "ceiling_read", 1);
    measure_bandwidth("write_bytes_per_s", "ceiling_write", 1);
    keep("l2_bytes_per_s", measure_l2());
    keep("fma_flops_per_s", measure_fma());
    keep("memory_latency_ns", measure_memory_latency());
    keep("launch_latency_ns", measure_launch_latency());
    first_.reset();
    second_.reset();
    measure_matrix_rates(parts_, options_, result_);
    result_.source = model::Source::measured;
    return std::move(result_);
  }

 private:
  base::Result<void> prepare();
  void measure_bandwidth(const std::string& name, const std::string& entry, int buffers);
  base::Result<model::Ceiling> measure_l2();
  base::Result<model::Ceiling> measure_fma();
  base::Result<model::Ceiling> measure_memory_latency();
  base::Result<model::Ceiling> measure_launch_latency();

  int samples(int quick, int full) const { return options_.quick ? quick : full; }
  Launch launch(std::string entry, std::int64_t programs, int threads, std::vector<Argument> arguments) {
    Launch one;
    one.program = program_.get();
    one.entry = std::move(entry);
    one.programs = programs;
    one.threads = threads;
    one.arguments = std::move(arguments);
    return one;
  }
  // Device times of `count` runs after one that is not kept; wall times where asked.
  base::Result<std::vector<double>> times(const Launch& one, int count, bool cold, bool wall = false) {
    auto prepared = hone::device::cuda::prepare(*parts_.session, {one});
    if (!prepared) return prepared.error();
    std::vector<double> kept;
    for (int i = 0; i <= count; ++i) {
      if (options_.stopped()) return stopped("a ceiling");
      auto sample = parts_.stopwatch.time(*prepared, cold);
      if (!sample) return sample.error();
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
  std::shared_ptr<CudaProgram> program_;
  std::unique_ptr<CudaBuffer> first_, second_, sink_;
  std::int64_t half_bytes_ = 0;
};

base::Result<void> Measurement::prepare() {
  auto compiled = parts_.compiler.compile(
      {"ceiling programs", {{"ceilings.cu", ceiling_program_text}}, "ceilings.cu", {}}, parts_.capability);
  if (!compiled) return compiled.error();
  program_ = std::make_shared<CudaProgram>(parts_.session, "ceiling programs", std::move(*compiled));
  std::size_t free_bytes = 0, total_bytes = 0;
  (void)parts_.session->driver().memory_info(&free_bytes, &total_bytes);
  half_bytes_ = std::clamp(8 * parts_.info.last_level_cache_bytes(), std::int64_t{512} << 20, largest_half_bytes);
  if (free_bytes > 0) half_bytes_ = std::min(half_bytes_, static_cast<std::int64_t>(free_bytes) / 4);
  half_bytes_ = half_bytes_ >> 20 << 20;
  if (half_bytes_ < smallest_half_bytes) {
    return base::Error{base::ErrorKind::preflight,
                       fmt::format("{} bytes of free GPU memory to measure ceilings with", 4 * smallest_half_bytes),
                       fmt::format("{} bytes free", free_bytes), parts_.session->id(),
                       "end what else uses the GPU's memory"};
  }
  for (auto* buffer : {&first_, &second_, &sink_}) {
    auto made = CudaBuffer::make(parts_.session, buffer == &sink_ ? sink_bytes : static_cast<std::size_t>(half_bytes_));
    if (!made) return made.error();
    *buffer = std::move(*made);
  }
  // Random values, as those of kernels are: a bus full of zeros switches less.
  for (CudaBuffer* buffer : {first_.get(), second_.get()}) {
    auto filling = hone::device::cuda::prepare(
        *parts_.session,
        {launch("ceiling_random", 4096, 256, {BufferView{buffer, 0}, half_bytes_ / 4, std::int32_t{2}})});
    if (!filling) return filling.error();
    if (auto queued = enqueue(*parts_.session, *filling); !queued) return queued;
  }
  if (auto filled = parts_.session->synchronize("random values"); !filled) return filled;
  result_.notes.push_back(fmt::format("working set {} MiB, L2 {} MiB, emptied by reading before each sample",
                                      2 * half_bytes_ >> 20, parts_.info.last_level_cache_bytes() >> 20));
  result_.notes.push_back("copy counts the bytes read and the bytes written by the program");
  return {};
}

void Measurement::measure_bandwidth(const std::string& name, const std::string& entry, int buffers) {
  const std::int64_t vectors = half_bytes_ / vector_bytes;
  std::optional<Launch> best;
  double best_ns = 0;
  std::optional<base::Error> failure;
  std::string shape;
  for (const int threads : {256, 512, 1024}) {
    for (const int unroll : {1, 2, 4, 8}) {
      std::vector<Argument> arguments;
      if (buffers == 2)
        arguments = {BufferView{first_.get(), 0}, BufferView{second_.get(), 0}, vectors};
      else if (entry == "ceiling_read")
        arguments = {BufferView{sink_.get(), 0}, BufferView{second_.get(), 0}, vectors};
      else
        arguments = {BufferView{first_.get(), 0}, vectors};
      const std::int64_t of_block = std::int64_t{threads} * unroll;
      const Launch one = launch(fmt::format("{}_{}", entry, unroll), (vectors + of_block - 1) / of_block, threads,
                                std::move(arguments));
      auto looked = times(one, samples(3, 5), true);
      if (!looked) {
        failure = looked.error();
        continue;
      }
      std::sort(looked->begin(), looked->end());
      const double median = quantile(*looked, 0.5);
      if (!best || median < best_ns) {
        best = one;
        best_ns = median;
        shape = fmt::format("{} {} threads, {} vectors each", name, threads, unroll);
      }
    }
  }
  if (!best) return keep(name, *failure);
  auto taken = times(*best, samples(9, 31), true);
  if (!taken) return keep(name, taken.error());
  for (double& value : *taken) value = static_cast<double>(half_bytes_) * buffers / (value * 1e-9);
  keep(name, summarize(std::move(*taken)));
  result_.notes.push_back("best shape: " + shape);
}

base::Result<model::Ceiling> Measurement::measure_l2() {
  constexpr int threads = 1024, rounds = 64, in_flight = 4;
  const std::int64_t blocks = 2 * std::int64_t{parts_.info.sm_count}, stride = blocks * threads;
  // Whole turns of all threads, so that every vector is read.
  const std::int64_t wanted = parts_.info.last_level_cache_bytes() / 3 / vector_bytes;
  const std::int64_t vectors = std::min(std::max<std::int64_t>(1, wanted / (in_flight * stride)) * in_flight * stride,
                                        half_bytes_ / vector_bytes);
  auto taken = times(launch("ceiling_l2", blocks, threads,
                            {BufferView{sink_.get(), 0}, BufferView{second_.get(), 0}, vectors, std::int32_t{rounds}}),
                     samples(7, 21), false);
  if (!taken) return taken.error();
  for (double& value : *taken) value = static_cast<double>(vectors) * vector_bytes * rounds / (value * 1e-9);
  return summarize(std::move(*taken));
}

base::Result<model::Ceiling> Measurement::measure_fma() {
  constexpr int threads = 1024, rounds = 4096;
  const std::int64_t blocks = 2 * std::int64_t{parts_.info.sm_count};
  auto taken = times(launch("ceiling_fma", blocks, threads, {BufferView{sink_.get(), 0}, std::int32_t{rounds}}),
                     samples(9, 31), false);
  if (!taken) return taken.error();
  for (double& value : *taken)
    value = 2.0 * fma_chains * fma_steps * rounds * threads * static_cast<double>(blocks) / (value * 1e-9);
  return summarize(std::move(*taken));
}

// One thread follows a random cycle through lines of 128 bytes, far more than the caches and the translation tables hold.
base::Result<model::Ceiling> Measurement::measure_memory_latency() {
  const auto places =
      static_cast<std::size_t>(std::min<std::int64_t>(half_bytes_, std::int64_t{256} << 20) / chase_step_bytes);
  std::vector<std::uint32_t> next(places);
  std::iota(next.begin(), next.end(), 0U);
  std::mt19937_64 random(1);
  for (std::size_t i = places - 1; i > 0; --i) std::swap(next[i], next[random() % i]);  // Sattolo: a single cycle
  std::vector<std::uint32_t> image(places * (chase_step_bytes / sizeof(std::uint32_t)));
  for (std::size_t i = 0; i < places; ++i) image[i * (chase_step_bytes / sizeof(std::uint32_t))] = next[i];
  const Status status =
      parts_.session->driver().copy_to_device(second_->pointer(), image.data(), image.size() * sizeof(std::uint32_t));
  if (auto written = parts_.session->check(status, "a chain of indices on the GPU", "cuMemcpyHtoD"); !written)
    return written.error();
  constexpr std::int32_t steps = 4000;
  auto taken = times(launch("ceiling_chase", 1, 1, {BufferView{sink_.get(), 0}, BufferView{second_.get(), 0}, steps}),
                     samples(5, 15), true);
  if (!taken) return taken.error();
  for (double& value : *taken) value /= steps;
  return summarize(std::move(*taken));
}

// The wall time of a launch that does nothing, as the caller sees it.
base::Result<model::Ceiling> Measurement::measure_launch_latency() {
  auto taken = times(launch("ceiling_empty", 1, 32, {}), samples(50, 200), false, true);
  if (!taken) return taken.error();
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

}  // namespace hone::device::cuda

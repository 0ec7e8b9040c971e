// The gate, the flush and the events.
#include "device/cuda/stopwatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace hone::device::cuda {

namespace {

// Beyond it the gate opens by itself, and the sample is refused: a host that was suspended must not hang the GPU.
constexpr std::uint64_t gate_limit_ns = 2'000'000'000;
constexpr std::int64_t gate_start_limit_ns = 1'000'000'000;
constexpr std::size_t smallest_flush_bytes = std::size_t{64} << 20;

constexpr char gate_text[] = R"text(
extern "C" __global__ void hone_gate(volatile unsigned int* flag, unsigned long long limit_ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  flag[2] = 1;
  while (flag[0] == 0) {
    __nanosleep(200);
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if (now - begin > limit_ns) {
      flag[1] = 1;
      return;
    }
  }
}

// Empties the L2 cache by reading: a cache emptied by writing holds dirty lines, whose write-back falls into the timed launches
// (rms_norm forward at 16384 x 1024 in bf16 on an H200: 0.0222 ms after writing, 0.0193 ms after reading). `never` is a value
// that the buffer does not hold, so nothing is written and no load is dropped.
extern "C" __global__ void hone_empty_l2(uint4* buffer, unsigned long long vectors, unsigned long long never) {
  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  unsigned int sum = 0;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += step) {
    const uint4 v = buffer[i];
    sum |= v.x | v.y | v.z | v.w;
  }
  if (sum == (unsigned int)never) buffer[0].x = sum;
}
)text";

}  // namespace

ProgramSource gate_source() { return {"timing gate", {{"gate.cu", gate_text}}, "gate.cu", {}}; }

Stopwatch::~Stopwatch() {
  if (!session_->enter().ok()) return;
  const DriverApi& driver = session_->driver();
  if (start_ != nullptr) (void)driver.event_destroy(start_);
  if (end_ != nullptr) (void)driver.event_destroy(end_);
  if (flush_buffer_ != 0) (void)driver.memory_free(flush_buffer_);
  if (flag_ != nullptr) (void)driver.host_free(const_cast<std::uint32_t*>(flag_));
}

base::Result<void> Stopwatch::prepare(std::shared_ptr<CudaProgram> gate) {
  if (ready_) return {};
  const DriverApi& driver = session_->driver();
  gate_program_ = std::move(gate);
  HONE_TRY(facts, gate_program_->entry("hone_gate"));
  if (flag_ == nullptr) {
    void* host = nullptr;
    if (auto made = session_->check(driver.host_allocate(&host, 64, kHostMemoryMapped), "host memory that the GPU sees",
                                    "cuMemHostAlloc");
        !made)
      return made;
    flag_ = static_cast<volatile std::uint32_t*>(host);
  }
  DevicePointer seen = 0;
  if (auto mapped = session_->check(driver.host_device_pointer(&seen, const_cast<std::uint32_t*>(flag_), 0),
                                    "host memory that the GPU sees", "cuMemHostGetDevicePointer");
      !mapped)
    return mapped;
  for (Event* event : {&start_, &end_})
    if (*event == nullptr)
      if (auto made = session_->check(driver.event_create(event, 0), "an event", "cuEventCreate"); !made) return made;
  HONE_TRY(emptying, gate_program_->entry("hone_empty_l2"));
  const std::size_t bytes =
      std::max(smallest_flush_bytes, 4 * static_cast<std::size_t>(std::max<std::int64_t>(0, l2_bytes_))) / 16 * 16;
  if (flush_buffer_ == 0) {
    if (auto made =
            session_->check(driver.memory_allocate(&flush_buffer_, bytes),
                            fmt::format("{} bytes of GPU memory to empty the L2 cache with", bytes), "cuMemAlloc");
        !made)
      return made;
    if (auto filled = session_->check(driver.fill_bytes(flush_buffer_, 0, bytes, session_->stream()),
                                      "the buffer to have values", "cuMemsetD8Async");
        !filled)
      return filled;
  }
  PreparedLaunch empty;
  empty.entry = "hone_empty_l2";
  empty.program = gate_program_->name();
  empty.function = emptying->function;
  empty.grid = {1024, 1, 1};
  empty.block = {256, 1, 1};
  empty.values = {flush_buffer_, bytes / 16, 0xffffffffu};
  flush_ = {empty};
  PreparedLaunch launch;
  launch.entry = "hone_gate";
  launch.program = gate_program_->name();
  launch.function = facts->function;
  launch.grid = launch.block = {1, 1, 1};
  launch.values = {seen, gate_limit_ns};
  gate_ = {launch};
  ready_ = true;
  return {};
}

base::Result<void> Stopwatch::flush() { return enqueue(*session_, flush_); }

base::Result<model::Sample> Stopwatch::time(std::vector<PreparedLaunch>& launches, bool cold_cache) {
  return time_work([&] { return enqueue(*session_, launches); }, words_for(launches), cold_cache);
}

base::Result<model::Sample> Stopwatch::time_work(const std::function<base::Result<void>()>& work,
                                                 const std::string& what, bool cold_cache) {
  const DriverApi& driver = session_->driver();
  if (cold_cache) HONE_PROPAGATE(flush());
  for (int i = 0; i < 3; ++i) flag_[i] = 0;
  HONE_PROPAGATE(enqueue(*session_, gate_));
  // From here on the GPU waits for this thread: whatever fails, the gate must open.
  base::Result<void> queued =
      session_->check(driver.event_record(start_, session_->stream()), "the start to be marked", "cuEventRecord");
  const std::int64_t handing_over_ns = clock_.now_ns();
  if (queued) queued = work();
  const std::int64_t handed_over_ns = clock_.now_ns();
  if (queued)
    queued = session_->check(driver.event_record(end_, session_->stream()), "the end to be marked", "cuEventRecord");
  const ClockReading before = clocks_.read();
  // The emptying is over when the gate runs: opened before, its rest would count as the caller's waiting.
  while (queued && flag_[2] == 0 && clock_.now_ns() - handed_over_ns < gate_start_limit_ns) {
  }
  const std::int64_t opened_ns = clock_.now_ns();
  flag_[0] = 1;
  auto ended = session_->synchronize(what);
  const std::int64_t returned_ns = clock_.now_ns();
  if (!queued) return queued.error();
  if (!ended) return ended.error();
  const ClockReading after = clocks_.read();
  if (flag_[1] != 0) {
    return base::Error{
        base::ErrorKind::untrusted, "launches handed over within 2 s",
        fmt::format("{} took {:.1f} s", what, 1e-9 * static_cast<double>(handed_over_ns - handing_over_ns)),
        session_->id(), "measure again on a host that is not suspended"};
  }
  float milliseconds = 0;
  HONE_PROPAGATE(session_->check(driver.event_elapsed(&milliseconds, start_, end_), "the time between two events",
                                 "cuEventElapsedTime"));
  model::Sample sample;
  sample.device_ns = static_cast<double>(milliseconds) * 1e6;
  sample.wall_ns = static_cast<double>((handed_over_ns - handing_over_ns) + (returned_ns - opened_ns));
  sample.clock_mhz = before.sm_mhz > 0 && after.sm_mhz > 0 ? (before.sm_mhz + after.sm_mhz) / 2
                                                           : std::max(before.sm_mhz, after.sm_mhz);
  sample.slowed = before.slowed || after.slowed;
  return sample;
}

}  // namespace hone::device::cuda

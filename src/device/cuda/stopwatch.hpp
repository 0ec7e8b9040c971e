// One timed pass on a GPU: cold cache, launch latency hidden, the clock watched.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "device/cuda/cuda_program.hpp"
#include "device/cuda/nvml.hpp"
#include "device/cuda/session.hpp"
#include "model/timing.hpp"

namespace hone::device::cuda {

// How a sample is taken: the cache is emptied by reading 4 times the L2 (after writing, the timed kernel would pay for bringing the
// written lines to memory); a gate kernel then holds the stream while the start event,
// the launches and the end event are queued, so that the GPU finds them waiting and no host latency lies between the events;
// then the gate opens. device_ns is the time between the events. wall_ns is what a caller without the gate would wait: the
// host's time to hand over the launches, and from the opening of the gate to the return of the wait; where several launches
// overlap their own hand-over it is an upper bound. clock_mhz is NVML's, read while the gate holds and after the end.
class Stopwatch {
 public:
  // The clocks must outlive the stopwatch.
  Stopwatch(std::shared_ptr<GpuSession> session, Clocks& clocks, base::Clock& clock, std::int64_t l2_bytes)
      : session_(std::move(session)), clocks_(clocks), clock_(clock), l2_bytes_(l2_bytes) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch();

  // Makes gate, events and flush buffer; needed once before the first sample. `gate`: gate_source(), compiled.
  base::Result<void> prepare(std::shared_ptr<CudaProgram> gate);
  bool ready() const { return ready_; }
  base::Result<model::Sample> time(std::vector<PreparedLaunch>& launches, bool cold_cache);
  // The same around any work that is queued on the session's stream.
  base::Result<model::Sample> time_work(const std::function<base::Result<void>()>& work, const std::string& what,
                                        bool cold_cache);

 private:
  base::Result<void> flush();

  std::shared_ptr<GpuSession> session_;
  Clocks& clocks_;
  base::Clock& clock_;
  const std::int64_t l2_bytes_;
  bool ready_ = false;
  std::shared_ptr<CudaProgram> gate_program_;
  DevicePointer flush_buffer_ = 0;
  Event start_ = nullptr, end_ = nullptr;
  volatile std::uint32_t* flag_ =
      nullptr;  // host memory: [0] opens the gate, [1] says that it opened by itself, [2] that it stands
  std::vector<PreparedLaunch> gate_, flush_;
};

// The text of the kernel that empties the L2 cache and of the gate kernel: it waits for flag[0], at most limit_ns, and sets flag[1] where it waited no longer; flag[2] says that it runs.
ProgramSource gate_source();

}  // namespace hone::device::cuda

// The device itself: ties session, compiler, stopwatch and trials to the interface.
#include "device/cuda/cuda_device.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <array>
#include <mutex>

#include "base/hash.hpp"
#include "device/cuda/ceiling_programs.hpp"
#include "device/cuda/ceilings.hpp"
#include "device/cuda/cuda_program.hpp"
#include "device/cuda/session.hpp"
#include "device/cuda/stopwatch.hpp"
#include "device/cuda/trial.hpp"

namespace hone::device::cuda {

namespace {

model::DeviceInfo describe_gpu(const GpuSession& session, const Capability& capability, const Clocks& clocks) {
  const DriverApi& driver = session.driver();
  model::DeviceInfo info;
  std::array<char, 256> name{};
  if (driver.device_name(name.data(), name.size() - 1, session.handle()) == kSuccess) info.name = name.data();
  info.kind = "cuda";
  info.id = session.id();
  info.architecture = architecture_name(capability);
  info.compute_capability = capability.text();
  info.sm_count = session.attribute(DeviceAttribute::multiprocessors);
  std::size_t bytes = 0;
  if (driver.device_memory(&bytes, session.handle()) == kSuccess)
    info.total_memory_bytes = static_cast<std::int64_t>(bytes);
  info.caches = {{2, session.attribute(DeviceAttribute::l2_cache_bytes), info.sm_count}};
  info.shared_memory_per_block_bytes = session.attribute(DeviceAttribute::shared_bytes_per_block_optin);
  info.registers_per_sm = session.attribute(DeviceAttribute::registers_per_multiprocessor);
  info.max_threads_per_sm = session.attribute(DeviceAttribute::threads_per_multiprocessor);
  info.clock_mhz = session.attribute(DeviceAttribute::clock_rate_khz) / 1000.0;
  int version = 0;
  (void)driver.driver_version(&version);
  const std::string cuda = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  info.driver = clocks.driver_version().empty() ? cuda : fmt::format("{} ({})", clocks.driver_version(), cuda);
  return info;
}

class CudaDevice final : public Device {
 public:
  CudaDevice(const CudaOptions& options, std::shared_ptr<GpuSession> session, std::unique_ptr<Clocks> clocks,
             base::FileSystem& files, base::Clock& clock)
      : files_(files),
        clock_(clock),
        session_(std::move(session)),
        clocks_(std::move(clocks)),
        capability_{session_->attribute(DeviceAttribute::compute_capability_major),
                    session_->attribute(DeviceAttribute::compute_capability_minor)},
        compiler_(CudaCompiler::open(options.compiler, files)),
        info_(describe_gpu(*session_, capability_, *clocks_)),
        stopwatch_(session_, *clocks_, clock, info_.last_level_cache_bytes()),
        worker_(options.trial_command),
        isolated_(!options.trial_command.empty()) {
    if (compiler_)
      info_.compiler = fmt::format("{} ({})", (*compiler_)->version(),
                                   compile_target(capability_, (*compiler_)->supported()).option);
  }

  const model::DeviceInfo& info() const override { return info_; }

  base::Result<model::Ceilings> ceilings(const CeilingOptions& options) override {
    const std::lock_guard<std::mutex> lock(running_);
    HONE_PROPAGATE(ready_to_time());
    auto measured = measure_ceilings(ceiling_parts(), options, clock_);
    if (measured) measured->conditions.temperature_c = clocks_->temperature_c();
    return measured;
  }
  std::string ceiling_program_version() const override { return base::content_hash(ceiling_program_text); }
  base::Result<std::unique_ptr<CeilingPrograms>> ceiling_programs(const model::Ceilings& ceilings) override {
    const std::lock_guard<std::mutex> lock(running_);
    HONE_PROPAGATE(ready_to_time());
    return programs_beside(ceiling_parts(), ceilings);
  }
  base::Result<std::int64_t> measure_cache_size(const CeilingOptions& options) override {
    const std::lock_guard<std::mutex> lock(running_);
    HONE_PROPAGATE(ready_to_time());
    return cuda::measure_cache_size(ceiling_parts(), options, clock_);
  }
  // The stopwatch goes on emptying 4 times what the driver reports: that is cheap, and holds whatever was measured.
  void use_cache_size(std::int64_t bytes) override { info_.ceilings.effective_last_level_cache_bytes = bytes; }

  base::Result<std::shared_ptr<Program>> compile(const ProgramSource& source) override {
    HONE_TRY(program, build(source));
    return std::shared_ptr<Program>(std::move(*program));
  }

  base::Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    HONE_TRY(buffer, CudaBuffer::make(session_, bytes));
    return std::unique_ptr<Buffer>(std::move(*buffer));
  }

  base::Result<void> upload(BufferView to, const void* from, std::size_t bytes) override {
    auto target = target_of(to, bytes);
    if (!target || bytes == 0) return target ? base::Result<void>() : base::Result<void>(target.error());
    return session_->check(session_->driver().copy_to_device(*target, from, bytes),
                           fmt::format("{} bytes to the GPU", bytes), "cuMemcpyHtoD");
  }
  base::Result<void> download(void* to, BufferView from, std::size_t bytes) override {
    auto origin = target_of(from, bytes);
    if (!origin || bytes == 0) return origin ? base::Result<void>() : base::Result<void>(origin.error());
    return session_->check(session_->driver().copy_to_host(to, *origin, bytes),
                           fmt::format("{} bytes from the GPU", bytes), "cuMemcpyDtoH");
  }
  base::Result<void> copy(BufferView to, BufferView from, std::size_t bytes) override {
    HONE_TRY(target, target_of(to, bytes));
    HONE_TRY(origin, target_of(from, bytes));
    if (bytes == 0) return {};
    if (auto copied = session_->check(session_->driver().copy_on_device(*target, *origin, bytes, session_->stream()),
                                      fmt::format("{} bytes copied on the GPU", bytes), "cuMemcpyDtoDAsync");
        !copied)
      return copied;
    return session_->synchronize("a copy on the GPU");
  }
  base::Result<void> fill(BufferView to, std::uint8_t byte, std::size_t bytes) override {
    auto target = target_of(to, bytes);
    if (!target || bytes == 0) return target ? base::Result<void>() : base::Result<void>(target.error());
    if (auto filled = session_->check(session_->driver().fill_bytes(*target, byte, bytes, session_->stream()),
                                      fmt::format("{} bytes filled on the GPU", bytes), "cuMemsetD8Async");
        !filled)
      return filled;
    return session_->synchronize("a fill on the GPU");
  }

  base::Result<void> run(const std::vector<Launch>& launches) override {
    const std::lock_guard<std::mutex> lock(running_);
    if (auto entered = session_->enter(); !entered) return entered;
    HONE_TRY(prepared, prepare(*session_, launches));
    if (auto queued = enqueue(*session_, *prepared); !queued) return queued;
    return session_->synchronize(words_for(*prepared));
  }

  base::Result<void> try_run(const std::vector<Launch>& launches, std::int64_t deadline_ns) override {
    if (isolated_) {
      const std::lock_guard<std::mutex> lock(running_);
      if (auto entered = session_->enter(); !entered) return entered;
      if (auto checked = check_launches(launches); !checked) return checked;
      if (auto tried = worker_.run(*session_, launches, deadline_ns); !tried) return tried;
    }
    return run(launches);
  }

  base::Result<model::Sample> time(const std::vector<Launch>& launches, const TimingConditions& conditions) override {
    const std::lock_guard<std::mutex> lock(running_);
    HONE_PROPAGATE(ready_to_time());
    HONE_TRY(prepared, prepare(*session_, launches));
    return stopwatch_.time(*prepared, conditions.cold_cache);
  }

  std::size_t allocated_bytes() const override { return session_->allocated.load(); }

  std::vector<std::pair<std::string, double>> count_events(const std::vector<Launch>&, std::string& reason) override {
    reason = "a GPU's counters are read by Nsight Compute, from outside the process";
    return {};
  }

 private:
  base::Result<DevicePointer> target_of(BufferView view, std::size_t bytes) {
    auto pointer = resolve(view, bytes);
    if (!pointer) return pointer;
    HONE_PROPAGATE(session_->enter());
    return pointer;
  }
  base::Result<std::shared_ptr<CudaProgram>> build(const ProgramSource& source) {
    if (!compiler_) return compiler_.error();
    HONE_TRY(compiled, (*compiler_)->compile(source, capability_));
    return std::make_shared<CudaProgram>(session_, source.name, std::move(*compiled));
  }
  // After ready_to_time(): there is a compiler.
  CeilingParts ceiling_parts() { return {session_, stopwatch_, **compiler_, capability_, info_, files_}; }
  base::Result<void> ready_to_time() {
    if (auto entered = session_->enter(); !entered) return entered;
    if (stopwatch_.ready()) return {};
    HONE_TRY(gate, build(gate_source()));
    return stopwatch_.prepare(std::move(*gate));
  }

  base::FileSystem& files_;
  base::Clock& clock_;
  std::shared_ptr<GpuSession> session_;
  std::unique_ptr<Clocks> clocks_;
  const Capability capability_;
  base::Result<std::unique_ptr<CudaCompiler>> compiler_;
  model::DeviceInfo info_;
  std::mutex running_;  // one batch at a time: stream, stopwatch and worker are one
  Stopwatch stopwatch_;
  TrialWorker worker_;
  const bool isolated_;
};

}  // namespace

base::Result<std::unique_ptr<Device>> open_cuda_device(const CudaOptions& options, const DriverApi& driver,
                                                       std::unique_ptr<Clocks> clocks, base::FileSystem& files,
                                                       base::Clock& clock) {
  HONE_TRY(session, GpuSession::open(driver, options.ordinal));
  if (clocks == nullptr) {
    std::array<char, 64> bus_id{};
    std::string problem;
    (void)driver.device_bus_id(bus_id.data(), bus_id.size() - 1, (*session)->handle());
    clocks = open_clocks(bus_id.data(), problem);
  }
  return std::unique_ptr<Device>(
      std::make_unique<CudaDevice>(options, std::move(*session), std::move(clocks), files, clock));
}

base::Result<std::unique_ptr<Device>> open_cuda_device(const CudaOptions& options, base::FileSystem& files,
                                                       base::Clock& clock) {
  // A kernel's code is on the GPU before its first launch: loading it then would wait for a stream that a closed gate holds.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  HONE_TRY(driver, open_driver());
  return open_cuda_device(options, **driver, nullptr, files, clock);
}

int gpu_count() {
  auto driver = open_driver();
  int count = 0;
  if (!driver || (*driver)->init(0) != kSuccess || (*driver)->device_count(&count) != kSuccess) return 0;
  return count;
}

}  // namespace hone::device::cuda

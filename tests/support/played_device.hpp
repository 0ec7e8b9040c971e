// A device that runs nothing: its times are a function of the launches, and pass on a clock moved by hand.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "device/device.hpp"

namespace hone::test {

class PlayedDevice final : public device::Device {
 public:
  // `time_ns`: of one pass, from its launches and whether the caches were emptied before.
  using Times = std::function<double(const std::vector<device::Launch>& launches, bool cold)>;
  PlayedDevice(base::ManualClock& clock, Times time_ns) : clock_(clock), time_ns_(std::move(time_ns)) {
    described.name = "Played CPU", described.kind = "cpu", described.id = "cpu", described.architecture = "x86-64 avx2";
    described.isa = {"avx2"}, described.sm_count = 2, described.total_memory_bytes = std::int64_t{8} << 30;
    described.compiler = "g++ 12";
    described.caches = {{1, 32 << 10, 1}, {2, 512 << 10, 1}, {3, 32 << 20, 2}};
  }

  model::DeviceInfo described;
  std::function<base::Result<model::Ceilings>(bool quick)> on_ceilings;
  std::function<base::Result<std::int64_t>()> on_cache_size;
  std::function<std::unique_ptr<device::CeilingPrograms>()> on_programs;
  std::optional<base::Error> programs_error;
  std::string program_version = "1";
  int runs = 0;  // timed ones

  const model::DeviceInfo& info() const override { return described; }
  base::Result<model::Ceilings> ceilings(const device::CeilingOptions& options) override {
    return on_ceilings ? on_ceilings(options.quick) : model::Ceilings{};
  }
  std::string ceiling_program_version() const override { return program_version; }
  base::Result<std::unique_ptr<device::CeilingPrograms>> ceiling_programs(const model::Ceilings&) override {
    if (programs_error) return *programs_error;
    return on_programs ? on_programs() : nullptr;
  }
  base::Result<std::int64_t> measure_cache_size(const device::CeilingOptions&) override {
    return on_cache_size ? on_cache_size() : std::int64_t{0};
  }
  void use_cache_size(std::int64_t bytes) override { described.ceilings.effective_last_level_cache_bytes = bytes; }

  base::Result<std::shared_ptr<device::Program>> compile(const device::ProgramSource&) override {
    return std::shared_ptr<device::Program>(std::make_shared<PlayedProgram>());
  }
  base::Result<std::unique_ptr<device::Buffer>> allocate(std::size_t bytes) override {
    return std::unique_ptr<device::Buffer>(std::make_unique<PlayedBuffer>(bytes));
  }
  base::Result<void> upload(device::BufferView, const void*, std::size_t) override { return {}; }
  base::Result<void> download(void* to, device::BufferView, std::size_t bytes) override {
    std::memset(to, 1, bytes);
    return {};
  }
  base::Result<void> copy(device::BufferView, device::BufferView, std::size_t) override { return {}; }
  base::Result<void> fill(device::BufferView, std::uint8_t, std::size_t) override { return {}; }
  base::Result<void> run(const std::vector<device::Launch>&) override { return {}; }
  base::Result<model::Sample> time(const std::vector<device::Launch>& launches,
                                   const device::TimingConditions& conditions) override {
    ++runs;
    const double ns = time_ns_(launches, conditions.cold_cache);
    clock_.advance_ns(static_cast<std::int64_t>(ns));
    return model::Sample{ns, ns + 1000, 3000};
  }
  std::size_t allocated_bytes() const override { return 0; }
  std::vector<std::pair<std::string, double>> count_events(const std::vector<device::Launch>&,
                                                           std::string& reason) override {
    reason = "a played device has none";
    return {};
  }

 private:
  struct PlayedProgram final : device::Program {
    const device::ProgramInfo& info() const override { return described; }
    device::ProgramInfo described;
  };
  struct PlayedBuffer final : device::Buffer {
    explicit PlayedBuffer(std::size_t count) : bytes_(count) {}
    std::size_t bytes() const override { return bytes_; }
    std::size_t bytes_;
  };

  base::ManualClock& clock_;
  Times time_ns_;
};

}  // namespace hone::test

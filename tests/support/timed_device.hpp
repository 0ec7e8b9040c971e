// A device whose launches really run and whose times are made up: correctness is real, speed is a function of the launch, so that
// a test of the stages neither waits for a clock nor depends on one.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "device/device.hpp"

namespace hone::test {

class TimedDevice final : public device::Device {
 public:
  // `time_ns`: of one pass, from its launches.
  TimedDevice(device::Device& real, base::ManualClock& clock,
              std::function<double(const std::vector<device::Launch>&)> time_ns)
      : real_(real), clock_(clock), time_ns_(std::move(time_ns)) {}

  const model::DeviceInfo& info() const override { return real_.info(); }
  base::Result<model::Ceilings> ceilings(const device::CeilingOptions&) override {
    model::Ceilings ceilings;
    for (const char* name : {"copy_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s"})
      ceilings.by_name[name] = {1e13, 1e13, 1e13, 10};
    ceilings.by_name["fma_flops_per_s"] = {1e15, 1e15, 1e15, 10};
    ceilings.notes = {"made up"};
    return ceilings;
  }
  base::Result<std::shared_ptr<device::Program>> compile(const device::ProgramSource& source) override {
    return real_.compile(source);
  }
  base::Result<std::unique_ptr<device::Buffer>> allocate(std::size_t bytes) override { return real_.allocate(bytes); }
  base::Result<void> upload(device::BufferView to, const void* from, std::size_t bytes) override {
    return real_.upload(to, from, bytes);
  }
  base::Result<void> download(void* to, device::BufferView from, std::size_t bytes) override {
    return real_.download(to, from, bytes);
  }
  base::Result<void> copy(device::BufferView to, device::BufferView from, std::size_t bytes) override {
    return real_.copy(to, from, bytes);
  }
  base::Result<void> fill(device::BufferView to, std::uint8_t byte, std::size_t bytes) override {
    return real_.fill(to, byte, bytes);
  }
  base::Result<void> run(const std::vector<device::Launch>& launches) override { return real_.run(launches); }
  base::Result<void> try_run(const std::vector<device::Launch>& launches, std::int64_t deadline_ns) override {
    return real_.try_run(launches, deadline_ns);
  }
  base::Result<model::Sample> time(const std::vector<device::Launch>& launches,
                                   const device::TimingConditions&) override {
    if (auto ran = real_.run(launches); !ran) return ran.error();
    model::Sample sample;
    sample.device_ns = time_ns_(launches) * (1 + 0.003 * noise_(random_));
    sample.wall_ns = sample.device_ns + 1000;
    sample.clock_mhz = 3000;
    clock_.advance_ns(static_cast<std::int64_t>(sample.wall_ns));
    return sample;
  }
  std::size_t allocated_bytes() const override { return real_.allocated_bytes(); }
  std::vector<std::pair<std::string, double>> count_events(const std::vector<device::Launch>&,
                                                           std::string& reason) override {
    reason = "the device of a test has none";
    return {};
  }

 private:
  device::Device& real_;
  base::ManualClock& clock_;
  std::function<double(const std::vector<device::Launch>&)> time_ns_;
  std::mt19937 random_{7};
  std::normal_distribution<double> noise_;
};

}  // namespace hone::test

// A device whose launches really run and whose times are made up: correctness is real, speed is a function of the launch, so that
// a test of the stages neither waits for a clock nor depends on one.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "device/forwarding.hpp"

namespace hone::test {

class TimedDevice final : public device::ForwardingDevice {
 public:
  // `time_ns`: of one pass, from its launches.
  TimedDevice(device::Device& real, base::ManualClock& clock,
              std::function<double(const std::vector<device::Launch>&)> time_ns)
      : ForwardingDevice(real), clock_(clock), time_ns_(std::move(time_ns)) {}

  base::Result<model::Ceilings> ceilings(const device::CeilingOptions&) override {
    model::Ceilings ceilings;
    for (const char* name : {"copy_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s"})
      ceilings.by_name[name] = {1e13, 1e13, 1e13, 10};
    ceilings.by_name["fma_flops_per_s"] = {1e15, 1e15, 1e15, 10};
    ceilings.notes = {"made up"};
    return ceilings;
  }
  // Nothing of the real machine's memory is measured beside made-up times.
  std::string ceiling_program_version() const override { return ""; }
  base::Result<std::unique_ptr<device::CeilingPrograms>> ceiling_programs(const model::Ceilings&) override {
    return std::unique_ptr<device::CeilingPrograms>();
  }
  base::Result<std::int64_t> measure_cache_size(const device::CeilingOptions&) override { return std::int64_t{0}; }
  void use_cache_size(std::int64_t) override {}
  base::Result<model::Sample> time(const std::vector<device::Launch>& launches,
                                   const device::TimingConditions&) override {
    if (auto ran = device_.run(launches); !ran) return ran.error();
    model::Sample sample;
    sample.device_ns = time_ns_(launches) * (1 + 0.003 * noise_(random_));
    sample.wall_ns = sample.device_ns + 1000;
    sample.clock_mhz = 3000;
    clock_.advance_ns(static_cast<std::int64_t>(sample.wall_ns));
    return sample;
  }
  std::vector<std::pair<std::string, double>> count_events(const std::vector<device::Launch>&,
                                                           std::string& reason) override {
    reason = "the device of a test has none";
    return {};
  }

 private:
  base::ManualClock& clock_;
  std::function<double(const std::vector<device::Launch>&)> time_ns_;
  std::mt19937 random_{7};
  std::normal_distribution<double> noise_;
};

}  // namespace hone::test

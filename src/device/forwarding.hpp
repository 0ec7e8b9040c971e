// A device that hands everything on to another: what changes one of its answers derives from it and overrides that one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "device/device.hpp"

namespace hone::device {

// `device` outlives it.
class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(Device& device) : device_(device) {}

  const model::DeviceInfo& info() const override { return device_.info(); }
  base::Result<model::Ceilings> ceilings(const CeilingOptions& options) override { return device_.ceilings(options); }
  std::string ceiling_program_version() const override { return device_.ceiling_program_version(); }
  base::Result<std::unique_ptr<CeilingPrograms>> ceiling_programs(const model::Ceilings& ceilings) override {
    return device_.ceiling_programs(ceilings);
  }
  base::Result<std::int64_t> measure_cache_size(const CeilingOptions& options) override {
    return device_.measure_cache_size(options);
  }
  void use_cache_size(std::int64_t bytes) override { device_.use_cache_size(bytes); }
  base::Result<std::shared_ptr<Program>> compile(const ProgramSource& source) override {
    return device_.compile(source);
  }
  base::Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override { return device_.allocate(bytes); }
  base::Result<void> upload(BufferView to, const void* from, std::size_t bytes) override {
    return device_.upload(to, from, bytes);
  }
  base::Result<void> download(void* to, BufferView from, std::size_t bytes) override {
    return device_.download(to, from, bytes);
  }
  base::Result<void> copy(BufferView to, BufferView from, std::size_t bytes) override {
    return device_.copy(to, from, bytes);
  }
  base::Result<void> fill(BufferView to, std::uint8_t byte, std::size_t bytes) override {
    return device_.fill(to, byte, bytes);
  }
  base::Result<void> run(const std::vector<Launch>& launches) override { return device_.run(launches); }
  base::Result<void> try_run(const std::vector<Launch>& launches, std::int64_t deadline_ns) override {
    return device_.try_run(launches, deadline_ns);
  }
  base::Result<model::Sample> time(const std::vector<Launch>& launches, const TimingConditions& conditions) override {
    return device_.time(launches, conditions);
  }
  std::size_t allocated_bytes() const override { return device_.allocated_bytes(); }
  std::vector<std::pair<std::string, double>> count_events(const std::vector<Launch>& launches,
                                                           std::string& reason) override {
    return device_.count_events(launches, reason);
  }

 protected:
  Device& device_;
};

}  // namespace hone::device

// A device in front of a real one that writes down what it was asked to run, in order: in isolation, here, or timed.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "device/device.hpp"

namespace hone::test {

class RecordingDevice final : public device::Device {
 public:
  // `marker`: a text whose presence in a program's files says that hone did not write it.
  RecordingDevice(device::Device& real, std::string marker) : real_(real), marker_(std::move(marker)) {}

  // What ran here, or was timed, before it had survived an isolated run with the same extents, numbers and sizes of buffers.
  std::vector<std::string> unprotected;
  int isolated = 0, here = 0;  // launches of marked programs

  const model::DeviceInfo& info() const override { return real_.info(); }
  base::Result<model::Ceilings> ceilings(const device::CeilingOptions& options) override {
    return real_.ceilings(options);
  }
  base::Result<std::shared_ptr<device::Program>> compile(const device::ProgramSource& source) override {
    auto compiled = real_.compile(source);
    if (compiled)
      marked_[compiled->get()] =
          marker_.empty() || std::any_of(source.files.begin(), source.files.end(), [this](const auto& file) {
            return file.second.find(marker_) != std::string::npos;
          });
    if (compiled) programs_.push_back(*compiled);  // an address names one program alone
    return compiled;
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
  base::Result<void> run(const std::vector<device::Launch>& launches) override {
    note_here("run", launches);
    return real_.run(launches);
  }
  base::Result<void> try_run(const std::vector<device::Launch>& launches, std::int64_t deadline_ns) override {
    auto ran = real_.try_run(launches, deadline_ns);
    for (const device::Launch& launch : launches) {
      if (!is_marked(launch)) continue;
      ++isolated;
      if (ran) survived_.push_back(key_of(launch));
    }
    return ran;
  }
  base::Result<model::Sample> time(const std::vector<device::Launch>& launches,
                                   const device::TimingConditions& conditions) override {
    note_here("time", launches);
    return real_.time(launches, conditions);
  }
  std::size_t allocated_bytes() const override { return real_.allocated_bytes(); }
  std::vector<std::pair<std::string, double>> count_events(const std::vector<device::Launch>& launches,
                                                           std::string& reason) override {
    note_here("count", launches);
    return real_.count_events(launches, reason);
  }

 private:
  bool is_marked(const device::Launch& launch) const {
    const auto found = marked_.find(launch.program);
    return found != marked_.end() && found->second;
  }
  static std::string key_of(const device::Launch& launch) {
    std::string key = fmt::format("{} {} {}x{}", static_cast<const void*>(launch.program), launch.entry,
                                  launch.programs, launch.threads);
    for (const device::Argument& argument : launch.arguments)
      if (const auto* view = std::get_if<device::BufferView>(&argument))
        key += fmt::format(" +{}", view->buffer->bytes() - view->offset_bytes);
    return key;
  }
  void note_here(const char* what, const std::vector<device::Launch>& launches) {
    for (const device::Launch& launch : launches) {
      if (!is_marked(launch)) continue;
      ++here;
      const std::string key = key_of(launch);
      if (std::find(survived_.begin(), survived_.end(), key) == survived_.end())
        unprotected.push_back(fmt::format("{} {} of {} programs", what, launch.entry, launch.programs));
    }
  }

  device::Device& real_;
  std::string marker_;
  std::map<const device::Program*, bool> marked_;
  std::vector<std::shared_ptr<device::Program>> programs_;
  std::vector<std::string> survived_;
};

}  // namespace hone::test

// A device that runs text which hone did not write in isolation first: the one way by which the engine reaches a device.
//
// Whoever runs, times or counts a launch here does so on a program that is trusted, or on one that survived the same launch once
// in the device's isolation (Device::try_run). The gates' shapes are small; what a kernel does at a size that is measured, hone's
// process must not meet first: on a CPU it may exit or never end, on a GPU an illegal address costs the context.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "device/forwarding.hpp"

namespace hone::repository::launch {

// Of a first run; only a kernel that hangs gets there.
inline constexpr std::int64_t kTrialDeadlineNs = 60'000'000'000;

class Isolation final : public device::ForwardingDevice {
 public:
  // `is_isolated`: this process stands for the trial itself, and ends with a kernel that faults.
  Isolation(device::Device& device, bool is_isolated) : ForwardingDevice(device), is_isolated_(is_isolated) {}

  // hone wrote the program's text.
  void trust(const device::Program& program);
  // True where every launch may run here: its program is trusted, or it ran in isolation and survived.
  bool admits(const std::vector<device::Launch>& launches) const;

  // The first time in isolation.
  base::Result<void> run(const std::vector<device::Launch>& launches) override;
  // Always in isolation.
  base::Result<void> try_run(const std::vector<device::Launch>& launches, std::int64_t deadline_ns) override;
  // Error (internal) for launches that are not admitted: a first run is no measurement.
  base::Result<model::Sample> time(const std::vector<device::Launch>& launches,
                                   const device::TimingConditions& conditions) override;
  // As time: without events then, and with a reason.
  std::vector<std::pair<std::string, double>> count_events(const std::vector<device::Launch>& launches,
                                                           std::string& reason) override;

 private:
  bool is_isolated_;
  mutable std::mutex mutex_;  // programs are built on several threads
  std::set<const device::Program*> trusted_;
  std::set<std::string> survived_;  // launches, by program, extents, numbers and sizes of buffers
};

}  // namespace hone::repository::launch

// Launches as the measuring protocol runs them: inputs that they overwrite are brought back, then they run once and are timed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "measure/subject.hpp"

namespace hone::repository {

class LaunchSubject final : public measure::Subject {
 public:
  LaunchSubject(std::string name, device::Device& device) : name_(std::move(name)), device_(device) {}

  // Adds launches behind those it has. `restore` runs before every sample; `owned` is what both need, kept alive.
  void add(const std::vector<device::Launch>& launches, std::function<base::Result<void>()> restore,
           std::shared_ptr<void> owned) {
    launches_.insert(launches_.end(), launches.begin(), launches.end());
    restores_.push_back(std::move(restore));
    owned_.push_back(std::move(owned));
  }

  std::string name() const override { return name_; }

  base::Result<model::Sample> sample() override {
    for (const auto& restore : restores_) HONE_PROPAGATE(restore());
    return device_.time(launches_, device::TimingConditions{});
  }

 private:
  std::string name_;
  device::Device& device_;
  std::vector<std::shared_ptr<void>> owned_;
  std::vector<std::function<base::Result<void>()>> restores_;
  std::vector<device::Launch> launches_;
};

}  // namespace hone::repository

// A device on which kernels stop to end: from a given try on, each trial reaches its deadline, and none of it is waited for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/forwarding.hpp"
#include "device/no_end.hpp"

namespace hone::test {

class EndlessDevice final : public device::ForwardingDevice {
 public:
  // `device` compiles and holds memory; without `compiles` every program is an empty one.
  EndlessDevice(device::Device& device, int first_endless_try, bool compiles)
      : ForwardingDevice(device), first_endless_try_(first_endless_try), compiles_(compiles) {}

  base::Result<std::shared_ptr<device::Program>> compile(const device::ProgramSource& source) override {
    if (compiles_) return device_.compile(source);
    return std::shared_ptr<device::Program>(std::make_shared<Empty>());
  }
  base::Result<void> try_run(const std::vector<device::Launch>& launches, std::int64_t deadline_ns) override {
    if (++tries < first_endless_try_) return device_.try_run(launches, deadline_ns);
    return device::no_end("'" + launches.front().entry + "'", deadline_ns, "a test");
  }

  int tries = 0;

 private:
  struct Empty final : device::Program {
    device::ProgramInfo none;
    const device::ProgramInfo& info() const override { return none; }
  };

  int first_endless_try_;
  bool compiles_;
};

}  // namespace hone::test

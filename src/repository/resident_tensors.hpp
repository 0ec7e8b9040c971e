// Memory that the launches of a kernel work on: tensors that stay on a device, and scratch that comes and goes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "measure/inputs.hpp"

namespace hone::repository {

// Where each tensor of a problem begins.
using TensorViews = std::map<std::string, device::BufferView>;

// Scratch of plans that never run at the same time: those of one name and size share their memory while one of them lives, so
// that plans which are timed against each other work at the same addresses.
class ScratchPool {
 public:
  base::Result<std::shared_ptr<device::Buffer>> take(device::Device& device, const std::string& name,
                                                     std::size_t bytes);

 private:
  std::map<std::pair<std::string, std::size_t>, std::weak_ptr<device::Buffer>> buffers_;
};

struct ResidentSpec {
  std::string name;
  std::size_t elements = 0, bytes = 0;
  std::optional<measure::InputSpec> values;  // none: its content is undefined
  bool restorable = false;                   // a pass overwrites it, and the next run needs it as it was
};

class ResidentTensors {
 public:
  // Allocates every tensor and fills those that have values.
  static base::Result<std::unique_ptr<ResidentTensors>> create(device::Device& device,
                                                               const std::vector<ResidentSpec>& specs);
  TensorViews views() const;
  // Takes what a restorable tensor holds now for what restore brings back.
  base::Result<void> keep(const std::string& name);
  base::Result<void> restore(const std::vector<std::string>& names);

 private:
  struct Placed {
    std::unique_ptr<device::Buffer> buffer, backup;
    std::size_t bytes = 0;
  };
  explicit ResidentTensors(device::Device& device) : device_(device) {}
  base::Result<void> place(const ResidentSpec& spec);

  device::Device& device_;
  std::map<std::string, Placed> tensors_;
};

}  // namespace hone::repository

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
#include "repository/launch/operation.hpp"

namespace hone::repository::launch {

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

// True where a tensor has values before forward; the others are what a pass makes.
bool is_given(const Problem& problem, const std::vector<std::string>& passes, const std::string& tensor);
// The values of a tensor that is given.
measure::InputSpec input_of(const TensorSpec& tensor, std::uint64_t seed);

class ResidentTensors {
 public:
  // Allocates every tensor of the problem and fills those that are given with fresh random values of their distribution. What a
  // forward pass leaves for backward is undefined until one ran.
  static base::Result<std::unique_ptr<ResidentTensors>> create(device::Device& device, ProblemPtr problem,
                                                               const std::vector<std::string>& passes,
                                                               std::uint64_t seed);
  static base::Result<double> bytes_of(const Problem& problem, const std::vector<std::string>& passes);

  const Problem& problem() const { return *problem_; }
  TensorViews views() const;
  // Takes what a forward pass left in tensors that backward overwrites for what restore brings back. Once, after the first one.
  base::Result<void> keep_forward();
  // Brings inputs that `pass` overwrites back to what they were.
  base::Result<void> restore(const std::string& pass);

 private:
  struct Placed {
    std::unique_ptr<device::Buffer> buffer, backup;
    std::size_t bytes = 0;
  };
  ResidentTensors(device::Device& device, ProblemPtr problem) : device_(device), problem_(std::move(problem)) {}
  base::Result<void> place(const TensorSpec& tensor, const std::optional<measure::InputSpec>& values, bool restorable);
  base::Result<void> keep(const std::string& name);

  device::Device& device_;
  ProblemPtr problem_;
  std::map<std::string, Placed> tensors_;
};

}  // namespace hone::repository::launch

// The tensors of one problem, resident on a device: inputs filled once, outputs poisoned, overwritten inputs restorable.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "kernels/catalog/operation.hpp"

namespace hone::repository::native {

inline constexpr std::uint8_t kGuardByte = 0xA5;

// A tensor with guard bands on both sides: nothing may touch them.
struct PlacedTensor {
  kernels::TensorSpec spec;
  std::unique_ptr<device::Buffer> buffer;
  std::unique_ptr<device::Buffer> backup;  // of inputs that a pass overwrites
  std::size_t guard_bytes = 0;
  device::BufferView view() const { return {buffer.get(), guard_bytes}; }
};

struct WorkloadOptions {
  std::uint64_t seed = 0;
  std::size_t guard_bytes = 0;  // multiple of 64, or anything for misaligned bases
};

class Workload {
 public:
  // Allocates every tensor of the problem and fills the inputs of its passes. Tensors a forward pass saves are left poisoned
  // until `run forward`; the session does that with the shipped settings.
  static base::Result<std::unique_ptr<Workload>> create(device::Device& device, const kernels::Operation& operation,
                                                        const kernels::Problem& problem, const WorkloadOptions& options);

  const kernels::Operation& operation() const { return operation_; }
  const kernels::Problem& problem() const { return problem_; }
  std::map<std::string, PlacedTensor>& tensors() { return tensors_; }
  std::size_t bytes() const { return bytes_; }

  // Brings inputs that `pass` overwrites back to what they were.
  base::Result<void> restore(kernels::Pass pass);
  // Fills the outputs of `pass` with `byte` (not those that are inputs too).
  base::Result<void> poison(kernels::Pass pass, std::uint8_t byte);
  // The host's copy of an input as it was generated, raw elements with row stride.
  const std::vector<std::uint8_t>& generated(const std::string& tensor) const { return generated_.at(tensor); }
  bool is_generated(const std::string& tensor) const { return generated_.count(tensor) != 0; }

 private:
  Workload(device::Device& device, const kernels::Operation& operation, kernels::Problem problem)
      : device_(device), operation_(operation), problem_(std::move(problem)) {}

  device::Device& device_;
  const kernels::Operation& operation_;
  kernels::Problem problem_;
  std::map<std::string, PlacedTensor> tensors_;
  std::map<std::string, std::vector<std::uint8_t>> generated_;
  std::size_t bytes_ = 0;
};

}  // namespace hone::repository::native

// The tensors of one problem, resident on a device: inputs filled once, overwritten inputs restorable.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "kernels/catalog/operation.hpp"
#include "repository/native/bound_plan.hpp"

namespace hone::repository::native {

class Workload {
 public:
  // Allocates every tensor of the problem and fills the inputs of its passes with fresh random values of their distribution.
  // What a forward pass saves for backward is undefined until a forward pass ran.
  static base::Result<std::unique_ptr<Workload>> create(device::Device& device, const kernels::Operation& operation,
                                                        const kernels::Problem& problem, std::uint64_t seed);

  TensorViews views() const { return tensors_->views(); }
  // Takes what a forward pass left in tensors that backward reads and overwrites for what restore brings back. Once, after the
  // first forward pass.
  base::Result<void> keep_saved();
  // Brings inputs that `pass` overwrites back to what they were.
  base::Result<void> restore(kernels::Pass pass);

 private:
  Workload(const kernels::Operation& operation, kernels::Problem problem)
      : operation_(operation), problem_(std::move(problem)) {}

  const kernels::Operation& operation_;
  kernels::Problem problem_;
  std::unique_ptr<ResidentTensors> tensors_;
};

}  // namespace hone::repository::native

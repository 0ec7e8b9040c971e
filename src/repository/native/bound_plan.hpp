// A plan of the kernel library bound to a device: texts compiled, scratch allocated, arguments resolved to buffers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "kernels/catalog/operation.hpp"
#include "model/variant.hpp"
#include "repository/resident_tensors.hpp"

namespace hone::repository::native {

// The translation unit of a plan: the main file and every embedded text it includes, `edits` taking the place of embedded ones.
// Fails when an edit names a file that is not part of it.
base::Result<device::ProgramSource> program_source(const kernels::Plan& plan, const std::string& name,
                                                   const std::vector<model::SourceEdit>& edits);

// Hash of what is launched apart from machine code: entries, numbers of programs, threads, scalar arguments.
std::string launch_hash(const kernels::Plan& plan);

// Largest number of scratch bytes alive at once when each tensor lives from its first to its last launch.
std::int64_t peak_scratch_bytes(const kernels::Plan& plan);

using TensorViews = repository::TensorViews;

class BoundPlan {
 public:
  // `pool`: where the scratch comes from; without one it is the plan's own.
  static base::Result<std::unique_ptr<BoundPlan>> bind(device::Device& device, const kernels::Plan& plan,
                                                       std::shared_ptr<device::Program> program,
                                                       const TensorViews& tensors, ScratchPool* pool = nullptr);
  const std::vector<device::Launch>& launches() const { return launches_; }
  // Fills the scratch with NaNs, so that what is read before a launch wrote it shows.
  base::Result<void> poison_scratch(device::Device& device);

 private:
  std::shared_ptr<device::Program> program_;
  std::vector<std::shared_ptr<device::Buffer>> scratch_;
  std::vector<device::Launch> launches_;
};

}  // namespace hone::repository::native

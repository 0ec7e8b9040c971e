// A plan bound to a device: scratch allocated, arguments resolved to buffers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "kernels/catalog/plan.hpp"
#include "repository/launch/resident_tensors.hpp"

namespace hone::repository::launch {

// Hash of what is launched apart from machine code: entries, extents, scalar arguments, sizes of scratch.
std::string launch_hash(const kernels::Plan& plan);

// Largest number of scratch bytes alive at once when each tensor lives from its first to its last launch.
std::int64_t peak_scratch_bytes(const kernels::Plan& plan);

// Launches bound to the memory they are given, with what must live as long. `poison`: fills their own scratch with NaNs, so that
// what is read before a launch wrote it shows.
struct BoundLaunches {
  std::vector<device::Launch> launches;
  std::shared_ptr<void> owned;
  std::function<base::Result<void>()> poison;
};

// `pool`: where the scratch comes from; without one it is the plan's own. `device` outlives what is returned.
base::Result<BoundLaunches> bind(device::Device& device, const kernels::Plan& plan,
                                 std::shared_ptr<device::Program> program, const TensorViews& tensors,
                                 ScratchPool* pool = nullptr);

}  // namespace hone::repository::launch

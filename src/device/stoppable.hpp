// A device that a person can stop: once `*stop` is true, whatever compiles or runs something is an error of kind interrupted
// before it starts. Everything that runs kernels goes through the device, so that measurements, gates and experiments end with
// their next run and know nothing of signals.
#pragma once

#include <atomic>
#include <memory>

#include "device/device.hpp"

namespace hone::device {

// `stop` outlives the device.
std::unique_ptr<Device> stoppable(std::unique_ptr<Device> device, const std::atomic<bool>* stop);

// The error of a stop; `what` was not begun.
base::Error stopped(const std::string& what);

}  // namespace hone::device

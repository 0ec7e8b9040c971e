// The one error of a run that passed its deadline. Callers tell it from a crash, because a run without end costs its whole
// deadline every time it is tried.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace hone::device {

// Of kind gate. `what`: "'rms_norm_forward'"; `where`: the device.
base::Error no_end(const std::string& what, std::int64_t deadline_ns, const std::string& where);

bool is_no_end(const base::Error& error);

}  // namespace hone::device

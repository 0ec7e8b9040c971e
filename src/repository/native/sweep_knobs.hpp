// Which knobs the parameter sweep varies together; the others are variants of their own, one change each.
#pragma once

#include "kernels/catalog/operation.hpp"

namespace hone::repository::native {

bool is_swept(const kernels::Knob& knob);

}  // namespace hone::repository::native

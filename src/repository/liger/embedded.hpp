// The files that the build embeds for a checkout: the description of its operators, and the runner of its benchmark scripts.
#pragma once

#include <string>
#include <vector>

#include "repository/python/scripts.hpp"

namespace hone::repository::liger {

const std::vector<python::Script>& embedded();

}  // namespace hone::repository::liger

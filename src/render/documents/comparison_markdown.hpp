// comparison.md: every variant that was tried, rejected ones too, and why the winner won.
#pragma once

#include <string>

#include "model/variant.hpp"

namespace hone::render {

std::string comparison_markdown(const model::ComparisonDocument& comparison);

}  // namespace hone::render

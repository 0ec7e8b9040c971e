// report.md: nine sections, what was applied or reverted first.
#pragma once

#include <string>

#include "model/report.hpp"

namespace hone::render {

std::string report_markdown(const model::Report& report);

}  // namespace hone::render

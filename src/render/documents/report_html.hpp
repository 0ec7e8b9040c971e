// report.html: the report as one file that needs nothing else: style and plots are inside, nothing is fetched, no script runs.
#pragma once

#include <string>

#include "model/report.hpp"

namespace hone::render {

// The same nine sections as report.md, light or dark as the reader's system is.
std::string report_html(const model::Report& report);

}  // namespace hone::render

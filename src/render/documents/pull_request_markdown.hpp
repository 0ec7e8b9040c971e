// pr.md: what a reviewer of the change needs, ready to be pasted into a pull request.
#pragma once

#include <string>

#include "model/report.hpp"

namespace hone::render {

// The first line is the title. For a report that was not applied it says so, and asks for nothing to be merged.
std::string pull_request_markdown(const model::Report& report);

}  // namespace hone::render

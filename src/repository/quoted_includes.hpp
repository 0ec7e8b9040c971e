// The quoted includes of a C++ text: what a translation unit takes from beside it.
#pragma once

#include <string>
#include <vector>

namespace hone::repository {

// Names as written, in order; a line that some condition leaves out is among them.
std::vector<std::string> quoted_includes(const std::string& text);

}  // namespace hone::repository

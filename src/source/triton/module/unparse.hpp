// An expression written the one way Python's own unparser writes it: single quotes, no comments, one space around
// operators, parentheses only where the grammar needs them.
#pragma once

#include <string>

#include "source/syntax/tree.hpp"

namespace hone::source {

std::string unparse(Node expression);

}  // namespace hone::source

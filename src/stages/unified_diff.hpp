// The difference of two texts in the unified format, as reviewers and `patch` read it.
#pragma once

#include <string>

namespace hone::stages {

// Empty when the texts are equal. Lines are compared whole; a missing last newline is marked. Shortest edit script by
// E. Myers, An O(ND) Difference Algorithm, 1986; texts that differ in more than 4000 lines are shown as one replacement.
std::string unified_diff(const std::string& before, const std::string& after, const std::string& before_name,
                         const std::string& after_name);

}  // namespace hone::stages

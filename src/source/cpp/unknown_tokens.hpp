// CUDA tokens that the grammar does not know, taken out of its way without moving anything.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hone::source {

// The text with what the grammar does not know overwritten by as many spaces, so that offsets stay:
// __cluster_dims__(..), __grid_constant__, alignment and other attributes, `__device__` on lambdas. Comments and
// literals stay as they are.
std::string with_unknown_tokens_blanked(const std::string& text);

// The arguments of each __cluster_dims__(..) with the line it stands on.
using ClusterDimensions = std::vector<std::pair<int, std::vector<std::string>>>;
ClusterDimensions cluster_dimensions(const std::string& text);

}  // namespace hone::source

// Which passes and cells a request is about: what may change, what decides, what is only guarded.
#pragma once

#include <string>
#include <vector>

#include "model/profile.hpp"
#include "repository/cell.hpp"
#include "repository/described.hpp"

namespace hone::stages {

// The passes that may change: forward and backward as the kernel has them, or the one of the scope. `full` is no pass.
std::vector<std::string> passes_in_scope(const std::vector<std::string>& modes, const std::string& scope);
// The mode whose regression at any size is never accepted: the scope's own, or `full` where both passes are in scope.
std::string target_mode(const std::vector<std::string>& modes, const std::string& scope);
// All cells of the session: sizes x modes.
std::vector<repository::Cell> all_cells(const repository::Described& session);
// The size that stands for all in one line of a table: the largest of the profile.
std::string representative_size(const model::Profile& profile, const std::vector<std::string>& sizes);

}  // namespace hone::stages

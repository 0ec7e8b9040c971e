#include "stages/trial/scope.hpp"

#include <algorithm>

namespace hone::stages {

std::vector<std::string> passes_in_scope(const std::vector<std::string>& modes, const std::string& scope) {
  std::vector<std::string> passes;
  for (const std::string& mode : modes) {
    if (mode != "full" && (scope == "general" || scope.empty() || scope == mode)) passes.push_back(mode);
  }
  return passes;
}

std::string target_mode(const std::vector<std::string>& modes, const std::string& scope) {
  const std::vector<std::string> passes = passes_in_scope(modes, scope);
  if (passes.size() > 1 && std::find(modes.begin(), modes.end(), "full") != modes.end()) return "full";
  return passes.empty() ? (modes.empty() ? "" : modes.front()) : passes.front();
}

std::vector<repository::Cell> all_cells(const repository::Described& session) {
  std::vector<repository::Cell> cells;
  for (const std::string& x_value : session.sizes()) {
    for (const std::string& mode : session.modes()) cells.push_back({x_value, mode});
  }
  return cells;
}

std::string representative_size(const model::Profile& profile, const std::vector<std::string>& sizes) {
  const std::string& largest = profile.baseline.observations.largest_x_value;
  if (std::find(sizes.begin(), sizes.end(), largest) != sizes.end()) return largest;
  return sizes.empty() ? "" : sizes.back();
}

}  // namespace hone::stages

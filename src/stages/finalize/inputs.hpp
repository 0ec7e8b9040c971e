// What finalize needs from the workspace, checked as a whole: it stops with the list of everything that is missing.
#pragma once

#include <string>
#include <vector>

#include "model/profile.hpp"
#include "model/variant.hpp"
#include "repository/described.hpp"
#include "stages/workspace.hpp"

namespace hone::stages {

struct FinalizeInputs {
  model::Profile profile;
  model::ComparisonDocument comparison;
  std::string chosen;                    // "v3", or "v0"
  std::vector<model::Variant> variants;  // the chosen one first, then the next best accepted ones: what to fall back to
};

// `wanted`: "3", "v3", or empty for the winner. At most two variants to fall back to.
base::Result<FinalizeInputs> load_inputs(const repository::Described& session, const Workspace& workspace,
                                         const std::string& wanted);

}  // namespace hone::stages

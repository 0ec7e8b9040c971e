// What each command keeps in the history of its workspace. A history that can not be written costs a note, never a result.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "history/history.hpp"
#include "model/profile.hpp"
#include "model/report.hpp"
#include "model/variant.hpp"

namespace hone::cli {

// The database of a workspace's root.
std::string history_path(const std::string& workspace_root);

// The head of a run whose kernel, device and request are those of `profile`.
history::Run run_of(const model::Profile& profile, const std::string& stage, const std::string& created,
                    const std::string& command);

std::vector<history::Measurement> measurements_of(const model::Profile& profile);
std::vector<history::Measurement> measurements_of(const model::ComparisonDocument& comparison,
                                                  const std::string& x_name);
std::vector<history::Measurement> measurements_of(const model::Report& report);

// Adds the run to the history below `workspace_root`, which is made where it is missing; what stands against it is one line on
// context.notes.
void keep(const CommandContext& context, const std::string& workspace_root, const history::Run& run,
          const std::vector<history::Measurement>& measurements);

}  // namespace hone::cli

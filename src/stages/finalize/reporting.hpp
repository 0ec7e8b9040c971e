// Fills a report from what finalize knows; decides nothing.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "model/report.hpp"
#include "repository/changeable.hpp"
#include "repository/judged.hpp"
#include "stages/finalize/finalize.hpp"
#include "stages/finalize/inputs.hpp"
#include "stages/finalize/install.hpp"

namespace hone::stages {

model::Report start_report(base::Clock& clock, const FinalizeInputs& inputs, const FinalizeOptions& options);
model::GateCount count_of(const std::string& name, const std::string& variant, const repository::GateResult& result);
std::string diff_of(const std::vector<repository::FileChange>& changes);
// Commands that put the old files back.
std::vector<std::string> revert_commands(const Workspace& workspace, const Installation& installation);
// `swept`: the strategies whose knobs the parameter sweep has.
std::vector<std::string> recommendations_for(const model::Report& report, const std::vector<std::string>& warnings,
                                             const std::vector<std::string>& swept);

}  // namespace hone::stages

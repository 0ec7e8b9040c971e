// The three stages as functions of a command, so that `hone run` is their sequence.
#pragma once

#include "cli/command.hpp"
#include "cli/stage_context.hpp"

namespace hone::cli {

// What a stage left behind for the next: go on, or end with this exit code.
struct StageEnd {
  bool go_on = false;
  int code = 0;
};

// `last`: nothing follows in this command, so the next command to type is printed.
StageEnd profile_stage(const CommandContext& context, StageContext& stage, bool last);
StageEnd optimize_stage(const CommandContext& context, StageContext& stage, bool last);
StageEnd finalize_stage(const CommandContext& context, StageContext& stage);

}  // namespace hone::cli

// hone profile KERNEL
#include "cli/commands/stage_commands.hpp"
#include "stages/profile/profile.hpp"

namespace hone::cli {

StageEnd profile_stage(const CommandContext& context, StageContext& stage, bool last) {
  // Only a workspace that stands can hold an unverified installation; a new one is made when everything else is in order.
  if (context.machine.files.exists(base::join(context.meant.workspace, context.meant.request.kernel)))
    if (auto workspace = open_workspace(context, stage.ports()); !workspace) return {false, fail(context, workspace.error())};
  auto opened = open_repository(context.machine, context.meant);
  if (!opened) return {false, fail(context, opened.error())};
  stages::ProfileOptions options;
  options.workspace_root = context.meant.workspace;
  options.command = context.meant.command_line;
  options.autonomous = context.meant.autonomous;
  options.next_command = "hone optimize " + context.meant.request.kernel + carried_flags(context);
  auto outcome = stages::profile(*opened->repository, context.meant.request, options, stage.ports());
  stage.progress().finish();
  if (!outcome) return {false, fail(context, outcome.error())};
  if (context.meant.talk.json && last) {
    context.out << model::to_json(outcome->profile) << "\n";
    return {false, 0};
  }
  std::ostream& people = context.meant.talk.json ? context.err : context.out;
  people << render::profile_summary(outcome->profile, render::Style{context.meant.talk.color}) << "profile   " << outcome->folder << "/profile.md\n";
  const bool accepted = outcome->decision.choice == stages::Choice::accept && !outcome->decision.ended;
  if (last || outcome->decision.ended) people << "next      " << options.next_command << "\n";
  return {accepted, 0};
}

int run_profile(const CommandContext& context) {
  StageContext stage(context);
  return profile_stage(context, stage, true).code;
}

}  // namespace hone::cli

// hone finalize KERNEL, and hone run KERNEL, which is all three stages in a row.
#include "cli/commands/stage_commands.hpp"
#include "cli/commit.hpp"
#include "cli/early_checks.hpp"
#include "cli/history_records.hpp"
#include "cli/suggested_commands.hpp"
#include "stages/finalize/finalize.hpp"

namespace hone::cli {

StageEnd finalize_stage(const CommandContext& context, StageContext& stage) {
  stage.begin(context, "finalize", "3/3");
  const bool push = context.typed.has("--push"), commit = push || context.typed.has("--commit");
  auto workspace = open_workspace(context, stage.ports());
  if (!workspace) return {false, fail(context, workspace.error())};
  auto profile = workspace->load_profile();
  if (!profile) return {false, fail(context, profile.error())};
  if (auto agreed = check_flags(context.typed, context.meant.request, profile->request); !agreed)
    return {false, fail(context, agreed.error())};
  auto opened = open_repository(context.machine, context.meant);
  if (!opened) return {false, fail(context, opened.error())};
  auto session = opened->repository->open(profile->request);
  if (!session) return {false, fail(context, session.error())};

  stages::FinalizeOptions options;
  options.variant = context.meant.variant;
  options.autonomous = context.meant.autonomous;
  options.seed = profile->request.seed;
  options.command = context.meant.command_line;
  options.optimize_command = suggested(context.typed, "optimize", context.meant.request.kernel);
  auto outcome = stages::finalize(stages::Kernel::of(**session), options, *workspace, stage.ports());
  stage.progress().finish();
  if (!outcome) return {false, fail(context, outcome.error())};
  history::Run run = run_of(*profile, "finalize", outcome->report.created, context.meant.command_line);
  run.source_hash = (*session)->source_hash();             // production as it is now
  if (outcome->ending != stages::Ending::already_applied)  // nothing was measured then
    keep(context, context.meant.workspace, run, measurements_of(outcome->report));
  const int code = outcome->gate_failed                              ? base::exit_code(base::ErrorKind::gate)
                   : outcome->ending == stages::Ending::inconclusive ? base::exit_code(base::ErrorKind::untrusted)
                                                                     : 0;
  std::string committed;
  if (commit && outcome->ending == stages::Ending::applied) {
    const std::string description = context.machine.files.absolute(workspace->at("pr.md"));
    auto made = commit_change(context.machine.lasting, outcome->report,
                              {repository_folder(context.machine, context.meant), push, description});
    if (!made) return {false, fail(context, made.error())};
    committed = *made;
  }
  if (context.meant.talk.json) {
    context.out << model::to_json(outcome->report) << "\n";
    return {false, code};
  }
  if (!committed.empty()) context.out << "commit    " << committed << "\n";
  return {true, code};
}

int run_finalize(const CommandContext& context) {
  if (auto right = check_flags_alone(context); !right) return fail(context, right.error());
  StageContext stage(context);
  if (auto claimed = stage.claim_workspace(context); !claimed) return fail(context, claimed.error());
  return finalize_stage(context, stage).code;
}

int run_all(const CommandContext& context) {
  if (auto right = check_flags_alone(context); !right) return fail(context, right.error());
  StageContext stage(context);
  if (auto claimed = stage.claim_workspace(context); !claimed) return fail(context, claimed.error());
  if (StageEnd end = profile_stage(context, stage, false); !end.go_on) return end.code;
  if (StageEnd end = optimize_stage(context, stage, false); !end.go_on) return end.code;
  return finalize_stage(context, stage).code;
}

}  // namespace hone::cli

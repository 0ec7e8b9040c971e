// hone profile KERNEL
#include "cli/commands/stage_commands.hpp"
#include "cli/early_checks.hpp"
#include "cli/history_records.hpp"
#include "cli/suggested_commands.hpp"
#include "stages/profile/profile.hpp"
#include "stages/unfinished.hpp"

namespace hone::cli {

namespace {

base::Error nobody_to_ask(bool json) {
  return {base::ErrorKind::usage, "a terminal, to ask after each stage, or --autonomous",
          json ? "--json, with which nobody is asked" : "no terminal and no --autonomous", "command line",
          "add --autonomous to accept at every checkpoint; or give the stages one by one, each ends by itself: "
          "hone profile, hone optimize, hone finalize"};
}

}  // namespace

StageEnd profile_stage(const CommandContext& context, StageContext& stage, bool last) {
  // Only a workspace that stands can hold an unverified installation; a new one is made when everything else is in order.
  std::optional<stages::Workspace> earlier;
  bool recovered = false;
  if (context.machine.files.exists(base::join(context.meant.workspace, context.meant.request.kernel))) {
    auto workspace = open_workspace(context, stage.ports(), &recovered);
    if (!workspace) return {false, fail(context, workspace.error())};
    earlier = std::move(*workspace);
  }
  auto opened = open_repository(context.machine, context.meant);
  if (!opened) return {false, fail(context, opened.error())};
  std::ostream& people = context.people();
  const render::Style& style = context.style();
  if (!last) {
    // What is wrong with the request or with a later stage's is said before this one measures.
    auto session = opened->repository->open(context.meant.request);
    if (!session) return {false, fail(context, session.error())};
    if (auto right = check_against(context, **session); !right) return {false, fail(context, right.error())};
    if (!context.meant.autonomous && !context.meant.talk.interactive)
      return {false, fail(context, nobody_to_ask(context.meant.talk.json))};
    const bool resumes = earlier && !context.meant.fresh;
    if (const auto profile = resumes ? stages::unfinished_run(**session, context.meant.request, *earlier, recovered)
                                     : std::nullopt) {
      stage.ports().progress.message("going on with the profile of " + profile->created +
                                     ", whose run was stopped before its report; --fresh measures anew");
      people << render::profile_summary(*profile, style);
      return {true, 0};
    }
  }
  stages::ProfileOptions options;
  options.workspace_root = context.meant.workspace;
  options.command = context.meant.command_line;
  options.autonomous = context.meant.autonomous;
  options.next_command = suggested(context.typed, "optimize", context.meant.request.kernel);
  auto outcome = stages::profile(*opened->repository, context.meant.request, options, stage.ports());
  stage.progress().finish();
  if (!outcome) return {false, fail(context, outcome.error())};
  keep(context, context.meant.workspace,
       run_of(outcome->profile, "profile", outcome->profile.created, context.meant.command_line),
       measurements_of(outcome->profile));
  if (context.meant.talk.json && last) {
    context.out << model::to_json(outcome->profile) << "\n";
    return {false, 0};
  }
  people << render::profile_summary(outcome->profile, style) << "profile   " << outcome->folder << "/profile.md\n";
  if (!outcome->unmeasurable.empty()) {
    // A run of all stages was asked for more than there is here; a profile from source is all that a profile can be.
    people << "next      nothing here: optimize needs a machine where the kernel can be run and timed ("
           << outcome->unmeasurable << ")\n";
    return {false, last ? 0 : base::exit_code(base::ErrorKind::preflight)};
  }
  const bool accepted = outcome->decision.choice == stages::Choice::accept && !outcome->decision.ended;
  if (last || outcome->decision.ended) people << "next      " << options.next_command << "\n";
  return {accepted, interrupted() ? base::exit_code(base::ErrorKind::interrupted) : 0};
}

int run_profile(const CommandContext& context) {
  StageContext stage(context);
  if (auto claimed = stage.claim_workspace(context); !claimed) return fail(context, claimed.error());
  return profile_stage(context, stage, true).code;
}

}  // namespace hone::cli

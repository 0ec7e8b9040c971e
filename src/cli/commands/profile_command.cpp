// hone profile KERNEL
#include "cli/commands/stage_commands.hpp"
#include "cli/early_checks.hpp"
#include "cli/history_records.hpp"
#include "cli/suggested_commands.hpp"
#include "stages/plan.hpp"
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

StageEnd end_of(const CommandContext& context, const stages::Decision& decision, const stages::Asking& asking) {
  const bool goes_on = decision.choice == stages::Choice::accept && !decision.ended && !asking.alone;
  if (!goes_on) context.people() << "next      " << asking.next_command << "\n";
  return {goes_on, interrupted() ? base::exit_code(base::ErrorKind::interrupted) : 0};
}

}  // namespace

StageEnd profile_stage(const CommandContext& context, StageContext& stage, bool last) {
  stage.begin(context, "profile", "1/3");
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
  const stages::Asking asking{context.meant.autonomous, last,
                              suggested(context.typed, "optimize", context.meant.request.kernel)};
  if (!last) {
    // What is wrong with the request or with a later stage's is said before this one measures.
    auto session = opened->repository->open(context.meant.request);
    if (!session) return {false, fail(context, session.error())};
    if (auto right = check_against(context, **session); !right) return {false, fail(context, right.error())};
    if (!context.meant.autonomous && !context.meant.talk.interactive)
      return {false, fail(context, nobody_to_ask(context.meant.talk.json))};
    const bool resumes = earlier && !context.meant.fresh;
    if (auto profile =
            resumes ? stages::unfinished_run(**session, context.meant.request, *earlier, recovered) : std::nullopt) {
      stage.ports().progress.message("going on with the profile of " + profile->created +
                                     ", whose run was stopped before its report; --fresh measures anew");
      stage.ports().documents.show_profile(*earlier, *profile);
      auto decision = stages::confirm_plan(*profile, *earlier, stage.ports(), context.machine.clock, asking);
      if (!decision) return {false, fail(context, decision.error())};
      return end_of(context, *decision, asking);
    }
  }
  // What is wrong with the request is said before anything is measured.
  if (auto session = opened->repository->open(context.meant.request); !session)
    return {false, fail(context, session.error())};
  if (auto learned = learn_cache_size(*opened); !learned) return {false, fail(context, learned.error())};
  auto session = opened->repository->open(context.meant.request);
  if (!session) return {false, fail(context, session.error())};
  stages::ProfileOptions options;
  options.workspace_root = context.meant.workspace;
  options.command = context.meant.command_line;
  static_cast<stages::Asking&>(options) = asking;
  auto outcome = stages::profile(**session, **session, **session, opened->repository->preflight(context.meant.request),
                                 context.meant.request, options, stage.ports());
  stage.progress().finish();
  if (!outcome) return {false, fail(context, outcome.error())};
  keep(context, context.meant.workspace,
       run_of(outcome->profile, "profile", outcome->profile.created, context.meant.command_line),
       measurements_of(outcome->profile));
  if (context.meant.talk.json && last) {
    context.out << model::to_json(outcome->profile) << "\n";
    return {false, 0};
  }
  if (!outcome->unmeasurable.empty()) {
    // A run of all stages was asked for more than there is here; a profile from source is all that a profile can be.
    context.people() << "next      nothing here: optimize needs a machine where the kernel can be run and timed ("
                     << outcome->unmeasurable << ")\n";
    return {false, last ? 0 : base::exit_code(base::ErrorKind::preflight)};
  }
  return end_of(context, outcome->decision, asking);
}

int run_profile(const CommandContext& context) {
  StageContext stage(context);
  if (auto claimed = stage.claim_workspace(context); !claimed) return fail(context, claimed.error());
  return profile_stage(context, stage, true).code;
}

}  // namespace hone::cli

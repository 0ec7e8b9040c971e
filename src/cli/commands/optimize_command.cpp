// hone optimize KERNEL
#include <algorithm>
#include <thread>

#include "cli/commands/stage_commands.hpp"
#include "cli/early_checks.hpp"
#include "cli/history_records.hpp"
#include "cli/suggested_commands.hpp"
#include "stages/optimize/optimize.hpp"

namespace hone::cli {

StageEnd optimize_stage(const CommandContext& context, StageContext& stage, bool last) {
  stage.begin(context, "optimize", "2/3");
  auto workspace = open_workspace(context, stage.ports());
  if (!workspace) return {false, fail(context, workspace.error())};
  auto profile = workspace->load_profile();
  if (!profile) return {false, fail(context, profile.error())};
  if (auto agreed = check_flags(context.typed, context.meant.request, profile->request); !agreed)
    return {false, fail(context, agreed.error())};
  auto opened = open_repository(context.machine, context.meant);
  if (!opened) return {false, fail(context, opened.error())};
  auto session = opened->repository->open(profile->request);  // the same sizes, dtype and options as the profile's
  if (!session) return {false, fail(context, session.error())};
  if (auto right = check_against(context, **session); !right) return {false, fail(context, right.error())};

  stages::OptimizeOptions options;
  options.max_variants = context.meant.max_variants;
  options.target_metric = context.meant.target_metric;
  options.proposer = context.meant.proposer;
  options.seed = profile->request.seed;
  // Compilers run beside each other, never beside a measurement.
  constexpr unsigned kMostBuildThreads = 32;
  options.build_threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, kMostBuildThreads));
  options.command = context.meant.command_line;
  options.autonomous = context.meant.autonomous;
  options.alone = last;
  options.next_command = suggested(context.typed, "finalize", context.meant.request.kernel);
  auto outcome = stages::optimize(stages::Kernel::of(**session), *profile, options, *workspace, stage.ports());
  stage.progress().finish();
  if (!outcome) return {false, fail(context, outcome.error())};
  keep(context, context.meant.workspace,
       run_of(*profile, "optimize", outcome->comparison.created, context.meant.command_line),
       measurements_of(outcome->comparison, profile->baseline.x_name));
  if (context.meant.talk.json && last) {
    context.out << model::to_json(outcome->comparison) << "\n";
    return {false, 0};
  }
  const bool goes_on = outcome->decision.choice != stages::Choice::stop && !outcome->decision.ended && !last;
  if (!goes_on) context.people() << "next        " << options.next_command << "\n";
  return {goes_on, interrupted() ? base::exit_code(base::ErrorKind::interrupted) : 0};
}

int run_optimize(const CommandContext& context) {
  if (auto right = check_flags_alone(context); !right) return fail(context, right.error());
  StageContext stage(context);
  if (auto claimed = stage.claim_workspace(context); !claimed) return fail(context, claimed.error());
  return optimize_stage(context, stage, true).code;
}

}  // namespace hone::cli

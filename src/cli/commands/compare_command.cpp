// hone compare A B: both name a variant of one kernel's workspace, "optimization/rms_norm/v1" or a variant file there.
#include <ostream>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/stage_context.hpp"
#include "stages/compare/compare.hpp"

namespace hone::cli {

namespace {

struct Operand {
  std::string root, kernel, variant;  // variant: "vN", or the path of a variant file
};

base::Result<Operand> operand(const CommandContext& context, const std::string& text) {
  const std::string folder = base::parent(text), name = base::file_name(text);
  if (text.find('/') == std::string::npos)
    return base::Error{base::ErrorKind::usage, "a variant named with its kernel's folder", "'" + text + "'",
                       "hone compare", "write it as " + context.meant.workspace + "/KERNEL/v1"};
  Operand made;
  made.kernel = base::file_name(folder);
  made.root = folder == made.kernel ? context.meant.workspace : base::parent(folder);
  const bool number = name.size() > 1 && name[0] == 'v' && name.find_first_not_of("0123456789", 1) == std::string::npos;
  made.variant = number ? name : text;
  return made;
}

}  // namespace

int run_compare(const CommandContext& context) {
  auto a = operand(context, context.typed.arguments[0]), b = operand(context, context.typed.arguments[1]);
  if (!a) return fail(context, a.error());
  if (!b) return fail(context, b.error());
  if (a->kernel != b->kernel || a->root != b->root)
    return fail(context, {base::ErrorKind::usage, "two variants of one kernel's workspace",
                          a->root + "/" + a->kernel + " and " + b->root + "/" + b->kernel, "hone compare",
                          "compare variants of one kernel"});
  Meant meant = context.meant;
  meant.request.kernel = a->kernel;
  meant.workspace = a->root;
  const CommandContext with_kernel{context.typed, meant, context.machine, context.out, context.err};
  StageContext stage(with_kernel);
  // Also for reading: opening a workspace takes back an installation that looks unverified, as that of a run at work does.
  if (auto claimed = stage.claim_workspace(with_kernel); !claimed) return fail(context, claimed.error());
  auto workspace = open_workspace(with_kernel, stage.ports());
  if (!workspace) return fail(context, workspace.error());
  auto profile = workspace->load_profile();
  if (!profile) return fail(context, profile.error());
  auto opened = open_repository(context.machine, meant);
  if (!opened) return fail(context, opened.error());
  model::Request request = profile->request;
  if (context.typed.has("--sizes")) request.sizes = meant.request.sizes;
  auto session = opened->repository->open(request);
  if (!session) return fail(context, session.error());

  stages::CompareRequest asked;
  asked.baseline = a->variant;
  asked.candidate = b->variant;
  asked.budget.min_samples = 20;
  asked.budget.max_samples = meant.request.quick ? 30 : 80;
  asked.budget.max_ns = 10'000'000'000;
  asked.seed = meant.request.seed;
  asked.command = meant.command_line;
  auto outcome = stages::compare(**session, *profile, asked, *workspace, stage.ports());
  stage.progress().finish();
  if (!outcome) return fail(context, outcome.error());
  if (meant.talk.json) {
    context.out << stages::to_json(*outcome) << "\n";
    return 0;
  }
  context.out << fmt::format(
      "{}: {} against {} on {} (ratio = time of {} over time of {})\n\n{:>12}  {:<10}{:>8}{:>20}  {}\n",
      outcome->kernel, outcome->candidate, outcome->baseline, outcome->device, outcome->candidate, outcome->baseline,
      (*session)->x_name(), "mode", "ratio", "interval", "verdict");
  for (const stages::ComparedCell& each : outcome->cells)
    context.out << fmt::format(
        "{:>12}  {:<10}{:>8.4f}{:>20}  {}{}\n", each.cell.x_value, each.cell.mode, each.comparison.ratio,
        fmt::format("{:.4f} to {:.4f}", each.comparison.ci_low, each.comparison.ci_high),
        model::word(each.comparison.verdict),
        each.comparison.verdict == model::Verdict::unresolved ? ": " + each.comparison.reason : "");
  return 0;
}

}  // namespace hone::cli

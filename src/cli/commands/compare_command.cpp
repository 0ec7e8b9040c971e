// hone compare A B: two forms of one profiled kernel, each a variant of its workspace, a file, or a commit of a checkout.
#include <ostream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/history_records.hpp"
#include "cli/stage_context.hpp"
#include "model/speedup.hpp"
#include "render/table.hpp"
#include "stages/compare/compare.hpp"

namespace hone::cli {

namespace {

struct Operand {
  std::string root, kernel, variant;  // variant: "vN", a path, or the name of a text
  std::string text;                   // the main source at a commit
};

bool is_variant(const std::string& name) {
  return name.size() > 1 && name[0] == 'v' && name.find_first_not_of("0123456789", 1) == std::string::npos;
}

base::Result<std::string> git(const CommandContext& context, std::vector<std::string> words) {
  base::Command command;
  command.arguments = {"git", "-C", repository_folder(context.machine, context.meant)};
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  HONE_TRY(outcome, context.machine.processes.run(command));
  if (outcome->exit_status == 0 && !outcome->timed_out) return outcome->output;
  return base::Error{base::ErrorKind::usage, "a commit of the repository, a variant or a file",
                     base::trim(outcome->error), context.meant.repository_directory,
                     "'git log --oneline' there shows the commits"};
}

// The operation's file at a commit. Only that text is of the commit; what it imports is as it stands now.
base::Result<Operand> operand_at_commit(const CommandContext& context, const std::string& name,
                                        const std::string& kernel) {
  if (context.meant.repository_directory.empty())
    return base::Error{
        base::ErrorKind::usage, "a variant (FOLDER/vN, or vN with --kernel) or a file", "'" + name + "'",
        "hone compare",
        "commits are those of a checkout, named with --repo; the built-in kernels of another commit are in "
        "the hone built from it: give its text as a file, git show COMMIT:kernels/NAME/NAME.hpp > old.hpp"};
  auto commit = git(context, {"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"});
  if (!commit)
    return base::Error{commit.error().kind, "a commit of the repository, a variant or a file", "'" + name + "'",
                       context.meant.repository_directory, "'git log --oneline' there shows the commits"};
  Meant meant = context.meant;
  meant.request.kernel = kernel;
  HONE_TRY(opened, open_repository(context.machine, meant));
  HONE_TRY(session, opened->repository->open(meant.request));
  // Below the folder that git is asked in; a manifest's source is named from the root of the file system.
  std::string folder = repository_folder(context.machine, meant);
  if (folder.back() != '/') folder += '/';
  std::string path = (*session)->identity().source_file.path;
  if (base::starts_with(path, folder)) path = path.substr(folder.size());
  HONE_TRY(text, git(context, {"show", base::trim(*commit) + ":./" + path}));
  return Operand{meant.workspace, kernel, name, *text};
}

base::Result<Operand> operand(const CommandContext& context, const std::string& text, const std::string& kernel) {
  const std::string folder = base::parent(text), name = base::file_name(text);
  const bool bare = text.find('/') == std::string::npos, file = !is_variant(name) && context.machine.files.exists(text);
  if (!kernel.empty() && (bare || file)) {
    if (is_variant(text) || file) return Operand{context.meant.workspace, kernel, text, ""};
    return operand_at_commit(context, text, kernel);
  }
  if (bare)
    return base::Error{base::ErrorKind::usage, "a variant named with its kernel's folder, or --kernel",
                       "'" + text + "'", "hone compare",
                       "write it as " + context.meant.workspace + "/KERNEL/v1, or add --kernel KERNEL"};
  Operand made;
  made.kernel = base::file_name(folder);
  made.root = folder == made.kernel ? context.meant.workspace : base::parent(folder);
  made.variant = is_variant(name) ? name : text;
  return made;
}

void keep_cells(const CommandContext& context, const std::string& root, const repository::Described& session,
                const model::Profile& profile, const stages::CompareOutcome& outcome) {
  std::vector<history::Measurement> kept;
  for (const stages::ComparedCell& each : outcome.cells)
    for (const auto& [name, value] : {std::pair{outcome.baseline, each.comparison.baseline_ms},
                                      std::pair{outcome.candidate, each.comparison.candidate_ms}})
      if (value.p50 > 0)
        kept.push_back({session.x_name(), each.cell.x_value, each.cell.mode, name, history::Role::variant, "speed",
                        "ms", value.p20, value.p50, value.p80, value.samples});
  history::Run run = run_of(profile, "compare", context.machine.clock.utc(), context.meant.command_line);
  run.session = run.created;  // a measurement of its own, however old the profile is that names its sizes
  keep(context, root, run, kept);
}

std::string verdict_text(const model::Comparison& comparison) {
  switch (comparison.verdict) {
    case model::Verdict::faster:
    case model::Verdict::slower: return model::speed_change(comparison.ratio);
    case model::Verdict::same: return "no change shown";
    case model::Verdict::unresolved: return "unresolved: " + comparison.reason;
  }
  return "";
}

}  // namespace

int run_compare(const CommandContext& context) {
  std::string kernel = context.typed.text("--kernel");
  if (kernel.empty() && context.typed.has("--repo"))
    if (auto only = only_kernel(context.machine, context.meant)) kernel = *only;
  auto a = operand(context, context.typed.arguments[0], kernel),
       b = operand(context, context.typed.arguments[1], kernel);
  if (!a) return fail(context, a.error());
  if (!b) return fail(context, b.error());
  if (a->kernel != b->kernel || a->root != b->root)
    return fail(context, {base::ErrorKind::usage, "two forms of one kernel, of one workspace",
                          a->root + "/" + a->kernel + " and " + b->root + "/" + b->kernel, "hone compare",
                          "compare variants of one kernel"});
  Meant meant = context.meant;
  meant.request.kernel = a->kernel;
  meant.workspace = a->root;
  const CommandContext with_kernel{context.typed, meant, context.machine, context.out, context.notes, context.err};
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
  asked.budget.aim_ns = 3'000'000'000;
  asked.seed = meant.request.seed;
  asked.command = meant.command_line;
  for (const Operand* each : {&*a, &*b})
    if (!each->text.empty()) asked.texts[each->variant] = each->text;
  auto outcome = stages::compare(stages::Kernel::of(**session), *profile, asked, *workspace, stage.ports());
  stage.progress().finish();
  if (!outcome) return fail(context, outcome.error());
  keep_cells(context, meant.workspace, **session, *profile, *outcome);
  if (meant.talk.json) {
    context.out << stages::to_json(*outcome) << "\n";
    return 0;
  }
  for (const std::string& line : render::wrap(
           fmt::format("{}: {} against {} on {} (ratio = time of {} over time of {})", outcome->kernel,
                       outcome->candidate, outcome->baseline, outcome->device, outcome->candidate, outcome->baseline),
           context.style().width))
    context.out << line << "\n";
  render::Table table({{(*session)->x_name(), render::Align::right},
                       {"mode"},
                       {"ratio", render::Align::right},
                       {"interval", render::Align::right},
                       {"verdict"}});
  for (const stages::ComparedCell& each : outcome->cells)
    table.add_row({each.cell.x_value, each.cell.mode, fmt::format("{:.4f}", each.comparison.ratio),
                   fmt::format("{:.4f} to {:.4f}", each.comparison.ci_low, each.comparison.ci_high),
                   verdict_text(each.comparison)});
  context.out << "\n" << table.terminal(context.style());
  return 0;
}

}  // namespace hone::cli

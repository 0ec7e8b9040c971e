// hone bench [KERNEL...]: every pass at each size beside the other providers, interleaved in one run.
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/bench_table.hpp"
#include "cli/command.hpp"
#include "cli/history_records.hpp"
#include "cli/terminal.hpp"

namespace hone::cli {

namespace {

// Those asked for, or the usual ones: the kernel itself and what it is held against.
base::Result<std::vector<std::string>> providers_of(const CommandContext& context,
                                                    const repository::Described& session) {
  const bool built_in = context.meant.repository_directory.empty();
  std::vector<std::string> usual = {built_in ? "native" : session.own_provider()};
  for (const std::string& provider : session.baseline_providers()) usual.push_back(provider);
  if (!context.typed.has("--provider")) return usual;
  std::vector<std::string> known = usual;
  if (built_in) known.insert(known.end(), {"liger", "torch"});
  for (const std::string& provider : context.typed.list("--provider"))
    if (std::find(known.begin(), known.end(), provider) == known.end())
      return base::Error{base::ErrorKind::usage, "providers out of " + base::join_text(known, ", "),
                         "'" + provider + "'", "--provider", "correct its name or leave it out"};
  return context.typed.list("--provider");
}

// What was measured of this kernel and can be trusted.
void keep_rows(const CommandContext& context, const repository::Described& session, const model::Request& request,
               const std::vector<BenchRow>& rows) {
  model::Profile head;
  head.kernel = request.kernel, head.identity = session.identity(), head.request = request;
  head.device = session.device();
  std::vector<history::Measurement> kept;
  for (const BenchRow& row : rows) {
    if (row.kernel != request.kernel || !row.untrusted.empty() || !(row.device_ms.p50 > 0)) continue;
    const history::Role role = row.own ? history::Role::own : history::Role::baseline;
    for (const auto& [metric, value] : {std::pair{"speed", row.device_ms}, std::pair{"wall", row.wall_ms}})
      kept.push_back({session.x_name(), row.x_value, row.mode, row.provider, role, metric, "ms", value.p20, value.p50,
                      value.p80, value.samples});
  }
  head.created = context.machine.clock.utc();
  keep(context, context.meant.workspace, run_of(head, "bench", head.created, context.meant.command_line), kept);
}

}  // namespace

int run_bench(const CommandContext& context) {
  auto opened = open_repository(context.machine, context.meant);
  if (!opened) return fail(context, opened.error());
  TerminalProgress progress(context.notes, context.machine.clock, context.meant.talk.live, context.meant.talk.verbose);
  std::vector<BenchRow> rows;
  model::Ceilings ceilings;
  const bool built_in = context.meant.repository_directory.empty();
  const std::string scratch = context.machine.files.absolute(base::join(context.meant.workspace, ".providers"));
  std::vector<std::unique_ptr<repository::Session>> sessions;
  std::vector<std::string> providers;
  const auto open_all = [&]() -> base::Result<void> {
    sessions.clear();
    for (const std::string& kernel : context.typed.arguments) {
      model::Request request = context.meant.request;
      request.kernel = kernel;
      HONE_TRY(session, opened->repository->open(request));
      if (const std::string why = (*session)->unmeasurable(); !why.empty())
        return base::Error{base::ErrorKind::preflight, "a machine on which " + kernel + " can be run and timed", why,
                           context.meant.device, "choose another --device; 'hone doctor' shows what is missing"};
      HONE_TRY(chosen, providers_of(context, **session));
      providers = std::move(*chosen);
      sessions.push_back(std::move(*session));
    }
    return {};
  };
  // Every name is checked before anything is measured; the sizes rest on the effective cache.
  if (auto checked = open_all(); !checked) return fail(context, checked.error());
  if (auto learned = learn_cache_size(*opened); !learned) return fail(context, learned.error());
  if (auto reopened = open_all(); !reopened) return fail(context, reopened.error());
  for (auto& session : sessions) {
    model::Request request = context.meant.request;
    request.kernel = session->identity().kernel;
    request = session->resolved(request);
    progress.step("ceilings of " + session->device().name);
    auto measured = session->ceilings();
    if (!measured) return fail(context, measured.error());
    ceilings = *measured;
    repository::liger::PythonProviders python({context.machine.files, context.machine.processes, context.machine.clock,
                                               scratch, session->device().id, python_program()});
    auto* others = built_in ? &python : nullptr;
    if (auto done = bench_kernel(*session, *session, request, providers, others, progress, rows); !done)
      return fail(context, done.error());
    keep_rows(context, *session, request, rows);
    session.reset();
  }
  progress.finish();
  if (context.meant.talk.json)
    context.out << bench_json(rows, ceilings);
  else
    print_bench(context.out, rows, ceilings, context.style());
  const std::vector<std::string> untrusted = untrusted_rows(rows);
  if (untrusted.empty()) return 0;
  context.err << fmt::format("\nhone: {} of these rows can not be trusted; measure them on a quieter machine\n",
                             untrusted.size());
  for (const std::string& line : untrusted) context.err << "  " << line << "\n";
  return base::exit_code(base::ErrorKind::untrusted);
}

}  // namespace hone::cli

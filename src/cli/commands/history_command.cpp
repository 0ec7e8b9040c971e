// hone history: the measurements of a workspace, run by run. It judges nothing: two runs are a suspicion, and the command that
// settles it is printed.
#include <algorithm>
#include <charconv>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/history_records.hpp"
#include "cli/suggested_commands.hpp"
#include "history/suspicion.hpp"
#include "model/json_value.hpp"
#include "model/speedup.hpp"
#include "render/format.hpp"
#include "render/table.hpp"

namespace hone::cli {

namespace {

using history::KeptRun;
using history::Measurement;
using model::Json;
using render::Align;

constexpr const char* kSchema = "hone.history/1";

Json json_of(const history::Run& run) {
  return Json::object({{"id", run.id},
                       {"stage", run.stage},
                       {"created", run.created},
                       {"kernel", run.kernel},
                       {"repository", run.repository},
                       {"dtype", run.dtype},
                       {"options", run.options},
                       {"device", run.device},
                       {"driver", run.driver},
                       {"compiler", run.compiler},
                       {"commit", run.commit},
                       {"source_hash", run.source_hash},
                       {"source_commit", run.source_commit},
                       {"command", run.command},
                       {"session", run.session}});
}

const char* word(history::Role role) {
  return role == history::Role::own ? "own" : role == history::Role::baseline ? "baseline" : "variant";
}

Json json_of(const Measurement& m) {
  return Json::object({{"x_name", m.x_name},
                       {"x_value", m.x_value},
                       {"mode", m.mode},
                       {"provider", m.provider},
                       {"role", word(m.role)},
                       {"metric", m.metric},
                       {"unit", m.unit},
                       {"p20", m.p20},
                       {"p50", m.p50},
                       {"p80", m.p80},
                       {"samples", m.samples}});
}

Json document(const std::string& what) { return Json::object({{"schema", kSchema}, {"what", what}}); }

std::string id_text(const history::Run& run) { return std::to_string(run.id); }

void list(const CommandContext& context, const std::vector<KeptRun>& runs, const render::Style& style) {
  if (context.meant.talk.json) {
    Json made = document("list");
    made.add("runs", Json::list(runs, [](const KeptRun& kept) {
               Json run = json_of(kept.run);
               run.add("measurements", static_cast<std::int64_t>(kept.measurements.size()));
               return run;
             }));
    context.out << made.dump() << "\n";
    return;
  }
  render::Table table({{"id", Align::right},
                       {"created"},
                       {"stage"},
                       {"kernel"},
                       {"dtype", Align::left, 1},
                       {"device", Align::left, 2},
                       {"commit", Align::left, 3},
                       {"rows", Align::right, 4}});
  for (const KeptRun& kept : runs)
    table.add_row({id_text(kept.run), kept.run.created, kept.run.stage, kept.run.kernel, kept.run.dtype,
                   kept.run.device, kept.run.commit, std::to_string(kept.measurements.size())});
  context.out << (runs.empty() ? "no run is kept\n" : table.terminal(style));
}

void show(const CommandContext& context, const KeptRun& kept, const render::Style& style) {
  if (context.meant.talk.json) {
    Json made = document("show");
    made.add("run", json_of(kept.run));
    made.add("measurements", Json::list(kept.measurements, [](const Measurement& m) { return json_of(m); }));
    context.out << made.dump() << "\n";
    return;
  }
  const history::Run& run = kept.run;
  context.out << fmt::format(
      "run {}: {} of {} ({}) on {}\n  {}\n  device   {}, driver {}\n  compiler {}\n  hone     {}\n", run.id, run.stage,
      run.kernel, run.dtype, run.created, run.command.empty() ? "command not known" : run.command, run.device,
      run.driver, run.compiler, run.commit);
  context.out << fmt::format("  source   {}{}\n\n", run.source_hash.empty() ? "not known" : run.source_hash,
                             run.source_commit.empty() ? "" : ", checkout at " + run.source_commit);
  render::Table table({{"x", Align::right},
                       {"mode"},
                       {"provider"},
                       {"metric"},
                       {"median", Align::right},
                       {"p20 to p80", Align::right, 1},
                       {"unit"},
                       {"samples", Align::right, 2}});
  for (const Measurement& m : kept.measurements)
    table.add_row({m.x_value, m.mode, m.provider, m.metric, render::figure(m.p50), render::spread(m.p20, m.p80), m.unit,
                   std::to_string(m.samples)});
  context.out << table.terminal(style);
}

constexpr const char* kNoVerdict =
    "Two runs differ in clocks, heat, other load and drivers: these ratios are no verdict. 'hone compare' pairs the "
    "two in one "
    "session.";

std::string no_verdict(const render::Style& style) { return render::labelled("", kNoVerdict, style, 0); }

Json json_of(const history::Pairing& pair) {
  Json row = json_of(pair.after);
  row.add("before", json_of(pair.before));
  row.add("ratio", pair.ratio);
  return row;
}

// What both runs call it, or what each does.
std::string subject_of(const history::Pairing& pair) {
  return pair.before.provider == pair.after.provider ? pair.after.provider
                                                     : pair.before.provider + ", then " + pair.after.provider;
}

void compare(const CommandContext& context, const KeptRun& before, const KeptRun& after, const render::Style& style) {
  const std::vector<history::Pairing> pairs = history::pair_runs(before, after);
  if (context.meant.talk.json) {
    Json made = document("compare");
    made.add("before", json_of(before.run)), made.add("after", json_of(after.run));
    made.add("rows", Json::list(pairs, [](const history::Pairing& pair) { return json_of(pair); }));
    made.add("verdict", Json());
    made.add("note", kNoVerdict);
    context.out << made.dump() << "\n";
    return;
  }
  render::Table table({{"x", Align::right},
                       {"mode"},
                       {"provider"},
                       {"metric"},
                       {"before", Align::right},
                       {"after", Align::right},
                       {"ratio", Align::right},
                       {"change"}});
  for (const history::Pairing& pair : pairs)
    table.add_row({pair.after.x_value, pair.after.mode, subject_of(pair), pair.after.metric,
                   render::figure(pair.before.p50), render::figure(pair.after.p50), render::ratio(pair.ratio),
                   pair.after.metric == "memory" ? "-" : model::speed_factor(pair.ratio)});
  context.out << fmt::format("run {} ({}, {}) and run {} ({}, {})\n", before.run.id, before.run.created,
                             before.run.commit, after.run.id, after.run.created, after.run.commit)
              << (pairs.empty() ? "no row is in both\n" : table.terminal(style)) << no_verdict(style);
}

// The paired comparison that would settle a suspicion, as far as one command can; what is missing for it in words.
std::string settled_by(const history::Suspicion& s, const Typed& typed) {
  const std::string where = carried_flags(typed, *find_command("compare"));
  const bool native = s.before.repository == "native";
  const std::string &old = native ? s.before.commit : s.before.source_commit,
                    &now = native ? s.after.commit : s.after.source_commit;
  if (old == now || (s.before.source_hash == s.after.source_hash && !s.after.source_hash.empty()))
    return fmt::format("hone profile {}{}  (no other source is known: settings in force or the machine differ)",
                       s.after.kernel, where);
  if (native)
    return fmt::format(
        "git show {0}:kernels/{1}/{1}.hpp > old.hpp && hone compare old.hpp v0 --kernel {1}{2}  (in hone's own "
        "repository; texts that {1}.hpp includes are today's)",
        old.substr(0, old.find('-')), s.after.kernel, where);
  return fmt::format("hone compare {} {} --kernel {} --repo CHECKOUT{}", old, now, s.after.kernel, where);
}

void regressions(const CommandContext& context, const std::vector<KeptRun>& runs, const render::Style& style) {
  const std::vector<history::Suspicion> found = history::suspicions(runs);
  if (context.meant.talk.json) {
    Json made = document("regressions");
    made.add("suspected", Json::list(found, [&](const history::Suspicion& s) {
               return Json::object({{"kernel", s.after.kernel},
                                    {"x_value", s.row.after.x_value},
                                    {"mode", s.row.after.mode},
                                    {"before_run", s.before.id},
                                    {"after_run", s.after.id},
                                    {"before_ms", s.row.before.p50},
                                    {"after_ms", s.row.after.p50},
                                    {"ratio", s.row.ratio},
                                    {"control_ratio", s.control > 0 ? Json(s.control) : Json()},
                                    {"against", s.against},
                                    {"settled_by", settled_by(s, context.typed)}});
             }));
    made.add("note", kNoVerdict);
    context.out << made.dump() << "\n";
    return;
  }
  if (found.empty()) {
    context.out << fmt::format(
        "no regression is suspected: no row of a newest run is over {:g} % slower than an earlier one\n",
        history::kSuspiciousPct);
    return;
  }
  render::Table table({{"kernel"},
                       {"x", Align::right},
                       {"mode"},
                       {"before", Align::right},
                       {"after", Align::right},
                       {"ratio", Align::right},
                       {"change"},
                       {"runs"},
                       {"against it"}});
  std::vector<std::string> commands;
  for (const history::Suspicion& s : found) {
    table.add_row({s.after.kernel, s.row.after.x_value, s.row.after.mode, render::figure(s.row.before.p50),
                   render::figure(s.row.after.p50), render::ratio(s.row.ratio), model::speed_change(s.row.ratio),
                   id_text(s.before) + ", " + id_text(s.after), s.against.empty() ? "-" : s.against});
    const std::string command = settled_by(s, context.typed);
    if (std::find(commands.begin(), commands.end(), command) == commands.end()) commands.push_back(command);
  }
  context.out << "suspected, by two separate runs each:\n" << table.terminal(style) << "\nsettled by:\n";
  for (const std::string& command : commands) context.out << "  " << command << "\n";
  context.out << no_verdict(style);
}

base::Result<const KeptRun*> run_with(const std::vector<KeptRun>& runs, const std::string& text) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error == std::errc() && end == text.data() + text.size())
    for (const KeptRun& kept : runs)
      if (kept.run.id == id) return &kept;
  return base::Error{base::ErrorKind::usage, "the id of a run", "'" + text + "'", "hone history",
                     "'hone history list' shows them"};
}

base::Error unknown_kernel(const std::string& name, const std::vector<KeptRun>& runs) {
  std::set<std::string> kernels;
  for (const KeptRun& kept : runs) kernels.insert(kept.run.kernel);
  const std::vector<std::string> known(kernels.begin(), kernels.end());
  const std::vector<std::string> near = base::nearest(name, known);
  return {base::ErrorKind::usage,
          known.empty() ? "a kernel with measurements" : "a kernel with measurements: " + base::join_text(known, ", "),
          "'" + name + "'", "--kernel",
          known.empty()  ? "'hone profile KERNEL' measures and keeps"
          : near.empty() ? "name one of them"
                         : "did you mean " + base::join_text(near, " or ") + "?"};
}

}  // namespace

int run_history(const CommandContext& context) {
  const std::vector<std::string>& words = context.typed.arguments;
  const std::string what = words.empty() ? "list" : words.front();
  const std::size_t ids = what == "show" ? 1 : what == "compare" ? 2 : 0;
  if (what != "list" && what != "show" && what != "compare" && what != "regressions")
    return fail(context, {base::ErrorKind::usage, "list, show ID, compare ID ID or regressions", "'" + what + "'",
                          "hone history", "choose one of them"});
  if (words.size() != ids + (words.empty() ? 0 : 1))
    return fail(context, {base::ErrorKind::usage, fmt::format("{} run ids after '{}'", ids, what),
                          std::to_string(words.size() - 1), "hone history", "'hone history list' shows the ids"});
  const auto database = history::Database::open(history_path(context.meant.workspace), history::Access::read);
  if (!database) return fail(context, database.error());
  const std::string kernel = context.typed.text("--kernel");
  const auto runs = database->runs(kernel);
  if (!runs) return fail(context, runs.error());
  if (runs->empty() && !kernel.empty()) {
    const auto all = database->runs();
    return fail(context, all ? unknown_kernel(kernel, *all) : all.error());
  }
  const render::Style& style = context.style();
  std::vector<const KeptRun*> chosen;
  for (std::size_t i = 1; i <= ids; ++i) {
    auto run = run_with(*runs, words[i]);
    if (!run) return fail(context, run.error());
    chosen.push_back(*run);
  }
  if (what == "list") list(context, *runs, style);
  if (what == "show") show(context, *chosen[0], style);
  if (what == "compare") compare(context, *chosen[0], *chosen[1], style);
  if (what == "regressions") regressions(context, *runs, style);
  return 0;
}

}  // namespace hone::cli

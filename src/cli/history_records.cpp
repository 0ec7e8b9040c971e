#include "cli/history_records.hpp"

#include <ostream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "diagnose/facts.hpp"
#include "model/version.hpp"

namespace hone::cli {

namespace {

using history::Measurement;
using history::Role;

Measurement row_of(const std::string& x_name, const std::string& x_value, const std::string& mode,
                   const std::string& provider, Role role, const std::string& metric, const std::string& unit,
                   const model::Quantiles& value) {
  return {x_name, x_value, mode, provider, role, metric, unit, value.p20, value.p50, value.p80, value.samples};
}

// "at commit 0123456789ab": how a checkout's operation names its commit.
std::string source_commit(const model::Identity& identity) {
  constexpr std::string_view kHead = "at commit ";
  const std::string& note = identity.source_file.note;
  return base::starts_with(note, kHead) ? note.substr(kHead.size()) : "";
}

}  // namespace

std::string history_path(const std::string& workspace_root) { return base::join(workspace_root, "history.sqlite3"); }

history::Run run_of(const model::Profile& profile, const std::string& stage, const std::string& created,
                    const std::string& command) {
  history::Run run;
  run.stage = stage, run.created = created, run.command = command;
  run.session = profile.created;  // optimize and finalize rest on the profile that they were given
  run.kernel = profile.kernel, run.repository = profile.identity.repository, run.dtype = profile.request.dtype;
  for (const auto& [name, value] : profile.request.options)
    run.options += (run.options.empty() ? "" : " ") + name + "=" + value;
  run.device = profile.device.name, run.driver = profile.device.driver, run.compiler = profile.device.compiler;
  run.commit = model::hone_commit();
  run.source_hash = profile.identity.source_hash, run.source_commit = source_commit(profile.identity);
  return run;
}

std::vector<Measurement> measurements_of(const model::Profile& profile) {
  std::vector<Measurement> rows;
  const std::string kernels_own = diagnose::own_provider(profile);
  for (const model::BaselineRow& row : profile.baseline.rows) {
    const bool own = row.provider == kernels_own;
    if (row.source == model::Source::measured && !base::starts_with(row.metric, "script_"))
      rows.push_back(row_of(profile.baseline.x_name, row.x_value, row.mode, row.provider,
                            own ? Role::own : Role::baseline, row.metric, row.unit,
                            {row.p20, row.p50, row.p80, row.samples}));
  }
  return rows;
}

std::vector<Measurement> measurements_of(const model::ComparisonDocument& comparison, const std::string& x_name) {
  std::vector<Measurement> rows;
  for (const model::VariantSummary& variant : comparison.variants)
    for (const model::ResultRow& row : variant.results) {
      // v0 was timed again beside each variant: a row for each, since they are samples of their own.
      rows.push_back(row_of(x_name, row.x_value, row.mode, "v0 beside " + variant.id, Role::variant, row.metric,
                            row.unit, row.baseline));
      rows.push_back(
          row_of(x_name, row.x_value, row.mode, variant.id, Role::variant, row.metric, row.unit, row.candidate));
    }
  return rows;
}

std::vector<Measurement> measurements_of(const model::Report& report) {
  std::vector<Measurement> rows;
  // What is in production when the report is written is the kernel's own row.
  const std::string own = report.applied ? "optimized" : "original";
  for (const model::ThreeWayRow& row : report.three_way) {
    if (row.source == model::Source::recorded) continue;  // it is in the history as the profile's
    const bool of_kernel = row.provider == "optimized" || row.provider == "original";
    rows.push_back(row_of(report.profile.baseline.x_name, row.x_value, row.mode, row.provider,
                          row.provider == own ? Role::own
                          : of_kernel         ? Role::variant
                                              : Role::baseline,
                          row.metric, row.unit, row.value));
  }
  return rows;
}

void keep(const CommandContext& context, const std::string& workspace_root, const history::Run& run,
          const std::vector<Measurement>& measurements) {
  if (measurements.empty()) return;
  const auto added = [&]() -> base::Result<std::int64_t> {
    HONE_PROPAGATE(context.machine.files.create_directories(workspace_root));
    HONE_TRY(database, history::Database::open(history_path(workspace_root), history::Access::add));
    return database->add(run, measurements);
  }();
  if (!added)
    context.notes << fmt::format("note: the measurements are not in the history: {} at {} ({})\n", added.error().found,
                                 added.error().where, added.error().remedy);
}

}  // namespace hone::cli

#include "stages/profile/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagnose/diagnose.hpp"
#include "diagnose/passes.hpp"
#include "model/version.hpp"
#include "stages/floors.hpp"
#include "stages/plan.hpp"
#include "stages/profile/baseline.hpp"

namespace hone::stages {

namespace {

constexpr const char *kCeilings = "ceilings of the device", *kConfiguration = "current configuration",
                     *kCounters = "counters and experiments", *kOwnBenchmark = "the repository's own benchmark";

// Required checks that did not pass, as one error; the others are lines for the progress log.
base::Result<void> require(const std::vector<repository::PreflightCheck>& checks, const Ports& ports) {
  std::string missing, remedies;
  for (const repository::PreflightCheck& check : checks) {
    if (check.passed) continue;
    if (!check.required) {
      ports.progress.message(fmt::format("note: {}: {} ({})", check.name, check.found, check.remedy));
      continue;
    }
    missing += fmt::format("{}{}: {}", missing.empty() ? "" : "; ", check.name, check.found);
    remedies += (remedies.empty() ? "" : "; ") + check.remedy;
  }
  if (missing.empty()) return {};
  return base::Error{base::ErrorKind::preflight, "everything that profiling needs", missing, "pre-flight", remedies};
}

// What the source says is added to what the measurements say: places in the text, and strategies nothing else named.
void add_source_findings(const repository::Described& kernel, model::Profile& profile) {
  for (model::Opportunity& opportunity : kernel.source_opportunities())
    profile.opportunities.push_back(std::move(opportunity));
  for (model::StrategyStep& step : kernel.source_strategies()) {
    const bool known = std::any_of(profile.strategy_order.begin(), profile.strategy_order.end(),
                                   [&](const model::StrategyStep& each) { return each.strategy == step.strategy; });
    if (!known) profile.strategy_order.push_back(std::move(step));
  }
}

void take_diagnosis(model::Profile& profile) {
  diagnose::Diagnosis diagnosis = diagnose::diagnose(profile);
  profile.bottleneck = std::move(diagnosis.bottleneck);
  profile.opportunities = std::move(diagnosis.opportunities);
  profile.strategy_order = std::move(diagnosis.strategy_order);
  profile.estimated_iterations = std::move(diagnosis.estimated_iterations);
  profile.summary = std::move(diagnosis.summary);
}

// The profile of a kernel that can not be run here: from its source, with results recorded elsewhere beside it.
base::Result<void> fill_from_source(repository::Described& kernel, const Ports& ports, model::Profile& profile) {
  const std::string missing = kernel.unmeasurable();
  ports.progress.step("profile from source: " + missing);
  profile.device = kernel.device();
  HONE_TRY(configuration, kernel.configuration());
  profile.configuration = std::move(*configuration);
  profile.counters.status = "unavailable";
  profile.counters.reason = missing;
  profile.counters.remedy = "profile on a machine where the kernel can be run and measured";
  profile.counters.route = "none";
  // Recorded rows come after the diagnosis: what was measured elsewhere decides nothing here.
  take_diagnosis(profile);
  add_source_findings(kernel, profile);
  profile.summary =
      "from source alone, nothing was measured here (" + missing + "): counters and measurements are missing";
  profile.estimated_iterations.rationale = "not known without measurements";
  profile.baseline.rows = kernel.recorded();
  auto& warnings = profile.baseline.observations.warnings;
  warnings.insert(warnings.begin(), "no row of these tables was measured here: " + missing);
  for (std::string& remark : kernel.remarks()) warnings.push_back(std::move(remark));
  return {};
}

// What the diagnosis would warn of, in a row that does not fit the caches. A paired share was taken at the speed that the
// device had: other ceilings would not change it.
bool faster_than_its_ceiling(const model::Profile& profile) {
  const double cache = static_cast<double>(profile.device.last_level_cache_bytes());
  return std::any_of(profile.headroom.begin(), profile.headroom.end(), [&](const model::Headroom& row) {
    return row.paired.pairs == 0 && row.share_of_ceiling_pct > diagnose::kOverTheCeiling && row.bytes > cache;
  });
}

// What a profile will do. The weights are times of a step's units over that of a baseline cell (3.6 s), measured with
// `hone run rms_norm --quick` on two cores on 2026-12-01.
std::vector<Work> work_of(const repository::Described& kernel, const model::Request& request) {
  const auto modes = request.scope == "general" ? kernel.modes().size() : 1;
  const int cells = static_cast<int>(kernel.sizes().size() * modes);
  return {{kCeilings, 1, 0.5},      {kBaseline, cells, 1}, {kNoiseFloor, cells, 0.6},
          {kConfiguration, 1, 4.5}, {kCounters, 1, 4.7},   {kOwnBenchmark, 1, 0.1}};
}

base::Result<void> fill(repository::Described& kernel, repository::Timed& timed, repository::Counted& counted,
                        const Workspace& workspace, const Ports& ports, model::Profile& profile) {
  ports.progress.expect(work_of(kernel, profile.request));
  ports.progress.step(kCeilings);
  HONE_TRY(ceilings, timed.ceilings());
  profile.device = kernel.device();
  profile.device.ceilings = *ceilings;

  HONE_TRY(shares, measure_baseline(kernel, timed, workspace, ports, profile));
  add_headroom(kernel, timed, *shares, profile);
  ports.documents.show_baseline(profile);
  HONE_PROPAGATE(measure_noise_floor(kernel, timed, workspace, ports, profile));
  ports.progress.step(kConfiguration);
  HONE_TRY(configuration, kernel.configuration());
  profile.configuration = std::move(*configuration);
  if (faster_than_its_ceiling(profile)) {
    // The device was slower when the ceilings were measured than when the kernel was: other load comes and goes.
    if (auto again = look_again(timed, profile, ports); !again) return again;
  }
  HONE_PROPAGATE(check_interrupt(ports, profile.command, AfterInterrupt::begins_anew));

  ports.progress.step(kCounters);
  HONE_TRY(counters, counted.counters());
  profile.counters = std::move(*counters);

  const std::vector<std::string> disturbed = std::move(profile.baseline.observations.warnings);
  profile.baseline.observations = diagnose::observe(profile);
  auto& warnings = profile.baseline.observations.warnings;
  warnings.insert(warnings.begin(), disturbed.begin(), disturbed.end());
  take_diagnosis(profile);
  add_source_findings(kernel, profile);

  ports.progress.step(kOwnBenchmark);
  HONE_TRY(rows, kernel.repository_benchmark(workspace.at("benchmarks")));
  profile.baseline.rows.insert(profile.baseline.rows.end(), rows->begin(), rows->end());
  for (std::string& remark : kernel.remarks()) warnings.push_back(std::move(remark));
  return {};
}

}  // namespace

base::Result<ProfileOutcome> profile(repository::Described& kernel, repository::Timed& timed,
                                     repository::Counted& counted,
                                     const std::vector<repository::PreflightCheck>& checks,
                                     const model::Request& request, const ProfileOptions& options, const Ports& ports) {
  HONE_PROPAGATE(check_interrupt(ports, options.command, AfterInterrupt::begins_anew));
  HONE_PROPAGATE(require(checks, ports));
  HONE_TRY(workspace, Workspace::open(ports.files, options.workspace_root, request.kernel));
  HONE_PROPAGATE(workspace->write_snapshot(kernel.snapshot()));

  model::Profile profile;
  profile.kernel = request.kernel;
  profile.created = timed.clock().utc();
  profile.hone_version = model::hone_version();
  profile.hone_commit = model::hone_commit();
  profile.command = options.command;
  profile.identity = kernel.identity();
  profile.request = kernel.resolved(request);
  profile.baseline.x_name = kernel.x_name();
  const std::string unmeasurable = kernel.unmeasurable();
  HONE_PROPAGATE(unmeasurable.empty() ? fill(kernel, timed, counted, *workspace, ports, profile)
                                      : fill_from_source(kernel, ports, profile));
  // A program that was stopped to tell something is no finding of the profile.
  HONE_PROPAGATE(check_interrupt(ports, options.command, AfterInterrupt::begins_anew));

  HONE_PROPAGATE(workspace->write("profile.json", model::to_json(profile)));
  HONE_PROPAGATE(ports.documents.write_profile(*workspace, profile));
  ports.documents.show_profile(*workspace, profile);
  // Without a measurement there is nothing to ask: no stage can follow here.
  Decision decision;
  decision.choice = Choice::stop;
  if (unmeasurable.empty()) {
    HONE_TRY(decided, confirm_plan(profile, *workspace, ports, timed.clock(), options));
    decision = std::move(*decided);
  }
  return ProfileOutcome{std::move(profile), workspace->folder(), std::move(decision), unmeasurable};
}

}  // namespace hone::stages

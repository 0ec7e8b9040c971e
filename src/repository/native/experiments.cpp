// Counters of a built-in kernel: the system's where there are some, and the counter-free experiments always.
//
// The experiments change one thing and time the pass against itself, paired: no arithmetic (same bytes), no memory traffic
// (same arithmetic on a row that stays in the first-level cache), on a CPU one worker instead of all.
#include "repository/native/experiments.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "measure/protocol.hpp"
#include "repository/native/native_session.hpp"

namespace hone::repository::native {

std::vector<Change> changes_on(const kernels::Target& target) {
  std::vector<Change> changes = {
      {"no-compute", "", "with its loads and stores but no arithmetic", kernels::Ablation::no_compute, false},
      {"no-memory", "", "with its arithmetic but every row served from the first-level cache",
       kernels::Ablation::no_memory, false}};
  if (target.machine == kernels::Machine::cpu && target.cores > 1)
    changes.push_back({"threads", "threads=1", "on one worker instead of all", kernels::Ablation::none, true});
  return changes;
}

base::Result<std::vector<model::Experiment>> NativeSession::experiments(std::string& left_out) {
  std::vector<model::Experiment> found;
  const std::int64_t x = sizes_.back();
  kernels::Problem problem = problem_at(x);
  for (kernels::Pass pass : passes_in_scope()) {
    const Cell cell{std::to_string(x), kernels::name_of(pass)};
    const kernels::Settings settings = resolve({}, pass, problem);
    auto unchanged = subject(original(), cell);
    if (!unchanged) return unchanged.error();
    for (const Change& change : changes_on(target_)) {
      kernels::Plan plan = operation_.plan(pass, problem, settings, target_, change.ablation);
      if (change.one_worker)
        for (kernels::Launch& launch : plan.launches) launch.threads = 1;
      auto changed = make_subject(change.name, x, {{pass, plan}}, edits_of({}));
      if (!changed) return changed.error();
      measure::CompareOptions options;
      options.seed = request_.seed;
      options.budget.max_ns = 6'000'000'000;
      options.budget.min_samples = 12;
      options.budget.max_samples = request_.quick ? 20 : 40;
      auto comparison = measure::compare(**unchanged, **changed, context_.clock, options);
      // An experiment is evidence among others: a noisy machine costs that row, not the profile.
      if (!comparison && comparison.error().kind == base::ErrorKind::untrusted) {
        left_out +=
            fmt::format("; {} of {} could not be measured: {}", change.name, cell.mode, comparison.error().found);
        continue;
      }
      if (!comparison) return comparison.error();
      found.push_back(
          {change.name, cell.x_value, cell.mode, change.parameter, comparison->ratio, comparison->ci_low,
           comparison->ci_high,
           fmt::format("{} at {} = {}: {} it takes {:.0f} % of its time ({:.0f} to {:.0f} %)", cell.mode, x_name(), x,
                       change.sentence, 100 * comparison->ratio, 100 * comparison->ci_low, 100 * comparison->ci_high)});
    }
  }
  return found;
}

base::Result<model::Counters> NativeSession::counters() {
  model::Counters counters;
  std::string reason;
  const std::int64_t x = sizes_.back();
  kernels::Problem problem = problem_at(x);
  for (kernels::Pass pass : passes_in_scope()) {
    auto tensors = workload(x);
    if (!tensors) return tensors.error();
    kernels::Plan plan = operation_.plan(pass, problem, resolve({}, pass, problem), target_, kernels::Ablation::none);
    auto compiled = program(plan, operation_.name() + " " + kernels::name_of(pass), edits_of({}));
    if (!compiled) return compiled.error();
    auto bound = BoundPlan::bind(context_.device, plan, *compiled, (*tensors)->views());
    if (!bound) return bound.error();
    if (auto restored = (*tensors)->restore(pass); !restored) return restored.error();
    for (auto& [name, value] : context_.device.count_events((*bound)->launches(), reason))
      counters.cpu_events.emplace_back(fmt::format("{}.{}", kernels::name_of(pass), name), value);
  }
  const bool available = !counters.cpu_events.empty();
  counters.status = available ? "available" : "unavailable";
  counters.route = available ? "perf-events" : "counter-free";
  if (!available) {
    counters.reason = reason.empty() ? "the device has no hardware counters that can be read" : reason;
    counters.remedy = target_.machine == kernels::Machine::cuda
                          ? "the counter-free experiments below stand in for them; 'hone counters FILE.csv' reads a "
                            "capture made with Nsight Compute"
                          : "the counter-free experiments below stand in for them; to read counters, run where perf "
                            "events are allowed "
                            "(/proc/sys/kernel/perf_event_paranoid at 2 or lower, and a processor or virtual machine "
                            "that exposes them)";
  }
  std::string left_out;
  auto made = experiments(left_out);
  if (!made) return made.error();
  counters.reason += left_out.empty() || !counters.reason.empty() ? left_out : left_out.substr(2);
  counters.experiments = std::move(*made);
  return counters;
}

}  // namespace hone::repository::native

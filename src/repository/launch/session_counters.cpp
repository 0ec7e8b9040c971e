// Counters of a kernel: the system's where there are some, and the counter-free experiments always. The experiments change one
// thing and time the pass against itself, paired (experiments.hpp).
#include <fmt/format.h>

#include "repository/launch/counter_pass.hpp"
#include "repository/launch/gpu_counters.hpp"
#include "repository/launch/session.hpp"

namespace hone::repository::launch {

namespace {

constexpr int kFewSamples = 20, kManySamples = 40;
constexpr const char* kNoAblation =
    "the experiments without arithmetic and without memory traffic need a kernel that hone can rewrite; "
    "those that change its size and its threads are below";

void append(std::string& text, const std::string& more) { text += (text.empty() || more.empty() ? "" : "; ") + more; }

}  // namespace

base::Result<void> LaunchSession::run_passes(int launches) {
  for (const std::string& x : sizes())
    for (const std::string& pass : passes_in_scope()) {
      HONE_TRY(at, problem(x));
      HONE_TRY(kernel, launcher_.in_force(pass, *at));
      for (int i = 0; i < launches; ++i) {
        if (auto restored = kernel->tensors->restore(pass); !restored) return restored;
        if (auto ran = device_.run(kernel->bound.launches); !ran) return ran;
      }
    }
  return {};
}

base::Result<model::Counters> LaunchSession::system_counters() {
  model::Counters counters;
  std::string reason;
  HONE_TRY(at, problem(sizes().back()));
  for (const std::string& pass : passes_in_scope()) {
    HONE_TRY(kernel, launcher_.in_force(pass, *at));
    HONE_PROPAGATE(kernel->tensors->restore(pass));
    for (auto& [name, value] : device_.count_events(kernel->bound.launches, reason))
      counters.cpu_events.emplace_back(fmt::format("{}.{}", pass, name), value);
  }
  const bool available = !counters.cpu_events.empty();
  counters.status = available ? "available" : "unavailable";
  counters.route = available ? "perf-events" : "counter-free";
  if (available) return counters;
  counters.reason = reason.empty() ? "the device has no hardware counters that can be read" : reason;
  counters.remedy =
      "the counter-free experiments below stand in for them; to read counters, run where perf events are allowed "
      "(/proc/sys/kernel/perf_event_paranoid at 2 or lower, and a processor or virtual machine that exposes them)";
  return counters;
}

base::Result<model::Counters> LaunchSession::counters_of_gpu() {
  std::vector<Launcher::InForce> kept;
  std::vector<CountedPass> passes;
  HONE_TRY(at, problem(sizes().back()));
  for (const std::string& pass : passes_in_scope()) {
    HONE_TRY(kernel, launcher_.in_force(pass, *at));
    passes.push_back({pass, kernel->program, kernel->bound.launches});
    kept.push_back(std::move(*kernel));
  }
  CaptureTools tools{context_.processes, context_.files, context_.counter_command};
  if (!tools.command.empty()) {
    const CounterPass pass{operation_->repository(),
                           operation_->place(),
                           identity_.kernel,
                           kernels::name_of(operation_->dtype()),
                           sizes().back(),
                           request_.scope,
                           request_.seed,
                           kLaunchesOfACapture,
                           operation_->last_level_cache_bytes(),
                           operation_->options()};
    tools.command.push_back(device_.info().id);
    for (std::string& word : pass.words()) tools.command.push_back(std::move(word));
  }
  return gpu_counters(device_.info(), passes, tools);
}

std::vector<Change> LaunchSession::changes_of(const std::string& pass, const Problem& problem) const {
  std::vector<Change> changes = changes_on(device_.info(), operation_->can_ablate());
  const auto in_force = launcher_.plan({}, pass, problem);
  if (operation_->can_ablate() && in_force)
    for (Change& change : warp_changes(device_.info(), problem, pass, in_force->settings))
      changes.push_back(std::move(change));
  if (sizes_.size() > 1)
    if (const auto smaller = operation_->problem_at(sizes_[sizes_.size() - 2]))
      changes.push_back(size_change(x_name(), problem, **smaller, pass));
  return changes;
}

base::Result<model::Comparison> LaunchSession::compare_with(const Change& change, const std::string& pass) {
  HONE_TRY(unchanged, subject(original(), {sizes().back(), pass}));
  HONE_TRY(at, operation_->problem_at(change.x > 0 ? change.x : sizes_.back()));
  HONE_TRY(in_force, launcher_.plan({}, pass, **at));
  const model::Settings settings = change.settings.empty() ? in_force->settings : change.settings;
  HONE_TRY(plan, (*at)->plan(pass, settings, change.ablation));
  if (change.one_worker)
    for (kernels::Launch& launch : plan->launches) launch.threads = 1;
  HONE_TRY(changed, launcher_.subject(change.name, *at, {{pass, std::move(*plan), settings}},
                                      launcher_.edits({}, operation_->dtype())));
  measure::CompareOptions options;
  options.seed = request_.seed;
  options.budget.aim_ns = 1'000'000'000;
  options.budget.min_samples = 8;
  options.budget.max_samples = request_.quick || change.x > 0 ? kFewSamples : kManySamples;
  return measure::compare(**unchanged, **changed, context_.clock, options);
}

base::Result<std::vector<model::Experiment>> LaunchSession::experiments(std::string& left_out) {
  std::vector<model::Experiment> found;
  const std::string x = sizes().back();
  HONE_TRY(at, problem(x));
  for (const std::string& pass : passes_in_scope())
    for (const Change& change : changes_of(pass, **at)) {
      const auto comparison = compare_with(change, pass);
      // An experiment is evidence among others: a noisy machine costs that row, not the profile.
      if (!comparison && comparison.error().kind == base::ErrorKind::untrusted) {
        append(left_out,
               fmt::format("{} of {} could not be measured: {}", change.name, pass, comparison.error().found));
        continue;
      }
      if (!comparison) return comparison.error();
      found.push_back(
          {change.name, x, pass, change.parameter, comparison->ratio, comparison->ci_low, comparison->ci_high,
           fmt::format("{} at {} = {}: {} it takes {:.0f} % of its time ({:.0f} to {:.0f} %)", pass, x_name(), x,
                       change.sentence, 100 * comparison->ratio, 100 * comparison->ci_low, 100 * comparison->ci_high)});
    }
  return found;
}

base::Result<model::Counters> LaunchSession::counters() {
  auto counters = device_.info().kind == "cuda" ? counters_of_gpu() : system_counters();
  if (!counters) return counters;
  std::string left_out;
  HONE_TRY(made, experiments(left_out));
  counters->experiments = std::move(*made);
  if (!operation_->can_ablate()) append(counters->reason, kNoAblation);
  append(counters->reason, left_out);
  return counters;
}

}  // namespace hone::repository::launch

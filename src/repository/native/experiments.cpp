// Counters of a built-in kernel: the system's where there are some, and the counter-free experiments always.
//
// The experiments change one thing and time the pass against itself, paired: no arithmetic (same bytes), no memory traffic
// (same arithmetic on a row that stays in the first-level cache), on a CPU one worker instead of all, on a GPU other numbers
// of warps, and the next smaller size.
#include "repository/native/experiments.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "measure/protocol.hpp"
#include "repository/native/native_session.hpp"

namespace hone::repository::native {

namespace {

constexpr const char* kWarps = "num_warps";
constexpr int kFewSamples = 20, kManySamples = 40;

// What a thread or a program gets more of when a program has fewer warps for the same rows.
std::optional<kernels::Settings> with_warps(const kernels::Operation& operation, kernels::Pass pass,
                                            const kernels::Settings& settings, std::int64_t warps,
                                            const kernels::Problem& problem, const kernels::Target& target) {
  const std::int64_t now = settings.at(kWarps);
  const auto scaled = [&](const char* name, std::int64_t factor,
                          std::int64_t divisor) -> std::optional<kernels::Settings> {
    const auto found = settings.find(name);
    if (found == settings.end() || found->second * factor % divisor != 0) return std::nullopt;
    kernels::Settings tried = settings;
    tried[kWarps] = warps;
    tried[name] = found->second * factor / divisor;
    return tried;
  };
  kernels::Settings bare = settings;
  bare[kWarps] = warps;
  // The same row with other shares of it a thread; the same share with other rows a program; warps alone.
  for (const auto& tried : {scaled("VECTORS", now, warps), scaled("BLOCK_ROW", warps, now), std::optional(bare)})
    if (tried && operation.valid(pass, *tried, problem, target).empty()) return tried;
  return std::nullopt;
}

std::string difference(const kernels::Settings& from, const kernels::Settings& to) {
  std::string text;
  for (const auto& [name, value] : to)
    if (const auto before = from.find(name); before == from.end() || before->second != value)
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

}  // namespace

std::vector<Change> changes_on(const kernels::Target& target) {
  std::vector<Change> changes = {
      {"no-compute", "", "with its loads and stores but no arithmetic", kernels::Ablation::no_compute},
      {"no-memory", "", "with its arithmetic but every row served from the first-level cache",
       kernels::Ablation::no_memory}};
  if (target.machine == kernels::Machine::cpu && target.cores > 1)
    changes.push_back({"threads", "threads=1", "on one worker instead of all", kernels::Ablation::none, true});
  return changes;
}

std::vector<Change> warp_changes(const kernels::Operation& operation, kernels::Pass pass,
                                 const kernels::Settings& settings, const kernels::Problem& problem,
                                 const kernels::Target& target) {
  std::vector<Change> changes;
  const auto warps = settings.find(kWarps);
  if (target.machine != kernels::Machine::cuda || warps == settings.end()) return changes;
  const std::pair<const char*, std::int64_t> sweep[] = {{"fewer-warps", warps->second / 2},
                                                        {"more-warps", warps->second * 2}};
  for (const auto& [name, other] : sweep) {
    if (other < 1) continue;
    const auto tried = with_warps(operation, pass, settings, other, problem, target);
    if (!tried) continue;
    Change change;
    change.name = name;
    change.parameter = difference(settings, *tried);
    change.sentence = fmt::format("with {} warps a program instead of {} ({})", other, warps->second, change.parameter);
    change.settings = *tried;
    changes.push_back(std::move(change));
  }
  return changes;
}

Change size_change(const kernels::Operation& operation, kernels::Pass pass, const kernels::Problem& problem,
                   const kernels::Problem& smaller) {
  const double all = operation.traffic(pass, problem).bytes(), less = operation.traffic(pass, smaller).bytes();
  Change change;
  change.name = "size-scaling";
  change.x = operation.x_of(smaller);
  change.parameter = fmt::format("{}={}", operation.x_name(), change.x);
  change.sentence =
      fmt::format("at {}, with {:.0f} % of the bytes to move,", change.parameter, all > 0 ? 100 * less / all : 0.0);
  return change;
}

std::vector<Change> NativeSession::changes_of(kernels::Pass pass, std::int64_t x) const {
  const kernels::Problem problem = problem_at(x);
  std::vector<Change> changes = changes_on(target_);
  for (Change& change : warp_changes(operation_, pass, resolve({}, pass, problem), problem, target_))
    changes.push_back(std::move(change));
  if (sizes_.size() > 1)
    changes.push_back(size_change(operation_, pass, problem, problem_at(sizes_[sizes_.size() - 2])));
  return changes;
}

base::Result<model::Comparison> NativeSession::compare_with(const Change& change, kernels::Pass pass, std::int64_t x) {
  auto unchanged = subject(original(), {std::to_string(x), kernels::name_of(pass)});
  if (!unchanged) return unchanged.error();
  const std::int64_t size = change.x > 0 ? change.x : x;
  const kernels::Problem problem = problem_at(size);
  const kernels::Settings settings = change.settings.empty() ? resolve({}, pass, problem) : change.settings;
  kernels::Plan plan = operation_.plan(pass, problem, settings, target_, change.ablation);
  if (change.one_worker)
    for (kernels::Launch& launch : plan.launches) launch.threads = 1;
  auto changed = make_subject(change.name, size, {{pass, plan}}, edits_of({}));
  if (!changed) return changed.error();
  measure::CompareOptions options;
  options.seed = request_.seed;
  options.budget.aim_ns = 1'000'000'000;
  options.budget.min_samples = 8;
  options.budget.max_samples = request_.quick || change.x > 0 ? kFewSamples : kManySamples;
  return measure::compare(**unchanged, **changed, context_.clock, options);
}

base::Result<std::vector<model::Experiment>> NativeSession::experiments(std::string& left_out) {
  std::vector<model::Experiment> found;
  const std::int64_t x = sizes_.back();
  for (kernels::Pass pass : passes_in_scope()) {
    const std::string mode = kernels::name_of(pass);
    for (const Change& change : changes_of(pass, x)) {
      const auto comparison = compare_with(change, pass, x);
      // An experiment is evidence among others: a noisy machine costs that row, not the profile.
      if (!comparison && comparison.error().kind == base::ErrorKind::untrusted) {
        left_out += fmt::format("; {} of {} could not be measured: {}", change.name, mode, comparison.error().found);
        continue;
      }
      if (!comparison) return comparison.error();
      found.push_back(
          {change.name, std::to_string(x), mode, change.parameter, comparison->ratio, comparison->ci_low,
           comparison->ci_high,
           fmt::format("{} at {} = {}: {} it takes {:.0f} % of its time ({:.0f} to {:.0f} %)", mode, x_name(), x,
                       change.sentence, 100 * comparison->ratio, 100 * comparison->ci_low, 100 * comparison->ci_high)});
    }
  }
  return found;
}

base::Result<model::Counters> NativeSession::system_counters() {
  model::Counters counters;
  std::string reason;
  for (kernels::Pass pass : passes_in_scope()) {
    auto bound = bind_pass(pass, sizes_.back());
    if (!bound) return bound.error();
    if (auto restored = bound->workload->restore(pass); !restored) return restored.error();
    for (auto& [name, value] : context_.device.count_events(bound->plan->launches(), reason))
      counters.cpu_events.emplace_back(fmt::format("{}.{}", kernels::name_of(pass), name), value);
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

base::Result<model::Counters> NativeSession::counters() {
  auto read = target_.machine == kernels::Machine::cuda ? gpu_counters() : system_counters();
  if (!read) return read.error();
  model::Counters counters = std::move(*read);
  std::string left_out;
  auto made = experiments(left_out);
  if (!made) return made.error();
  counters.reason += left_out.empty() || !counters.reason.empty() ? left_out : left_out.substr(2);
  counters.experiments = std::move(*made);
  return counters;
}

}  // namespace hone::repository::native

// Counters of a manifest's kernel: Nsight Compute on a GPU, perf events on a CPU, and the experiments that need no source of
// hone's own: another size, another number of threads, the knobs one by one. What takes the arithmetic or the memory traffic
// out of a kernel needs a program that hone wrote; here there is none.
#include <algorithm>

#include <fmt/format.h>

#include "measure/protocol.hpp"
#include "repository/gpu_counters.hpp"
#include "repository/manifest/counter_pass.hpp"
#include "repository/manifest/manifest_session.hpp"

namespace hone::repository::manifest {

namespace {

constexpr int kSamples = 20;
constexpr const char* kNotPossible =
    "the experiments without arithmetic and without memory traffic need a kernel that hone can rewrite; "
    "those that change its size and its threads are below";

}  // namespace

base::Result<void> ManifestSession::run_passes(int launches) {
  for (const std::string& x : sizes())
    for (const PassDecl* pass : passes_in_scope()) {
      auto tensors = resident(x);
      if (!tensors) return tensors.error();
      auto planned = plan({}, *pass, (*tensors)->problem);
      if (!planned) return planned.error();
      auto bound = bind(*planned, {}, (*tensors)->tensors->views(), &scratch_);
      if (!bound) return bound.error();
      for (int i = 0; i < launches; ++i) {
        if (auto restored = (*tensors)->tensors->restore(overwritten_in(*pass)); !restored) return restored;
        if (auto ran = context_.device.run(bound->launches); !ran) return ran;
      }
    }
  return {};
}

base::Result<model::Counters> ManifestSession::captured_counters() {
  const bool gpu = context_.device.info().kind == "cuda";
  const std::string x = std::to_string(sizes_.back());
  std::vector<CountedPass> counted;
  std::vector<BoundLaunches> owned;
  model::Counters counters;
  std::string reason;
  for (const PassDecl* pass : passes_in_scope()) {
    auto tensors = resident(x);
    if (!tensors) return tensors.error();
    auto planned = plan({}, *pass, (*tensors)->problem);
    if (!planned) return planned.error();
    auto compiled = program(*planned, {});
    if (!compiled) return compiled.error();
    auto bound = bind(*planned, {}, (*tensors)->tensors->views(), &scratch_);
    if (!bound) return bound.error();
    if (gpu) {
      counted.push_back({pass->name, *compiled, bound->launches});
    } else {
      if (auto restored = (*tensors)->tensors->restore(overwritten_in(*pass)); !restored) return restored.error();
      for (auto& [name, value] : context_.device.count_events(bound->launches, reason))
        counters.cpu_events.emplace_back(pass->name + "." + name, value);
    }
    owned.push_back(std::move(*bound));
  }
  if (gpu) {
    CaptureTools tools{context_.processes, context_.files, context_.counter_command};
    if (!tools.command.empty()) {
      const CounterPass pass{manifest_->path, manifest_->name, dtype_->name,       x,
                             request_.scope,  request_.seed,   kLaunchesOfACapture};
      tools.command.push_back(context_.device.info().id);
      for (std::string& word : pass.words()) tools.command.push_back(std::move(word));
    }
    return gpu_counters(context_.device.info(), counted, tools);
  }
  const bool available = !counters.cpu_events.empty();
  counters.status = available ? "available" : "unavailable";
  counters.route = available ? "perf-events" : "counter-free";
  if (available) return counters;
  counters.reason = reason.empty() ? "the device has no hardware counters that can be read" : reason;
  counters.remedy =
      "to read counters, run where perf events are allowed (/proc/sys/kernel/perf_event_paranoid at 2 or lower, and a "
      "processor or virtual machine that exposes them)";
  return counters;
}

base::Result<void> ManifestSession::add_experiment(const std::string& name, const std::string& parameter,
                                                   const std::string& sentence, const std::string& pass,
                                                   measure::Subject& changed, std::vector<model::Experiment>& found,
                                                   std::string& left_out) {
  const std::string x = std::to_string(sizes_.back());
  auto unchanged = subject(original(), {x, pass});
  if (!unchanged) return unchanged.error();
  measure::CompareOptions options;
  options.seed = request_.seed;
  options.budget.aim_ns = 1'000'000'000;
  options.budget.min_samples = 8;
  options.budget.max_samples = kSamples;
  const auto comparison = measure::compare(**unchanged, changed, context_.clock, options);
  // An experiment is evidence among others: a noisy machine costs that row, not the profile.
  if (!comparison && comparison.error().kind == base::ErrorKind::untrusted) {
    left_out += fmt::format("; {} of {} could not be measured: {}", name, pass, comparison.error().found);
    return {};
  }
  if (!comparison) return comparison.error();
  found.push_back(
      {name, x, pass, parameter, comparison->ratio, comparison->ci_low, comparison->ci_high,
       fmt::format("{} at {} = {}: {} it takes {:.0f} % of its time ({:.0f} to {:.0f} %)", pass, x_name(), x, sentence,
                   100 * comparison->ratio, 100 * comparison->ci_low, 100 * comparison->ci_high)});
  return {};
}

base::Result<std::vector<model::Experiment>> ManifestSession::experiments(std::string& left_out) {
  std::vector<model::Experiment> found;
  const std::string x = std::to_string(sizes_.back());
  for (const PassDecl* pass : passes_in_scope()) {
    if (context_.device.info().kind == "cpu" && context_.device.info().sm_count > 1) {
      auto at = problem(x);
      if (!at) return at.error();
      auto planned = plan({}, *pass, *at);
      if (!planned) return planned.error();
      for (PlannedLaunch& launch : planned->launches) launch.block[0] = 1;
      auto alone = make_subject("threads", x, {{pass, std::move(*planned)}}, {});
      if (!alone) return alone.error();
      if (auto added = add_experiment("threads", "threads=1", "on one worker instead of all", pass->name, **alone,
                                      found, left_out);
          !added)
        return added.error();
    }
    if (sizes_.size() < 2) continue;
    const std::string smaller = std::to_string(sizes_[sizes_.size() - 2]);
    const double all = floor({x, pass->name}).bytes, less = floor({smaller, pass->name}).bytes;
    auto at_smaller = subject(original(), {smaller, pass->name});
    if (!at_smaller) return at_smaller.error();
    const std::string parameter = x_name() + "=" + smaller;
    if (auto added = add_experiment(
            "size-scaling", parameter,
            fmt::format("at {}, with {:.0f} % of the bytes to move,", parameter, all > 0 ? 100 * less / all : 0.0),
            pass->name, **at_smaller, found, left_out);
        !added)
      return added.error();
  }
  return found;
}

base::Result<model::Counters> ManifestSession::counters() {
  auto counters = captured_counters();
  if (!counters) return counters;
  std::string left_out;
  auto made = experiments(left_out);
  if (!made) return made.error();
  counters->experiments = std::move(*made);
  counters->reason += (counters->reason.empty() ? "" : "; ") + std::string(kNotPossible) + left_out;
  return counters;
}

}  // namespace hone::repository::manifest

// Changes of one knob that the built-in kernels offer beyond the parameter sweep, one strategy each, with a prediction that
// comes from traffic and the experiments of the profile.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/native/native_session.hpp"
#include "repository/native/sweep_knobs.hpp"

namespace hone::repository::native {

namespace {

double experiment_ratio(const model::Profile& profile, const std::string& name, const std::string& mode) {
  for (const model::Experiment& experiment : profile.counters.experiments)
    if (experiment.name == name && experiment.mode == mode && experiment.parameter.empty()) return experiment.ratio;
  return 0;
}

struct Guess {
  double ratio;
  std::string why;
};

// Plain stores read each line before they write it; streaming stores do not.
Guess predict_streaming(const kernels::Traffic& traffic, bool switched_on, double no_memory) {
  const double streaming = traffic.bytes(), plain = traffic.bytes_read + 2 * traffic.bytes_written;
  double ratio = switched_on ? streaming / plain : plain / streaming;
  // The share of the time that arithmetic alone needs does not shrink with the bytes.
  ratio = switched_on ? std::max(ratio, std::min(no_memory, 1.0)) : ratio;
  return {ratio, fmt::format("plain stores read every line before writing it: {:.0f} MB move instead of {:.0f} MB",
                             plain / 1e6, streaming / 1e6)};
}

// Any other knob changes how the arithmetic is issued: at most the time above the memory-only run can go.
Guess predict_issue(double no_compute) {
  if (no_compute <= 0 || no_compute >= 1)
    return {1.0, "without arithmetic the pass takes as long: nothing that changes its instructions can show"};
  return {std::max(no_compute, 0.5 * (1 + no_compute)),
          fmt::format("without arithmetic the pass takes {:.0f} % of its time, the most a change of instructions can "
                      "reach; half of that is expected",
                      100 * no_compute)};
}

}  // namespace

bool is_swept(const kernels::Knob& knob) {
  static const std::set<std::string> beyond_the_sweep = {"streaming-stores", "access-width",  "less-traffic", "reuse",
                                                         "algorithm",        "redundant-work"};
  return !beyond_the_sweep.count(knob.strategy);
}

std::vector<model::Settings> NativeSession::space(const std::string& pass_name, const std::string& x_value) const {
  const kernels::Pass pass = passes_of(pass_name).front();
  kernels::Problem problem = problem_at(std::strtoll(x_value.c_str(), nullptr, 10));
  const kernels::Settings in_force = resolve({}, pass, problem);
  std::vector<model::Settings> all = {in_force};
  const std::vector<kernels::Knob> knobs = operation_.knobs(pass, target_);
  for (const kernels::Settings& settings : operation_.enumerate(pass, problem, target_)) {
    const bool same_beyond = std::all_of(knobs.begin(), knobs.end(), [&](const kernels::Knob& knob) {
      if (is_swept(knob)) return true;
      auto a = settings.find(knob.name), b = in_force.find(knob.name);
      return a == settings.end() || b == in_force.end() || a->second == b->second;
    });
    if (same_beyond && settings != in_force) all.push_back(settings);
  }
  return all;
}

std::vector<Proposal> NativeSession::propose(const std::string& strategy, const model::Profile& profile,
                                             const model::Variant& best) {
  std::vector<Proposal> proposals;
  for (kernels::Pass pass : passes_in_scope()) {
    const std::string mode = kernels::name_of(pass);
    for (const kernels::Knob& knob : operation_.knobs(pass, target_)) {
      if (knob.strategy != strategy || is_swept(knob)) continue;
      for (std::int64_t value : knob.values) {
        Proposal proposal;
        model::SettingsFunction function;
        function.x_name = x_name();
        function.reason = fmt::format("{} = {} in {}", knob.name, value, mode);
        bool changes = false;
        for (std::int64_t x : sizes_) {
          kernels::Problem problem = problem_at(x);
          model::Settings settings = resolve(best, pass, problem);
          const std::int64_t old = settings.count(knob.name) ? settings[knob.name] : value;
          model::Settings changed = settings;
          changed[knob.name] = value;
          if (operation_.valid(pass, changed, problem, target_).empty() && old != value) {
            settings = std::move(changed);
            changes = true;
            const kernels::Traffic traffic = operation_.traffic(pass, problem);
            Guess guess = strategy == "streaming-stores"
                              ? predict_streaming(traffic, value != 0, experiment_ratio(profile, "no-memory", mode))
                              : predict_issue(experiment_ratio(profile, "no-compute", mode));
            proposal.predictions.push_back({std::to_string(x), mode, guess.ratio, guess.why});
          }
          if (function.rules.empty() || function.rules.back().settings != settings)
            function.rules.push_back({function.rules.empty() ? 0 : x, settings, function.reason});
        }
        if (!changes) continue;
        proposal.variant = best;
        proposal.variant.parent = best.id;
        proposal.variant.strategy = strategy;
        proposal.variant.title = function.reason;
        proposal.variant.settings[mode] = function;
        proposal.hypothesis = fmt::format("{} ({}): {}. Target: the {} pass, {}.", knob.name, strategy, knob.help, mode,
                                          proposal.predictions.front().why);
        proposal.changes =
            fmt::format("{} of the {} pass set to {} at every size where it is valid; nothing else changes.", knob.name,
                        mode, value);
        proposal.diff = fmt::format("- {0} ({1})\n+ {0} = {2} ({1})", knob.name, mode, value);
        proposals.push_back(std::move(proposal));
      }
    }
  }
  return proposals;
}

base::Result<model::Variant> NativeSession::variant_from_source(const std::string& text, const model::Variant& best) {
  if (base::trim(text).empty())
    return base::Error{base::ErrorKind::gate, "the changed text of " + operation_.main_file(), "an empty file",
                       "variant.hpp", "write the whole tile program"};
  model::Variant variant = best;
  variant.parent = best.id;
  std::erase_if(variant.edits, [&](const model::SourceEdit& edit) { return edit.file == operation_.main_file(); });
  variant.edits.push_back({operation_.main_file(), text});
  return variant;
}

}  // namespace hone::repository::native

// Changes of one knob beyond the parameter sweep, one strategy each, with a prediction that comes from traffic and the
// experiments of the profile.
#include <algorithm>

#include <fmt/format.h>

#include "repository/launch/session.hpp"

namespace hone::repository::launch {

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
Guess predict_streaming(const Traffic& traffic, bool switched_on, double no_memory) {
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

std::optional<Proposal> LaunchSession::proposal_of(const OperationKnob& knob, std::int64_t value,
                                                   const model::Profile& profile, const model::Variant& best) const {
  Proposal proposal;
  model::SettingsFunction function;
  function.x_name = x_name();
  function.reason = fmt::format("{} = {} in {}", knob.name, value, knob.pass);
  for (const std::int64_t x : sizes_) {
    const auto at = operation_->problem_at(x);
    auto planned = at ? launcher_.plan(best, knob.pass, **at) : base::Result<Planned>(at.error());
    const auto traffic = at ? (*at)->traffic(knob.pass) : base::Result<Traffic>(at.error());
    if (!planned || !traffic) continue;
    model::Settings settings = planned->settings;
    const auto old = settings.find(knob.name);
    model::Settings changed = settings;
    changed[knob.name] = value;
    if (old != settings.end() && old->second != value && (*at)->plan(knob.pass, changed, Ablation::none)) {
      settings = std::move(changed);
      const Guess guess =
          knob.strategy == "streaming-stores"
              ? predict_streaming(*traffic, value != 0, experiment_ratio(profile, "no-memory", knob.pass))
              : predict_issue(experiment_ratio(profile, "no-compute", knob.pass));
      proposal.predictions.push_back({std::to_string(x), knob.pass, guess.ratio, guess.why});
    }
    if (function.rules.empty() || function.rules.back().settings != settings)
      function.rules.push_back({function.rules.empty() ? 0 : x, settings, function.reason});
  }
  if (proposal.predictions.empty()) return std::nullopt;
  proposal.variant = best;
  proposal.variant.parent = best.id;
  proposal.variant.strategy = knob.strategy;
  proposal.variant.title = function.reason;
  proposal.variant.settings[knob.pass] = function;
  proposal.hypothesis = fmt::format("{} ({}): {}. Target: the {} pass, {}.", knob.name, knob.strategy, knob.help,
                                    knob.pass, proposal.predictions.front().why);
  proposal.changes = fmt::format("{} of the {} pass set to {} at every size where it is valid; nothing else changes.",
                                 knob.name, knob.pass, value);
  proposal.diff = fmt::format("- {0} ({1})\n+ {0} = {2} ({1})", knob.name, knob.pass, value);
  return proposal;
}

std::vector<Proposal> LaunchSession::propose(const std::string& strategy, const model::Profile& profile,
                                             const model::Variant& best) {
  std::vector<Proposal> proposals;
  for (const std::string& pass : passes_in_scope())
    for (const OperationKnob& knob : operation_->knobs(pass)) {
      if (knob.strategy != strategy || knob.is_swept) continue;
      for (const std::int64_t value : knob.values)
        if (auto proposal = proposal_of(knob, value, profile, best)) proposals.push_back(std::move(*proposal));
    }
  return proposals;
}

}  // namespace hone::repository::launch

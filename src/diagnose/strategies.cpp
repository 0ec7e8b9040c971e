// Which strategies, in which order, why, for how much at most. Words and advice are data in advice.cpp; the figures are the
// profile's.
#include "diagnose/strategies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "diagnose/config_facts.hpp"

namespace hone::diagnose {

namespace {

using model::BottleneckClass;

constexpr const char* kSweep = "parameter-sweep";

std::string at_size(const model::Profile& profile, const std::string& x_value) {
  if (x_value.empty()) return "";
  return " at " + (profile.baseline.x_name.empty() ? std::string("x") : profile.baseline.x_name) + "=" + x_value;
}

std::vector<std::string> words_of(const std::vector<Limiter>& limiters) {
  std::vector<std::string> words;
  for (const Limiter& each : limiters) words.push_back(each.word);
  return words;
}

bool serves(const PassVerdict& pass, const std::string& word, bool gpu) {
  if (word == kSweep) return true;
  const std::vector<std::string> list = strategies_for(pass.cls, words_of(pass.limiters), gpu);
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Strategies that only take time off memory, or only off the arithmetic: an ablation bounds what they can bring.
bool only_memory(const std::string& word) {
  return word == "less-traffic" || word == "reuse" || word == "streaming-stores" || word == "access-width" ||
         word == "prefetch";
}
bool only_arithmetic(const std::string& word) { return word == "algorithm" || word == "redundant-work"; }

// The most that `word` can take off the time of one pass, in percent of it.
double pass_bound_pct(const PassVerdict& pass, const std::string& word) {
  double bound = pass.facts.gain_pct();
  if (only_memory(word)) bound = least_known(bound, pass.ablation_gain_pct(true));
  if (only_arithmetic(word)) bound = least_known(bound, pass.ablation_gain_pct(false));
  return bound;
}

// Amdahl: each pass by its share of the time, the device by its share of the caller's.
struct Bound {
  double total_pct = kUnknown;  // of all passes' time
  std::string text;
};

Bound bound_of(const model::Profile& profile, const std::vector<PassVerdict>& passes, const std::string& word,
               bool gpu) {
  Bound bound;
  double total_ms = 0, gain_ms = 0;
  std::string parts, missing;
  for (const PassVerdict& pass : passes) {
    if (known(pass.facts.measured_ms)) total_ms += pass.facts.measured_ms;
    if (!serves(pass, word, gpu)) continue;
    const double pct = pass_bound_pct(pass, word);
    if (!known(pct) || !known(pass.facts.measured_ms)) {
      missing += (missing.empty() ? "" : ", ") + pass.facts.mode;
      continue;
    }
    gain_ms += pct / 100 * pass.facts.measured_ms;
    parts += fmt::format("{}{} of {}'s {}", parts.empty() ? "" : ", ", percent(pct), pass.facts.mode,
                         milliseconds(pass.facts.measured_ms));
  }
  if (parts.empty()) {
    bound.text = "not known: there is no roofline bound" + (missing.empty() ? "" : " for " + missing);
    return bound;
  }
  bound.total_pct = total_ms > 0 ? 100 * gain_ms / total_ms : 0;
  bound.text = "at most " + parts + at_size(profile, passes.front().facts.x_value);
  if (passes.size() > 1) bound.text += "; " + percent(bound.total_pct) + " of all passes";
  const double host = remaining_of(passes).host_share_pct;
  if (host >= 1)
    bound.text += "; " + percent(bound.total_pct * (100 - host) / 100) + " of the caller's time, which is host for " +
                  percent(host);
  if (!missing.empty()) bound.text += "; not known for " + missing;
  return bound;
}

// The figures of a pass that speak for a strategy: bytes for what moves them, the two ablations for what overlaps or
// shortens work, the limiter otherwise.
std::string pass_figures(const PassVerdict& pass, const std::string& word) {
  const PassFacts& facts = pass.facts;
  std::vector<Limiter> lifted;
  for (const Limiter& each : pass.limiters)
    if (lifts(word, each.word)) lifted.push_back(each);
  if (!lifted.empty()) return facts.mode + ": " + limiter_text(lifted);
  const bool moves = only_memory(word) || word == "rows-per-program";
  if (moves && facts.bytes > 0 && known(facts.measured_ms)) {
    std::string text =
        fmt::format("{} moves at least {} in {}, {}", facts.mode, bytes_text(facts.bytes),
                    milliseconds(facts.measured_ms), bandwidth(facts.bytes / (facts.measured_ms * 1e-3)));
    if (facts.bandwidth_ceiling > 0) text += " of a measured " + bandwidth(facts.bandwidth_ceiling);
    if (facts.no_compute) text += "; memory alone takes " + percent(100 * facts.no_compute->ratio) + " of its time";
    return text;
  }
  if (facts.no_memory && !moves)
    return facts.mode + " without its memory traffic takes " + percent(100 * facts.no_memory->ratio) + " of its time";
  std::string text = facts.mode + " is " + model::word(pass.cls);
  if (!pass.limiters.empty()) text += ", limited by " + limiter_text(pass.limiters);
  return text;
}

std::string reason_of(const model::Profile& profile, const std::vector<PassVerdict>& passes, const Strategy& strategy,
                      Family family) {
  std::string text = is_gpu(family) ? strategy.on_gpu : strategy.on_cpu;
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  std::string figures;
  for (const PassVerdict& pass : passes)
    if (serves(pass, strategy.word, is_gpu(family)))
      figures += (figures.empty() ? "" : "; ") + pass_figures(pass, strategy.word);
  if (!figures.empty()) text += ". Here " + figures;
  if (strategy.word == std::string("access-width") && !passes.empty() &&
      at_full_width(profile, passes.front().facts.x_value))
    text += ". Vectors are at the full width of this processor already";
  const std::string knobs = knob_text(profile.configuration, strategy);
  if (!knobs.empty()) text += ". " + knobs;
  for (const Advice* advice : advice_for(family, strategy.word))
    text += fmt::format(". {}: {} ({})", name_of(family), advice->text, advice->source);
  return text + ".";
}

// Passes with most left over their floors come first; without floors, those that take longest.
std::vector<PassVerdict> by_remaining(std::vector<PassVerdict> passes) {
  const auto left = [](const PassVerdict& pass) {
    const double time = known(pass.facts.measured_ms) ? pass.facts.measured_ms : 0;
    return known(pass.facts.gain_pct()) ? pass.facts.gain_pct() / 100 * time : time;
  };
  std::stable_sort(passes.begin(), passes.end(), [&](const auto& a, const auto& b) { return left(a) > left(b); });
  return passes;
}

std::vector<std::string> ordered_words(const model::Profile& profile, const std::vector<PassVerdict>& passes,
                                       bool gpu) {
  std::vector<std::string> order, inert;
  for (const PassVerdict& pass : by_remaining(passes)) {
    if (pass.facts.gain_pct() <= 100 - kAtTheLimit) continue;  // at its limit: no strategy of its own
    for (const std::string& word : strategies_for(pass.cls, words_of(pass.limiters), gpu)) {
      const auto absent = [&](const std::vector<std::string>& list) {
        return std::find(list.begin(), list.end(), word) == list.end();
      };
      if (!absent(order) || !absent(inert)) continue;
      (is_spent(profile, word, pass.facts.x_value) ? inert : order).push_back(word);
    }
  }
  order.insert(order.end(), inert.begin(), inert.end());
  return order;
}

// What the programs of an SM hold in flight, and how many more fit before registers or shared memory must give way.
std::string in_flight_text(const model::CounterSummary& kernel, const LaunchFacts& facts) {
  std::string text;
  if (facts.programs_per_sm >= 1 && kernel.occupancy_pct)
    text += fmt::format("; {} an SM {} {} of its warps in flight",
                        facts.programs_per_sm == 1 ? "one program" : quantity(facts.programs_per_sm) + " programs",
                        facts.programs_per_sm == 1 ? "keeps" : "keep", percent(*kernel.occupancy_pct));
  if (kernel.blocks_per_sm_limit &&
      (kernel.occupancy_limiter.rfind("registers", 0) == 0 || kernel.occupancy_limiter.rfind("shared memory", 0) == 0))
    text += fmt::format("; beyond {} an SM, {} must fall first or programs must have fewer warps",
                        quantity(*kernel.blocks_per_sm_limit), kernel.occupancy_limiter);
  return text;
}

model::StrategyStep sweep_step(const model::Profile& profile, const std::vector<PassVerdict>& passes, Family family) {
  const Strategy& sweep = *find_strategy(kSweep);
  model::StrategyStep step{sweep.word, sweep.title, reason_of(profile, {}, sweep, family), "", sweep.risk};
  step.bound = bound_of(profile, passes, kSweep, is_gpu(family)).text;
  for (const PassVerdict& pass : passes)
    for (const Limiter& limiter : pass.limiters)
      if (is_gpu(family) && limiter.word == "grid") step.title = "Parameter sweep: more programs per SM first";
  if (remaining_of(passes).at_the_limit)
    step.reason = "Every pass is within 3 % of its ceiling, so the sweep can only confirm the settings. " + step.reason;
  return step;
}

}  // namespace

Remaining remaining_of(const std::vector<PassVerdict>& passes) {
  Remaining remaining;
  double wall_ms = 0, idle_ms = 0;
  remaining.at_the_limit = !passes.empty();
  for (const PassVerdict& pass : passes) {
    const double gain = pass.facts.gain_pct();
    if (!(gain <= 100 - kAtTheLimit)) remaining.at_the_limit = false;
    if (pass.facts.share_pct > kContradiction) remaining.contradicted = true;
    if (known(gain)) {
      remaining.measured_ms += pass.facts.measured_ms;
      remaining.floor_ms += std::min(pass.facts.floor_ms, pass.facts.measured_ms);
    }
    if (known(pass.facts.host_share_pct) && known(pass.facts.wall_ms)) {
      wall_ms += pass.facts.wall_ms;
      idle_ms += pass.facts.host_share_pct / 100 * pass.facts.wall_ms;
    }
  }
  if (remaining.contradicted) remaining.at_the_limit = false;
  if (remaining.measured_ms > 0 && !remaining.contradicted)
    remaining.gain_pct = 100 * (remaining.measured_ms - remaining.floor_ms) / remaining.measured_ms;
  if (wall_ms > 0) remaining.host_share_pct = 100 * idle_ms / wall_ms;
  if (known(remaining.gain_pct) && known(remaining.host_share_pct))
    remaining.caller_gain_pct = remaining.gain_pct * (100 - remaining.host_share_pct) / 100;
  return remaining;
}

bool is_spent(const model::Profile& profile, const std::string& word, const std::string& x_value) {
  const Strategy* strategy = find_strategy(word);
  return strategy != nullptr && (all_knobs_dead(profile.configuration, *strategy) ||
                                 (word == "access-width" && at_full_width(profile, x_value)));
}

std::vector<model::StrategyStep> strategy_order(const model::Profile& profile, const std::vector<PassVerdict>& passes) {
  const Family family = family_of(profile.device);
  std::vector<model::StrategyStep> steps{sweep_step(profile, passes, family)};
  std::vector<std::pair<std::string, std::string>> first_with{{steps.front().bound, kSweep}};  // bound, strategy
  for (const std::string& word : ordered_words(profile, passes, is_gpu(family))) {
    const Strategy& strategy = *find_strategy(word);
    model::StrategyStep step{strategy.word, strategy.title, reason_of(profile, passes, strategy, family), "",
                             strategy.risk};
    const Bound bound = bound_of(profile, passes, word, is_gpu(family));
    step.bound = bound.text;
    // The time over a floor is there once, however many strategies lead to it.
    const auto same = std::find_if(first_with.begin(), first_with.end(),
                                   [&](const auto& known_bound) { return known_bound.first == bound.text; });
    if (same == first_with.end())
      first_with.emplace_back(bound.text, word);
    else if (known(bound.total_pct))
      step.bound += "; the same time as that of " + same->second + ", not in addition to it";
    steps.push_back(std::move(step));
  }
  return steps;
}

model::EstimatedIterations estimated_iterations(const model::Profile& profile, const std::vector<PassVerdict>& passes,
                                                const std::vector<model::StrategyStep>& steps) {
  // A variant below the noise floor can not be told from none; without a floor the smallest effect that matters is 1 %.
  double visible_pct = 1;
  for (const PassVerdict& pass : passes)
    if (known(pass.facts.noise_pct)) visible_pct = std::max(visible_pct, pass.facts.noise_pct);
  const bool gpu = is_gpu(family_of(profile.device));
  int worth = 0;
  std::string left_out;
  for (const model::StrategyStep& step : steps) {
    if (step.strategy == kSweep) continue;
    const double bound = bound_of(profile, passes, step.strategy, gpu).total_pct;
    if (!known(bound) || bound > visible_pct)
      ++worth;
    else
      left_out += (left_out.empty() ? "" : ", ") + step.strategy;
  }
  model::EstimatedIterations estimate;
  if (remaining_of(passes).at_the_limit) {
    estimate.variants = 1;
    estimate.rationale = fmt::format("One, to confirm: at most {} of all passes is left, {} can be seen here.",
                                     percent(remaining_of(passes).gain_pct), percent(visible_pct));
    return estimate;
  }
  constexpr int kMostUseful = 6;  // later strategies rest on what the earlier ones taught; notes decide then
  const int tried = std::min(worth, kMostUseful);
  estimate.variants = 1 + tried;
  estimate.rationale = fmt::format("One parameter sweep and {} {} whose bound lies over the {} that can be seen here",
                                   tried, tried == 1 ? "strategy" : "strategies", percent(visible_pct));
  if (worth > tried) estimate.rationale += fmt::format("; {} more only if those teach that they pay", worth - tried);
  if (!left_out.empty()) estimate.rationale += "; below it: " + left_out;
  estimate.rationale += ".";
  return estimate;
}

std::vector<model::StrategyStep> launch_strategies(const model::CounterSummary& kernel, const LaunchFacts& facts,
                                                   const model::DeviceInfo& device, const std::string& gain) {
  Family family = family_of(device);
  if (!is_gpu(family)) family = Family::other_gpu;
  std::vector<std::string> words = strategies_for(class_of(facts), words_of(facts.limiters), true);
  if (facts.share_of_ceiling_pct >= kAtTheLimit)
    words = {"less-traffic"};  // for these bytes it is as fast as the device
  std::vector<model::StrategyStep> steps;
  for (const std::string& word : words) {
    const Strategy& strategy = *find_strategy(word);
    std::string reason = strategy.on_gpu;
    reason[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(reason[0])));
    std::vector<Limiter> lifted;
    for (const Limiter& each : facts.limiters)
      if (lifts(word, each.word)) lifted.push_back(each);
    reason += ". Here: " + limiter_text(lifted.empty() ? facts.limiters : lifted);
    const bool more = word == "grid-sizing" && !facts.limiters.empty() && facts.limiters.front().word == "grid";
    if (more) reason += in_flight_text(kernel, facts);
    for (const Advice* advice : advice_for(family, word))
      reason += fmt::format(". {}: {} ({})", name_of(family), advice->text, advice->source);
    steps.push_back({strategy.word, more ? "More programs per SM" : strategy.title, reason + ".", gain, strategy.risk});
  }
  return steps;
}

}  // namespace hone::diagnose

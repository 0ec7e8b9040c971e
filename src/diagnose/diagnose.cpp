// The diagnosis of a whole profile: each pass judged, the passes weighed by their time, every row of evidence kept.
#include "diagnose/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diagnose/evidence.hpp"
#include "diagnose/passes.hpp"
#include "diagnose/strategies.hpp"

namespace hone::diagnose {

namespace {

using model::BottleneckClass;

// Passes that count for the request's scope; all where it names one that was not measured.
std::vector<PassVerdict> in_scope(const std::vector<PassVerdict>& passes, const std::string& scope) {
  std::vector<PassVerdict> chosen;
  for (const PassVerdict& pass : passes)
    if (scope != "forward" && scope != "backward")
      chosen.push_back(pass);
    else if (pass.facts.mode == scope)
      chosen.push_back(pass);
  return chosen.empty() ? passes : chosen;
}

// The class that most of the passes' time has. Passes without a time weigh the same.
BottleneckClass class_by_time(const std::vector<PassVerdict>& passes) {
  std::map<BottleneckClass, double> weight;
  for (const PassVerdict& pass : passes)
    weight[pass.cls] += known(pass.facts.measured_ms) ? pass.facts.measured_ms : 1e-9;
  BottleneckClass heaviest = passes.front().cls;
  for (const auto& [cls, time] : weight)
    if (time > weight[heaviest]) heaviest = cls;
  return heaviest;
}

const PassVerdict& leading_pass(const std::vector<PassVerdict>& passes, BottleneckClass cls) {
  const PassVerdict* leading = nullptr;
  for (const PassVerdict& pass : passes) {
    if (pass.cls != cls) continue;
    if (leading == nullptr || pass.facts.measured_ms > leading->facts.measured_ms) leading = &pass;
  }
  return leading == nullptr ? passes.front() : *leading;
}

// The whole call: host-bound when most of the caller's time over all passes is host, otherwise what its passes are.
BottleneckClass class_of_whole(const std::vector<PassVerdict>& passes) {
  if (remaining_of(passes).host_share_pct >= kHostShareMajority) return BottleneckClass::host_bound;
  return class_by_time(passes);
}

std::string plain_rule_of(const PassVerdict& pass) {
  if (pass.facts.kernels.empty()) return "not applicable: the rule reads hardware counters, and there are none";
  const model::CounterSummary& kernel = *pass.facts.kernels.front();
  return plain_rule(kernel.compute_throughput_pct.value_or(kUnknown), kernel.memory_throughput_pct.value_or(kUnknown));
}

// Medians of a pass whose own copy differs from it by half are no ground for a class.
bool is_blind(const PassVerdict& pass) {
  constexpr double kBlindPct = 50;
  return known(pass.facts.noise_pct) && pass.facts.noise_pct > kBlindPct;
}

// Several routes that agree, none against, and well inside the class: high. One route, or a point near a border: medium.
// Routes that disagree, or nothing measured: low.
model::Confidence confidence_of(const PassVerdict& pass) {
  if (!pass.known_at_all || is_blind(pass)) return model::Confidence::low;
  int agree = 0, disagree = 0;
  for (const auto& route : {pass.by_ceiling, pass.by_ablation, pass.by_counters}) {
    if (!route) continue;
    (*route == pass.cls ? agree : disagree) += 1;
  }
  if (pass.cls == BottleneckClass::host_bound)
    return pass.point.host_share_pct >= kHostShareMajority + 10 ? model::Confidence::high : model::Confidence::medium;
  if (disagree > 0 || agree == 0) return model::Confidence::low;
  constexpr double kWellInside = 5;  // points of either axis
  // One unit alone should take nearly all of the time; where it does not, the other is not hidden behind it.
  const std::optional<model::Experiment>& alone =
      pass.cls == BottleneckClass::memory_bound ? pass.facts.no_compute : pass.facts.no_memory;
  const bool one_unit = pass.cls == BottleneckClass::memory_bound || pass.cls == BottleneckClass::compute_bound;
  const bool in_part = one_unit && alone && 100 * alone->ratio < kAblationWhole;
  const bool firm = agree >= 2 && !in_part && stable_within(pass.point, kWellInside);
  return firm ? model::Confidence::high : model::Confidence::medium;
}

std::string routes_text(const PassVerdict& pass) {
  std::string agree, differ;
  const std::pair<const char*, std::optional<BottleneckClass>> routes[] = {
      {"share of the measured ceiling", pass.by_ceiling},
      {"ablations", pass.by_ablation},
      {"hardware counters", pass.by_counters}};
  for (const auto& [name, cls] : routes) {
    if (!cls) continue;
    if (*cls == pass.cls)
      agree += (agree.empty() ? "" : " and ") + std::string(name);
    else
      differ += (differ.empty() ? "" : ", ") + std::string(name) + " alone would say " + model::word(*cls);
  }
  if (pass.cls == BottleneckClass::host_bound) return "the host share decides it whatever the kernel does";
  if (agree.empty() && differ.empty())
    return pass.known_at_all ? "neither unit is near its ceiling, which alone does not say what is waited for"
                             : "nothing was measured";
  std::string text = agree.empty() ? "" : agree + (agree.find(" and ") == std::string::npos ? " says so" : " agree");
  if (!differ.empty()) text += (text.empty() ? "" : ", but ") + differ;
  return text;
}

// By which route the class was found: what a reader must know to trust it.
std::string route_of(const model::Profile& profile, const std::vector<PassVerdict>& passes) {
  std::string routes;
  const auto add = [&](bool taken, const char* name) {
    if (taken) routes += (routes.empty() ? "" : ", ") + std::string(name);
  };
  const auto any = [&](auto&& has) { return std::any_of(passes.begin(), passes.end(), has); };
  add(any([](const auto& pass) { return pass.by_counters.has_value(); }), "hardware counters");
  add(any([](const auto& pass) { return known(pass.facts.memory_share_pct) || known(pass.facts.compute_share_pct); }),
      "shares of the measured ceilings");
  add(any([](const auto& pass) { return pass.facts.no_compute || pass.facts.no_memory; }), "ablations");
  add(any([](const auto& pass) { return pass.facts.fewer_warps || pass.facts.more_warps; }), "a sweep of the warps");
  add(any([](const auto& pass) { return pass.facts.kernels.empty() && !pass.facts.calculated.empty(); }),
      "occupancy by calculation");
  if (routes.empty()) return "";
  const bool counted = profile.counters.status == "available";
  return (counted ? "Route: " : "Route without hardware counters: ") + routes + ". ";
}

std::string reasoning_of(const std::vector<PassVerdict>& passes, BottleneckClass whole) {
  std::string text;
  for (const PassVerdict& pass : passes) {
    std::string mode = pass.facts.mode;
    mode[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(mode[0])));
    text += fmt::format("{} is {}", mode, model::word(pass.cls));
    if (pass.known_at_all)
      text += ": " + limiter_text(pass.limiters);
    else
      text += " only by what kernels of its tier usually are";
    text += "; " + routes_text(pass) + ". ";
    if (is_blind(pass))
      text += fmt::format("Identical code differs by up to {} here: the times of {} say little. ",
                          percent(pass.facts.noise_pct), pass.facts.mode);
  }
  if (passes.size() > 1) {
    double total = 0, of_class = 0;
    for (const PassVerdict& pass : passes) {
      if (!known(pass.facts.measured_ms)) continue;
      total += pass.facts.measured_ms;
      if (pass.cls == whole) of_class += pass.facts.measured_ms;
    }
    if (whole == BottleneckClass::host_bound)
      text += fmt::format("Over all passes the device is idle for {} of the caller's time.",
                          percent(remaining_of(passes).host_share_pct));
    else if (total > 0)
      text += fmt::format("The kernel is {} by {} of the time of its passes.", model::word(whole),
                          percent(100 * of_class / total));
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string refutation_of(const PassVerdict& pass) {
  const std::string& mode = pass.facts.mode;
  const auto now = [](const std::optional<model::Experiment>& ablated) {
    return ablated ? " (" + percent(100 * ablated->ratio) + " was measured)" : std::string();
  };
  switch (pass.cls) {
    case BottleneckClass::memory_bound:
      return fmt::format(
          "{} taking less than {:.0f} % of its time with only its arithmetic taken out{}, or as long as now "
          "with half the bytes.",
          mode, kBusy, now(pass.facts.no_compute));
    case BottleneckClass::compute_bound:
      return fmt::format(
          "{} taking less than {:.0f} % of its time with only its memory traffic taken out{}, or as long as "
          "now with half the operations.",
          mode, kBusy, now(pass.facts.no_memory));
    case BottleneckClass::balanced:
      return fmt::format(
          "{} taking less than {:.0f} % of its time with either its arithmetic{} or its memory traffic{} "
          "taken out.",
          mode, kBalancedFloor, now(pass.facts.no_compute), now(pass.facts.no_memory));
    case BottleneckClass::latency_bound:
      return fmt::format(
          "{} taking as long as now with more loads in flight (more programs, deeper prefetch, wider "
          "loads), or a traffic count that shows a unit busy for over {:.0f} % of its time.",
          mode, kBusy);
    case BottleneckClass::host_bound:
      return fmt::format("the caller's time of {} falling by as much as the kernel's when the kernel is made faster.",
                         mode);
    case BottleneckClass::undecided: break;  // a class of captures alone
  }
  return "";
}

std::vector<model::ClassOfPass> classes_of(const std::vector<PassVerdict>& passes, const model::Profile& profile) {
  std::vector<model::ClassOfPass> classes;
  for (const PassVerdict& pass : passes) classes.push_back({pass.facts.mode, pass.cls, limiter_text(pass.limiters)});
  const std::vector<std::string> modes = modes_of(profile);
  if (passes.size() > 1 && std::find(modes.begin(), modes.end(), "full") != modes.end()) {
    const BottleneckClass whole = host_share_of(profile, passes.front().facts.x_value, "full") >= kHostShareMajority
                                      ? BottleneckClass::host_bound
                                      : class_of_whole(passes);
    const PassVerdict& leading = leading_pass(passes, whole);
    classes.push_back({"full", whole,
                       whole == BottleneckClass::host_bound
                           ? "the caller's host code"
                           : leading.facts.mode + ": " + limiter_text(leading.limiters)});
  }
  return classes;
}

// "grid (132 programs); registers (113 a thread)" -> "grid, registers": the figures stand in the block on the class.
std::string without_figures(const std::string& limiters) {
  std::string text;
  int depth = 0;
  for (const char c : limiters) {
    depth += c == '(' ? 1 : 0;
    if (depth == 0) text.push_back(c == ';' ? ',' : c);
    depth -= c == ')' ? 1 : 0;
  }
  for (std::size_t at = text.find(" ,"); at != std::string::npos; at = text.find(" ,")) text.erase(at, 1);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string summary_of(const model::Profile& profile, const std::vector<PassVerdict>& passes,
                       const Diagnosis& diagnosis) {
  const Remaining remaining = remaining_of(passes);
  std::string shares;
  for (const PassVerdict& pass : passes)
    if (known(pass.facts.share_pct))
      shares +=
          (shares.empty() ? "" : ", ") + pass.facts.mode + " at " + percent(pass.facts.share_pct) + " of its ceiling";
  std::string text = profile.kernel + " is " + model::word(diagnosis.bottleneck.cls);
  if (!diagnosis.bottleneck.limiter.empty()) text += ", limited by " + without_figures(diagnosis.bottleneck.limiter);
  if (!shares.empty()) text += "; " + shares;
  if (remaining.at_the_limit)
    return text + "; at the limit: nothing to gain (at most " + percent(remaining.gain_pct) + " is left).";
  if (known(remaining.gain_pct))
    text += "; headroom: at most " + percent(remaining.gain_pct) + " of the passes' time lies above the roofline bound";
  else if (remaining.contradicted)
    text += "; what is left is not known, because a pass is faster than the measured ceiling allows";
  else
    text += "; the headroom is not known, because there is no roofline bound";
  if (remaining.host_share_pct >= 20) text += ", " + percent(remaining.caller_gain_pct) + " of the caller's";
  if (!diagnosis.strategy_order.empty()) {
    text += "; first: " + diagnosis.strategy_order.front().title;
    if (diagnosis.strategy_order.size() > 1) text += ", then " + diagnosis.strategy_order[1].title;
  }
  return text + ".";
}

// A profile without a single row still has one pass to speak of, by its tier.
std::vector<PassVerdict> verdicts_of(const model::Profile& profile) {
  std::vector<PassFacts> facts = pass_facts(profile);
  if (facts.empty()) {
    facts.emplace_back();
    facts.back().mode = "kernel";
  }
  // A capture whose kernels carry no pass in their names belongs to the only pass there is.
  if (facts.size() == 1 && facts.front().kernels.empty())
    for (const model::CounterSummary& kernel : profile.counters.kernels)
      if (kernel.owner.empty() && kernel.counted()) facts.front().kernels.push_back(&kernel);
  std::vector<PassVerdict> passes;
  for (const PassFacts& each : facts) passes.push_back(judge(each, profile));
  return passes;
}

}  // namespace

Diagnosis diagnose(const model::Profile& profile) {
  const std::vector<PassVerdict> all = verdicts_of(profile);
  const std::vector<PassVerdict> passes = in_scope(all, profile.request.scope);
  Diagnosis diagnosis;
  model::Bottleneck& bottleneck = diagnosis.bottleneck;
  bottleneck.cls = class_of_whole(passes);
  const PassVerdict& leading = leading_pass(passes, bottleneck.cls);
  bottleneck.limiter = bottleneck.cls == BottleneckClass::host_bound && leading.cls != bottleneck.cls
                           ? "the caller's host code"
                           : limiter_text(leading.limiters);
  bottleneck.plain_rule_class = plain_rule_of(leading);
  bottleneck.confidence = confidence_of(leading);
  bottleneck.evidence = evidence_of(profile, all);
  bottleneck.reasoning = route_of(profile, passes) + reasoning_of(passes, bottleneck.cls);
  bottleneck.refutation = refutation_of(leading);
  bottleneck.by_pass = classes_of(all, profile);
  diagnosis.opportunities = opportunities(profile, passes);
  diagnosis.strategy_order = strategy_order(profile, passes);
  diagnosis.estimated_iterations = estimated_iterations(profile, passes, diagnosis.strategy_order);
  diagnosis.summary = summary_of(profile, passes, diagnosis);
  return diagnosis;
}

}  // namespace hone::diagnose

#include "diagnose/passes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hone::diagnose {

namespace {

using model::BottleneckClass;

// Ablations as shares of the pass's time: what remains with the arithmetic taken out is the time of memory alone.
double memory_alone_pct(const PassFacts& facts) { return facts.no_compute ? 100 * facts.no_compute->ratio : kUnknown; }
double compute_alone_pct(const PassFacts& facts) { return facts.no_memory ? 100 * facts.no_memory->ratio : kUnknown; }

// Memory takes all of the time, at less than half its bandwidth: single accesses are waited for.
bool waits_for_accesses(const PassFacts& facts) {
  return memory_alone_pct(facts) >= kAblationWhole && facts.memory_share_pct < kBandwidthBound;
}

Point point_of(const PassFacts& facts, const model::Profile& profile) {
  Point point;
  point.occupancy_pct = kUnknown;
  point.duration_us = facts.measured_ms * 1000;
  point.host_share_pct = facts.host_share_pct;
  point.memory_pct =
      waits_for_accesses(facts) ? facts.memory_share_pct : most_known(facts.memory_share_pct, memory_alone_pct(facts));
  point.compute_pct = most_known(facts.compute_share_pct, compute_alone_pct(facts));
  if (facts.kernels.empty() && !facts.calculated.empty())
    point.occupancy_pct = attainable_occupancy_pct(*facts.calculated.front());
  if (!facts.kernels.empty()) {
    const LaunchFacts launch = launch_facts(*facts.kernels.front(), profile.device);
    point.occupancy_pct = launch.point.occupancy_pct;
    point.compute_pct = most_known(point.compute_pct, launch.point.compute_pct);
    point.memory_pct = most_known(point.memory_pct, launch.point.memory_pct);
  }
  return point;
}

std::optional<BottleneckClass> class_by_ceiling(const PassFacts& facts) {
  const double memory = facts.memory_share_pct, compute = facts.compute_share_pct;
  if (!(memory >= kBusy) && !(compute >= kBusy)) return std::nullopt;  // a low share alone does not say why
  Point point{compute, memory, kUnknown, kUnknown, kUnknown};
  return classify(point);
}

std::optional<BottleneckClass> class_by_ablation(const PassFacts& facts) {
  if (!facts.no_compute || !facts.no_memory) return std::nullopt;
  if (waits_for_accesses(facts)) return BottleneckClass::latency_bound;
  Point point{compute_alone_pct(facts), memory_alone_pct(facts), kUnknown, kUnknown, kUnknown};
  return classify(point);
}

std::string memory_limiter_text(const PassFacts& facts, const model::Profile& profile) {
  const double cache = static_cast<double>(profile.device.last_level_cache_bytes());
  if (facts.memory_share_pct > kOverTheCeiling && cache > 0 && facts.bytes > 0 && facts.bytes <= cache)
    return "cache bandwidth (" + bytes_text(facts.bytes) + " fit the last-level cache of " + bytes_text(cache) + ")";
  if (known(facts.memory_share_pct))
    return "memory bandwidth (" + percent(facts.memory_share_pct) + " of the measured ceiling)";
  return "memory bandwidth";
}

// Memory alone and arithmetic alone add up to the whole time: the pass does one after the other.
bool takes_turns(const PassFacts& facts) {
  const double memory = memory_alone_pct(facts), compute = compute_alone_pct(facts), sum = memory + compute;
  const bool both_matter = memory >= kTakeTurns - 100 && compute >= kTakeTurns - 100;
  return !waits_for_accesses(facts) && both_matter && sum <= kTakeTurns && sum >= 200 - kTakeTurns;
}

Limiter overlap_limiter(const PassFacts& facts) {
  return {"no overlap", fmt::format("no overlap (memory alone {} and arithmetic alone {} of the time take turns)",
                                    percent(memory_alone_pct(facts)), percent(compute_alone_pct(facts)))};
}

void add_latency_limiters(PassVerdict& verdict, const model::Profile& profile) {
  const PassFacts& facts = verdict.facts;
  const double launch_us = profile.device.ceilings.p50("launch_latency_ns") / 1000;
  if (launch_us > 0 && facts.measured_ms * 1000 < kLaunchesWorth * launch_us)
    verdict.limiters.push_back(
        {"short launch", fmt::format("fixed cost of a launch ({} against {} us for an empty one)",
                                     milliseconds(facts.measured_ms), number(launch_us))});
  if (waits_for_accesses(facts))
    verdict.limiters.push_back(
        {"memory latency",
         fmt::format("memory latency (memory alone takes {} of the time at {} of bandwidth: too few bytes in flight)",
                     percent(memory_alone_pct(facts)), percent(facts.memory_share_pct))});
  if (takes_turns(facts)) verdict.limiters.push_back(overlap_limiter(facts));
  if (verdict.limiters.empty())
    verdict.limiters.push_back({"dependency stalls", "too little in flight (dependency stalls)"});
}

void name_limiters(PassVerdict& verdict, const model::Profile& profile) {
  const PassFacts& facts = verdict.facts;
  if (!facts.kernels.empty() && verdict.cls == BottleneckClass::latency_bound) {
    const LaunchFacts launch = launch_facts(*facts.kernels.front(), profile.device);
    if (classify(launch.point) == BottleneckClass::latency_bound) verdict.limiters = launch.limiters;
  }
  const bool calculated = facts.kernels.empty() && !facts.calculated.empty();
  if (calculated && verdict.cls == BottleneckClass::latency_bound)
    verdict.limiters = static_limiters(*facts.calculated.front());
  switch (verdict.cls) {
    case BottleneckClass::memory_bound: verdict.limiters = {{"bandwidth", memory_limiter_text(facts, profile)}}; break;
    case BottleneckClass::compute_bound:
      verdict.limiters = {
          {"arithmetic", known(compute_alone_pct(facts))
                             ? "arithmetic (alone it takes " + percent(compute_alone_pct(facts)) + " of the time)"
                             : "arithmetic (" + percent(verdict.point.compute_pct) + " of its peak)"}};
      break;
    case BottleneckClass::balanced: verdict.limiters = {{"both units", "memory and arithmetic together"}}; break;
    case BottleneckClass::host_bound:
      verdict.limiters = {
          {"host", "the caller's host code (" + percent(facts.host_share_pct) + " of its time the device is idle)"}};
      break;
    case BottleneckClass::latency_bound:
      if (verdict.limiters.empty() || calculated) add_latency_limiters(verdict, profile);
      break;
    case BottleneckClass::undecided: break;  // a class of captures alone
  }
  const bool one_unit = verdict.cls == BottleneckClass::memory_bound || verdict.cls == BottleneckClass::compute_bound;
  if (one_unit && takes_turns(facts)) verdict.limiters.push_back(overlap_limiter(facts));
}

}  // namespace

double PassVerdict::ablation_gain_pct(bool of_memory) const {
  const std::optional<model::Experiment>& ablated = of_memory ? facts.no_memory : facts.no_compute;
  return ablated ? std::clamp(100 * (1 - ablated->ratio), 0.0, 100.0) : kUnknown;
}

BottleneckClass prior_of_tier(int tier) {
  return tier >= 3 ? BottleneckClass::balanced : BottleneckClass::memory_bound;
}

PassVerdict judge(const PassFacts& facts, const model::Profile& profile) {
  PassVerdict verdict;
  verdict.facts = facts;
  verdict.point = point_of(facts, profile);
  verdict.by_ceiling = class_by_ceiling(facts);
  verdict.by_ablation = class_by_ablation(facts);
  if (!facts.kernels.empty())
    if (const Point counted = launch_facts(*facts.kernels.front(), profile.device).point; decided(counted))
      verdict.by_counters = classify(counted);
  verdict.known_at_all = known(verdict.point.memory_pct) || known(verdict.point.compute_pct) ||
                         verdict.point.host_share_pct >= kHostShareMajority;
  verdict.cls = verdict.known_at_all ? classify(verdict.point) : prior_of_tier(profile.identity.tier);
  name_limiters(verdict, profile);
  return verdict;
}

}  // namespace hone::diagnose

// The diagnosis of one captured kernel: class, evidence, what is left to gain, and what to try, from its counters alone.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/launch.hpp"
#include "diagnose/strategies.hpp"

namespace hone::diagnose {

namespace {

using model::BottleneckClass;

// How far inside its class the point lies decides; the measured ceiling and the stall reasons can confirm it.
model::Confidence confidence_of(const model::CounterSummary& kernel, const LaunchFacts& facts) {
  if (!kernel.compute_throughput_pct || (!kernel.memory_throughput_pct && !kernel.dram_throughput_pct))
    return model::Confidence::low;
  constexpr double kNearBorder = 3, kWellInside = 8;  // points of either axis; runs of one kernel differ by 1 to 2
  if (!stable_within(facts.point, kNearBorder)) return model::Confidence::low;
  return stable_within(facts.point, kWellInside) ? model::Confidence::high : model::Confidence::medium;
}

std::string gain_text(const LaunchFacts& facts) {
  if (!(facts.copy_ceiling > 0))
    return "not known: no measured ceiling was given (a saved profile or --ceilings FILE.json)";
  if (!known(facts.share_of_ceiling_pct)) return "not known: the capture does not count DRAM bytes";
  const double left = std::max(0.0, 100 - facts.share_of_ceiling_pct);
  const std::string figure =
      fmt::format("{} of the measured copy ceiling of {}, at most {} of its time", percent(facts.share_of_ceiling_pct),
                  bandwidth(facts.copy_ceiling), percent(left));
  if (facts.share_of_ceiling_pct >= kAtTheLimit) return "little or nothing to gain: at the limit, " + figure;
  if (facts.share_of_ceiling_pct >= kNearTheLimit) return "little or nothing to gain: " + figure;
  std::string text = "at " + figure + " with the same DRAM traffic";
  if (class_of(facts) == BottleneckClass::compute_bound)
    text += ", and at most " + percent(100 - facts.point.compute_pct) + " without fewer instructions";
  return text;
}

std::string reasoning_of(const model::CounterSummary& kernel, const LaunchFacts& facts) {
  // What was not counted is not said to be idle.
  const auto level = [](double pct) { return known(pct) ? percent(pct) : std::string("not in this capture"); };
  const bool only_bytes = !known(facts.point.memory_pct) && known(facts.dram_bytes_per_s);
  const std::string memory = only_bytes ? bandwidth(facts.dram_bytes_per_s) +
                                              " of DRAM, whose share of the peak is not in this capture"
                                        : level(facts.point.memory_pct),
                    compute = level(facts.point.compute_pct);
  const bool both = known(facts.point.memory_pct) && known(facts.point.compute_pct);
  switch (class_of(facts)) {
    case BottleneckClass::memory_bound:
      return fmt::format("Memory is {} unit ({}{}), limited by {}.", both ? "the busier" : "a busy", memory,
                         both ? " against " + compute + " for compute" : "; compute is " + compute,
                         limiter_text(facts.limiters));
    case BottleneckClass::compute_bound:
      return fmt::format("The SMs are {} unit ({}{}), limited by {}.", both ? "the busier" : "a busy", compute,
                         both ? " against " + memory + " for memory" : "; memory is " + memory,
                         limiter_text(facts.limiters));
    case BottleneckClass::balanced:
      return fmt::format("Memory ({}) and compute ({}) are about equally busy: relieving one alone gains little.",
                         memory, compute);
    case BottleneckClass::latency_bound: {
      std::string text = fmt::format("Neither unit is busy: memory {}, compute {}", memory, compute);
      if (kernel.occupancy_pct) text += ", with " + percent(*kernel.occupancy_pct) + " of the warps in flight";
      if (starved(facts.point))
        text += fmt::format(" (so few that a unit counts as busy only from {:.0f} %)", kBusyWhenStarved);
      return text + ". Too little is in flight, limited by " + limiter_text(facts.limiters) + ".";
    }
    case BottleneckClass::undecided: {
      std::string text = fmt::format("No unit was seen busy: memory {}, compute {}", memory, compute);
      if (kernel.occupancy_pct) text += ", with " + percent(*kernel.occupancy_pct) + " of the warps in flight";
      return text + ". Which one limits, or whether none does, is open: capture with --section SpeedOfLight.";
    }
    case BottleneckClass::host_bound: break;  // a capture knows nothing of the host
  }
  return "";
}

std::string refutation_of(const LaunchFacts& facts) {
  switch (class_of(facts)) {
    case BottleneckClass::undecided: return "";
    case BottleneckClass::memory_bound:
      return "the kernel taking as long as now with half the bytes, or less time with less arithmetic alone.";
    case BottleneckClass::compute_bound: return "the kernel taking as long as now with half the instructions.";
    case BottleneckClass::balanced: return "relieving one unit alone taking off more than what separates the two.";
    default: return "the kernel taking as long as now with more warps or more loads in flight.";
  }
}

}  // namespace

KernelDiagnosis diagnose_kernel(const model::CounterSummary& kernel, const model::DeviceInfo& device) {
  const LaunchFacts facts = launch_facts(kernel, device);
  KernelDiagnosis diagnosis;
  model::Bottleneck& bottleneck = diagnosis.bottleneck;
  bottleneck.cls = class_of(facts);
  bottleneck.plain_rule_class =
      plain_rule(kernel.compute_throughput_pct.value_or(kUnknown), kernel.memory_throughput_pct.value_or(kUnknown));
  bottleneck.confidence = confidence_of(kernel, facts);
  bottleneck.limiter = limiter_text(facts.limiters);
  bottleneck.evidence = launch_evidence(kernel, facts);
  bottleneck.reasoning = reasoning_of(kernel, facts);
  bottleneck.refutation = refutation_of(facts);
  diagnosis.share_of_ceiling_pct = facts.share_of_ceiling_pct;
  diagnosis.memory_pct = facts.point.memory_pct;
  diagnosis.gain = gain_text(facts);
  diagnosis.strategy_order = launch_strategies(kernel, facts, device, diagnosis.gain);
  if (bottleneck.cls == BottleneckClass::memory_bound && known(facts.share_of_ceiling_pct))
    bottleneck.reasoning +=
        (facts.share_of_ceiling_pct >= kNearTheLimit ? " There is " : " It stands ") + diagnosis.gain + ".";
  return diagnosis;
}

}  // namespace hone::diagnose

#include "diagnose/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "diagnose/advice.hpp"

namespace hone::diagnose {

namespace {

using model::BottleneckClass;
using model::CounterSummary;
using model::Source;

struct StallMeaning {
  const char* reason;
  const char* meaning;
};

// Nsight Compute, Kernel Profiling Guide, "Warp Stall Reasons", in few words.
constexpr std::array kStallMeanings{
    StallMeaning{"long scoreboard", "waiting for global or local memory"},
    StallMeaning{"short scoreboard", "waiting for shared memory or special functions"},
    StallMeaning{"barrier", "waiting for the other warps of the block"},
    StallMeaning{"wait", "fixed latency of the instruction before"},
    StallMeaning{"not selected", "ready while another warp issued: enough warps in flight"},
    StallMeaning{"math pipe throttle", "waiting for an arithmetic pipe"},
    StallMeaning{"mio throttle", "queue to shared memory and special functions full"},
    StallMeaning{"lg throttle", "queue to local and global memory full"},
    StallMeaning{"tex throttle", "queue to the texture unit full"},
    StallMeaning{"drain", "waiting for stores to finish at exit"},
    StallMeaning{"no instruction", "waiting for instruction fetch"},
    StallMeaning{"imc miss", "waiting for the constant cache"},
    StallMeaning{"branch resolving", "waiting for a branch target"},
    StallMeaning{"dispatch stall", "dispatch held back"},
    StallMeaning{"membar", "waiting for a memory barrier"},
    StallMeaning{"gmma", "waiting for matrix units"},
    StallMeaning{"sleeping", "all threads of the warp asleep"},
    StallMeaning{"misc", "other"},
};

double or_unknown(const std::optional<double>& value) { return value.value_or(kUnknown); }

std::string count(double value, const char* one, const char* many) {
  return quantity(std::round(value)) + " " + (std::round(value) == 1 ? one : many);
}

// "one an SM", "3 an SM", "on 132 SMs: 128 stay idle".
std::string programs_text(const CounterSummary& kernel, double programs_per_sm) {
  const double grid = kernel.grid_size.value_or(0), sms = kernel.sm_count.value_or(0);
  if (!known(programs_per_sm)) return count(grid, "program", "programs");
  if (grid < sms)
    return fmt::format("{} on {:.0f} SMs: {:.0f} stay idle", count(grid, "program", "programs"), sms, sms - grid);
  if (grid == sms) return fmt::format("{:.0f} programs, one an SM", grid);
  return fmt::format("{:.0f} programs, {} an SM", grid, quantity(programs_per_sm));
}

double programs_per_sm(const CounterSummary& kernel) {
  return kernel.grid_size && kernel.sm_count.value_or(0) > 0 ? *kernel.grid_size / *kernel.sm_count : kUnknown;
}

Limiter grid_limiter(const CounterSummary& kernel) {
  const double programs = programs_per_sm(kernel);
  std::string text = "grid (" + programs_text(kernel, programs);
  const double room = kernel.blocks_per_sm_limit.value_or(0);
  if (known(programs) && room > programs) text += fmt::format("; {:.0f} would fit", room);
  return {"grid", text + ")"};
}

// Those that hold theoretical occupancy, several where they tie.
std::vector<Limiter> resource_limiters(const CounterSummary& kernel) {
  const std::string fit =
      kernel.blocks_per_sm_limit && kernel.block_size
          ? fmt::format("{} of {:.0f} threads an SM, ", count(*kernel.blocks_per_sm_limit, "program", "programs"),
                        *kernel.block_size)
          : "";
  const std::string share = percent(*kernel.theoretical_occupancy_pct) + " of its warps";
  const auto each = [&](const std::optional<double>& size, const std::string& words) {
    return size ? words + ": " + fit + share : fit + share;
  };
  const std::string& held_by = kernel.occupancy_limiter;
  const auto holds = [&](const char* word) { return held_by.find(word) != std::string::npos; };
  std::vector<Limiter> limiters;
  if (holds("registers"))
    limiters.push_back(
        {"registers",
         fmt::format("registers ({})", each(kernel.registers_per_thread,
                                            quantity(kernel.registers_per_thread.value_or(0)) + " a thread"))});
  if (holds("shared memory"))
    limiters.push_back(
        {"shared memory", fmt::format("shared memory ({})",
                                      each(kernel.shared_bytes_per_block,
                                           bytes_text(kernel.shared_bytes_per_block.value_or(0)) + " a program"))});
  for (const char* word : {"block size", "blocks per SM", "barriers"})
    if (holds(word)) limiters.push_back({"block size", fmt::format("{} ({}{})", word, fit, share)});
  return limiters;
}

// Share of the time that an even last wave would save, in percent.
double tail_loss_pct(double waves) { return waves > 1 ? 100 * (std::ceil(waves) - waves) / std::ceil(waves) : 0; }

void add_latency_limiters(const CounterSummary& kernel, LaunchFacts& facts) {
  facts.limiters = static_limiters(kernel);
  if (facts.point.duration_us > 0 && facts.point.duration_us < kShortLaunchUs)
    facts.limiters.push_back({"short launch", "short launch (" + number(facts.point.duration_us) +
                                                  " us, about what an empty kernel takes)"});
  if (!kernel.stalls.empty() && kernel.stalls.front().pct >= kStallShare)
    facts.limiters.push_back(
        {"dependency stalls",
         fmt::format("dependency stalls ({} {}: {})", kernel.stalls.front().reason, percent(kernel.stalls.front().pct),
                     stall_meaning(kernel.stalls.front().reason))});
  if (facts.limiters.empty())
    facts.limiters.push_back({"dependency stalls", "a cause that no counter of this capture names"});
}

// The level of memory that is busy. Nsight's memory throughput and the point's are the busiest level's, so the figure
// beside a level must be that level's own.
Limiter memory_limiter(const CounterSummary& kernel, const LaunchFacts& facts) {
  const double busy = starved(facts.point) ? kBusyWhenStarved : kBusy;
  const double l2 = or_unknown(kernel.l2_throughput_pct), l1 = or_unknown(kernel.l1_throughput_pct);
  const double nominal = or_unknown(kernel.dram_throughput_pct);
  const bool measured = known(facts.share_of_ceiling_pct);
  if ((measured ? facts.share_of_ceiling_pct : nominal) >= busy) {
    std::string text = measured ? percent(facts.share_of_ceiling_pct) + " of the measured copy ceiling"
                                : percent(nominal) + " of nominal peak";
    if (l2 >= kCacheBusy && !(facts.share_of_ceiling_pct >= kNearTheLimit))
      text += "; L2 at " + percent(l2) + " of its peak";
    return {"DRAM bandwidth", "DRAM bandwidth (" + text + ")"};
  }
  if (l2 >= kCacheBusy) return {"L2 bandwidth", "L2 bandwidth (" + percent(l2) + " of its peak)"};
  if (l1 >= busy) return {"L1 bandwidth", "L1 bandwidth (" + percent(l1) + " of its peak)"};
  std::string text = "the busiest level of memory (" + percent(facts.point.memory_pct) + " of its peak";
  if (known(nominal)) text += "; DRAM at " + percent(nominal);
  return {"memory bandwidth", text + ")"};
}

// The throughput of the SMs is that of the busiest of their pipes and of the issue of instructions; which one it is, only a
// stall reason tells.
Limiter compute_limiter(const CounterSummary& kernel) {
  std::string unit = "which pipe is busy is not in this capture";
  if (!kernel.stalls.empty() && kernel.stalls.front().pct >= kStallShare) {
    if (kernel.stalls.front().reason == "math pipe throttle") unit = "warps wait for an arithmetic pipe";
    if (kernel.stalls.front().reason == "not selected") unit = "warps wait for the issue of instructions";
  }
  return {"SM throughput", fmt::format("the busiest unit of the SMs ({} of its peak; {})",
                                       percent(*kernel.compute_throughput_pct), unit)};
}

}  // namespace

BottleneckClass class_of(const LaunchFacts& facts) {
  return decided(facts.point) ? classify(facts.point) : BottleneckClass::undecided;
}

std::string stall_meaning(const std::string& reason) {
  for (const StallMeaning& each : kStallMeanings)
    if (reason == each.reason) return each.meaning;
  return "";
}

std::vector<std::string> stall_reasons() {
  std::vector<std::string> reasons;
  for (const StallMeaning& each : kStallMeanings) reasons.emplace_back(each.reason);
  return reasons;
}

LaunchFacts launch_facts(const CounterSummary& kernel, const model::DeviceInfo& device) {
  LaunchFacts facts;
  if (kernel.dram_bytes && kernel.duration_us.value_or(0) > 0)
    facts.dram_bytes_per_s = *kernel.dram_bytes / (*kernel.duration_us * 1e-6);
  facts.copy_ceiling = device.ceilings.p50("copy_bytes_per_s");
  if (facts.copy_ceiling > 0 && known(facts.dram_bytes_per_s))
    facts.share_of_ceiling_pct = 100 * facts.dram_bytes_per_s / facts.copy_ceiling;
  facts.programs_per_sm = programs_per_sm(kernel);

  Point& point = facts.point;
  point.compute_pct = or_unknown(kernel.compute_throughput_pct);
  // Nsight's memory throughput is the busiest of DRAM, L1 and the paths between; DRAM alone is held against its ceiling.
  point.memory_pct = or_unknown(kernel.memory_throughput_pct);
  if (!known(point.memory_pct)) point.memory_pct = or_unknown(kernel.dram_throughput_pct);
  if (known(facts.share_of_ceiling_pct) && !(point.memory_pct > facts.share_of_ceiling_pct))
    point.memory_pct = facts.share_of_ceiling_pct;
  point.occupancy_pct = kernel.counted() ? or_unknown(kernel.occupancy_pct) : attainable_occupancy_pct(kernel);
  point.duration_us = or_unknown(kernel.duration_us);
  point.host_share_pct = kUnknown;  // a capture replays kernels one by one: it knows nothing of the host
  const double l2 = or_unknown(kernel.l2_throughput_pct);
  if (l2 >= kCacheBusy && !(point.memory_pct >= l2)) point.memory_pct = l2;

  switch (class_of(facts)) {
    case BottleneckClass::latency_bound: add_latency_limiters(kernel, facts); break;
    case BottleneckClass::memory_bound: facts.limiters.push_back(memory_limiter(kernel, facts)); break;
    case BottleneckClass::compute_bound: facts.limiters.push_back(compute_limiter(kernel)); break;
    case BottleneckClass::undecided: break;
    default: facts.limiters.push_back({"both units", "memory and arithmetic together"}); break;
  }
  return facts;
}

std::vector<Limiter> static_limiters(const CounterSummary& kernel) {
  std::vector<Limiter> limiters;
  const double waves = or_unknown(kernel.waves_per_sm);
  if (waves < 1) limiters.push_back(grid_limiter(kernel));
  if (kernel.theoretical_occupancy_pct.value_or(100) < kLowTheoreticalOccupancy)
    for (Limiter& limiter : resource_limiters(kernel)) limiters.push_back(std::move(limiter));
  if (kernel.spills.value_or(0) > 0)
    limiters.push_back({"spills", "spills (" + quantity(*kernel.spills) + " requests to local memory)"});
  if (tail_loss_pct(waves) >= kTailLoss)
    limiters.push_back({"tail wave", fmt::format("tail wave ({} waves: the last, part-filled one wastes up to {})",
                                                 number(waves), percent(tail_loss_pct(waves)))});
  return limiters;
}

double attainable_occupancy_pct(const CounterSummary& kernel) {
  if (!kernel.theoretical_occupancy_pct) return kUnknown;
  return *kernel.theoretical_occupancy_pct * std::min(1.0, kernel.waves_per_sm.value_or(1));
}

std::string limiter_text(const std::vector<Limiter>& limiters) {
  std::string text;
  for (const Limiter& each : limiters) text += (text.empty() ? "" : "; ") + each.text;
  return text;
}

}  // namespace hone::diagnose

// The evidence rows of one launch: each says what one counter supports, also where that is not the class found.
#include <cmath>

#include <fmt/format.h>

#include "diagnose/launch.hpp"

namespace hone::diagnose {

namespace {

using model::CounterSummary;
using model::EvidenceRow;
using model::Source;

const char* memory_bound() { return model::word(model::BottleneckClass::memory_bound); }
const char* compute_bound() { return model::word(model::BottleneckClass::compute_bound); }
const char* latency_bound() { return model::word(model::BottleneckClass::latency_bound); }
std::string against(const char* word) { return std::string("against ") + word; }

class EvidenceRows {
 public:
  explicit EvidenceRows(const CounterSummary& kernel) : name_(kernel.name) {}
  void add(const std::string& signal, const std::string& observation, const std::string& supports) {
    rows_.push_back({signal, observation, supports, Source::counters});
  }
  std::vector<EvidenceRow> take() { return std::move(rows_); }

 private:
  std::string name_;
  std::vector<EvidenceRow> rows_;
};

void add_memory(const CounterSummary& kernel, const LaunchFacts& facts, double busy, EvidenceRows& rows) {
  std::string observation;
  if (kernel.memory_throughput_pct) observation = percent(*kernel.memory_throughput_pct) + " of nominal peak";
  if (known(facts.dram_bytes_per_s)) {
    observation += (observation.empty() ? "" : "; ") + ("DRAM " + bandwidth(facts.dram_bytes_per_s));
    if (known(facts.share_of_ceiling_pct))
      observation += ", " + percent(facts.share_of_ceiling_pct) + " of the measured copy ceiling of " +
                     bandwidth(facts.copy_ceiling);
    else
      observation += " (no measured ceiling given)";
  }
  if (observation.empty()) return;
  const double level = std::fmax(facts.share_of_ceiling_pct, kernel.memory_throughput_pct.value_or(kUnknown));
  rows.add("Memory throughput", observation,
           !known(level)   ? "nothing"
           : level >= busy ? memory_bound()
                           : against(memory_bound()));
}

void add_caches(const CounterSummary& kernel, EvidenceRows& rows) {
  if (kernel.l2_throughput_pct)
    rows.add("L2 throughput",
             percent(*kernel.l2_throughput_pct) + " of peak" +
                 (kernel.l2_hit_rate_pct ? ", hit rate " + percent(*kernel.l2_hit_rate_pct) : ""),
             *kernel.l2_throughput_pct >= kCacheBusy ? memory_bound() : against(memory_bound()));
}

void add_in_flight(const CounterSummary& kernel, const LaunchFacts& facts, EvidenceRows& rows) {
  if (kernel.occupancy_pct) {
    std::string text = "achieved " + percent(*kernel.occupancy_pct);
    if (kernel.theoretical_occupancy_pct) text += ", theoretical " + percent(*kernel.theoretical_occupancy_pct);
    if (!kernel.occupancy_limiter.empty()) text += ", limited by " + kernel.occupancy_limiter;
    rows.add("SM occupancy", text,
             *kernel.occupancy_pct < kBalancedOccupancy ? latency_bound() : against(latency_bound()));
  }
  if (kernel.waves_per_sm && kernel.grid_size) {
    std::string text = fmt::format("{:.0f} {}, {} waves", *kernel.grid_size,
                                   *kernel.grid_size == 1 ? "program" : "programs", number(*kernel.waves_per_sm));
    if (facts.programs_per_sm < 1)
      text += fmt::format(" on {:.0f} SMs", *kernel.sm_count);
    else if (known(facts.programs_per_sm))
      text +=
          ", " + quantity(facts.programs_per_sm) + (facts.programs_per_sm == 1 ? " program an SM" : " programs an SM");
    if (kernel.blocks_per_sm_limit) text += fmt::format(" of {:.0f} that fit at once", *kernel.blocks_per_sm_limit);
    rows.add("Grid", text, *kernel.waves_per_sm < 1 ? latency_bound() : against(latency_bound()));
  }
  if (kernel.spills.value_or(0) > 0)
    rows.add("Register spills", quantity(*kernel.spills) + " requests to local memory", latency_bound());
}

void add_stall(const CounterSummary& kernel, double memory_pct, double busy, EvidenceRows& rows) {
  if (kernel.stalls.empty()) return;
  const model::Stall& top = kernel.stalls.front();
  const std::string meaning = stall_meaning(top.reason);
  std::string supports = latency_bound();
  if (top.reason == "not selected" || top.reason == "math pipe throttle") supports = compute_bound();
  const bool waits_for_memory = top.reason == "long scoreboard" || top.reason == "lg throttle" || top.reason == "drain";
  if (waits_for_memory && memory_pct >= busy) supports = memory_bound();
  rows.add("Top warp stall",
           fmt::format("{}, {} of the cycles between two instructions{}", top.reason, percent(top.pct),
                       meaning.empty() ? "" : " (" + meaning + ")"),
           supports);
}

}  // namespace

std::vector<EvidenceRow> launch_evidence(const CounterSummary& kernel, const LaunchFacts& facts) {
  EvidenceRows rows(kernel);
  const double busy = starved(facts.point) ? kBusyWhenStarved : kBusy;
  add_memory(kernel, facts, busy, rows);
  if (kernel.compute_throughput_pct)
    rows.add("Compute throughput", percent(*kernel.compute_throughput_pct) + " of peak",
             *kernel.compute_throughput_pct >= busy ? compute_bound() : against(compute_bound()));
  add_caches(kernel, rows);
  add_in_flight(kernel, facts, rows);
  add_stall(kernel, facts.point.memory_pct, busy, rows);
  if (facts.point.duration_us > 0 && facts.point.duration_us < kShortLaunchUs)
    rows.add("Duration", number(facts.point.duration_us) + " us: ramp-up and tail are most of it", latency_bound());

  return rows.take();
}

}  // namespace hone::diagnose

// One kernel of a capture, judged by its hardware counters alone: what `hone counters` shows, and one route of a profile.
#pragma once

#include <string>
#include <vector>

#include "diagnose/classes.hpp"
#include "diagnose/figures.hpp"
#include "model/counters.hpp"
#include "model/device_info.hpp"
#include "model/profile.hpp"

namespace hone::diagnose {

// At the limit: within 3 % of the ceiling, which is as near as the ceiling itself is known (copies repeat within 1 to 2 %).
inline constexpr double kAtTheLimit = 97;
// Within a tenth of the ceiling: little to gain.
inline constexpr double kNearTheLimit = 90;
// The cache's own ceiling is taken to be reached from here on. Its percentage is the largest of many sub-units', so it stands
// high earlier than DRAM's does: Liger's element-wise kernels at the copy ceiling of an H200 show 90 to 92 %.
inline constexpr double kCacheBusy = 80;
// Registers or shared memory are named as limiters when they hold theoretical occupancy under this.
inline constexpr double kLowTheoreticalOccupancy = 50;
// A last, part-filled wave is named when evening it out could save this share of the time.
inline constexpr double kTailLoss = 10;
// A stall reason is named as a limiter when it makes up this share of the cycles between two instructions of a warp.
inline constexpr double kStallShare = 30;

// What holds a launch back. word: "grid", "registers", "shared memory", "block size", "spills", "tail wave", "short launch",
// "dependency stalls", "DRAM bandwidth", "L2 bandwidth", "L1 bandwidth", "memory bandwidth", "SM throughput", "both units".
struct Limiter {
  std::string word;
  std::string text;  // with its figures: "grid (132 programs, one an SM)"
};

struct LaunchFacts {
  Point point;  // memory against the measured copy ceiling where it is known, else nominal peak
  double dram_bytes_per_s = kUnknown;
  double copy_ceiling = 0;                 // bytes/s; 0: not known
  double share_of_ceiling_pct = kUnknown;  // of the measured copy ceiling
  double programs_per_sm = kUnknown;
  std::vector<Limiter> limiters;  // strongest first, for the class of `point`
};

model::BottleneckClass class_of(const LaunchFacts& facts);
LaunchFacts launch_facts(const model::CounterSummary& kernel, const model::DeviceInfo& device);
std::vector<model::EvidenceRow> launch_evidence(const model::CounterSummary& kernel, const LaunchFacts& facts);
std::string limiter_text(const std::vector<Limiter>& limiters);
// Of what a launch is, without counting: grid, registers, shared memory, block size, spills, tail wave. May be empty.
std::vector<Limiter> static_limiters(const model::CounterSummary& kernel);
// The most warps a launch can have in flight, in percent of the device's, by calculation; unknown without its occupancy.
double attainable_occupancy_pct(const model::CounterSummary& kernel);

// What a stall reason of Nsight Compute means, in a few words; empty for an unknown one.
std::string stall_meaning(const std::string& reason);
std::vector<std::string> stall_reasons();  // that have one

struct KernelDiagnosis {
  model::Bottleneck bottleneck;
  std::vector<model::StrategyStep> strategy_order;  // for this launch alone: no parameter sweep, no passes
  double share_of_ceiling_pct = kUnknown;
  double memory_pct = kUnknown;  // of the busiest level of memory, as the class takes it
  std::string gain;              // what is left to gain at most, in words with its figure
};

// Reads the ceilings, the architecture and the multiprocessor count of `device`; each may be unknown.
KernelDiagnosis diagnose_kernel(const model::CounterSummary& kernel, const model::DeviceInfo& device);

}  // namespace hone::diagnose

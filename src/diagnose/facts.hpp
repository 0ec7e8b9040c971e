// What a profile says of each pass at the size it is judged by, gathered from the blocks it stands in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/classes.hpp"
#include "diagnose/figures.hpp"
#include "model/profile.hpp"

namespace hone::diagnose {

// One pass ("forward", "backward", or another the benchmark has; never "full", which is made of them).
struct PassFacts {
  std::string mode, x_value;  // the largest size measured: what lies well over the caches and the fixed costs
  double measured_ms = kUnknown, floor_ms = kUnknown;
  double wall_ms = kUnknown, host_share_pct = kUnknown;
  double bytes = 0, flops = 0;          // the least the pass moves and computes
  std::string ceiling;                  // the ceiling that sets the floor
  double share_pct = kUnknown;          // of that ceiling
  double memory_share_pct = kUnknown;   // of the bandwidth ceiling, by minimum traffic
  double compute_share_pct = kUnknown;  // of the FMA rate, by the operations counted
  double bandwidth_ceiling = 0;         // bytes/s; 0: not known
  std::optional<model::Experiment> no_compute, no_memory, threads, fewer_warps, more_warps, size_scaling;
  double smaller_bytes = 0;  // the least the pass moves at the size of `size_scaling`; 0: not known
  std::vector<const model::CounterSummary*> kernels;     // counted launches of the pass, longest first
  std::vector<const model::CounterSummary*> calculated;  // those of which nothing was counted, the main one first
  double noise_pct = kUnknown;                           // the smallest effect that could have been seen

  double gain_pct() const;  // of the pass's time that lies over its floor; unknown without a floor
  // Of the pass's time what did not shrink with the work at the smaller size, in percent; unknown without that experiment.
  double fixed_share_pct() const;
};

std::string own_provider(const model::Profile& profile);  // whose rows are this kernel's: "hone", "liger"
std::optional<double> as_number(const std::string& x_value);

// The rows of one metric, mode and provider, ascending in x where x is a number, in the order of the table otherwise.
std::vector<const model::BaselineRow*> rows_of(const model::Profile& profile, const std::string& metric,
                                               const std::string& mode, const std::string& provider);
std::vector<std::string> modes_of(const model::Profile& profile);  // in order of appearance, "full" included
std::string largest_x(const model::Profile& profile);              // empty when there is no row
const model::Headroom* headroom_of(const model::Profile& profile, const std::string& x_value, const std::string& mode);

// Share of the caller's time in which the device is idle; unknown without both rows.
double host_share_of(const model::Profile& profile, const std::string& x_value, const std::string& mode);

std::vector<PassFacts> pass_facts(const model::Profile& profile);

}  // namespace hone::diagnose

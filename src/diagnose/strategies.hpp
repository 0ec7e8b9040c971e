// The order of strategies with reasons, bounds and risks, the opportunities, and how many variants to expect.
#pragma once

#include <string>
#include <vector>

#include "diagnose/advice.hpp"
#include "diagnose/passes.hpp"
#include "model/profile.hpp"

namespace hone::diagnose {

// What is left to gain over all passes at the size they are judged by.
struct Remaining {
  double measured_ms = 0, floor_ms = 0;  // sums over the passes that have a floor
  double gain_pct = kUnknown;            // of the passes' time
  double host_share_pct = kUnknown;      // weighted by time
  double caller_gain_pct = kUnknown;     // of the caller's time: Amdahl over the host share
  bool at_the_limit = false;             // every pass within 3 % of its ceiling
  // A pass is so much faster than its ceiling allows that the ceiling is no bound for it: nothing is known of what is left.
  bool contradicted = false;
};
Remaining remaining_of(const std::vector<PassVerdict>& passes);

// Nothing is left of a strategy: every knob of it is dead, or vectors are at full width already.
bool is_spent(const model::Profile& profile, const std::string& word, const std::string& x_value);

std::vector<model::StrategyStep> strategy_order(const model::Profile& profile, const std::vector<PassVerdict>& passes);
std::vector<model::Opportunity> opportunities(const model::Profile& profile, const std::vector<PassVerdict>& passes);
model::EstimatedIterations estimated_iterations(const model::Profile& profile, const std::vector<PassVerdict>& passes,
                                                const std::vector<model::StrategyStep>& steps);

// Steps for one launch known by its counters alone. `gain_pct`: the most it can gain, unknown without a measured ceiling.
std::vector<model::StrategyStep> launch_strategies(const model::CounterSummary& kernel, const LaunchFacts& facts,
                                                   const model::DeviceInfo& device, const std::string& gain);

}  // namespace hone::diagnose

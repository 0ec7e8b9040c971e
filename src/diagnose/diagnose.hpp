// Diagnosis as a pure function of saved values: a profile taken on one machine is re-diagnosed and tested on another.
#pragma once

#include <string>
#include <vector>

#include "model/profile.hpp"

namespace hone::diagnose {

struct Diagnosis {
  model::Bottleneck bottleneck;
  std::vector<model::Opportunity> opportunities;
  std::vector<model::StrategyStep> strategy_order;
  model::EstimatedIterations estimated_iterations;
  std::string summary;  // what limits it, how much is left, what to do first
};

// Reads identity, device with ceilings, baseline, headroom, counters and configuration of `profile`; ignores the blocks it
// makes itself. Total: every input has exactly one class, with at least three evidence rows.
Diagnosis diagnose(const model::Profile& profile);

// The observations under the baseline tables, from the rows alone.
model::Observations observe(const model::Profile& profile);

}  // namespace hone::diagnose

// Stage 2: from a profile to variants with verdicts. One change at a time in the profile's order, which begins with the parameter
// sweep unless a person changed it, until there is nothing more to gain, to try or to allow.
#pragma once

#include "model/variant.hpp"
#include "stages/checkpoint.hpp"
#include "stages/ports.hpp"
#include "stages/trial/kernel.hpp"
#include "stages/trial/options.hpp"

namespace hone::stages {

struct OptimizeOutcome {
  model::ComparisonDocument comparison;  // winner as decided, by the person where one was asked
  Decision decision;
};

// Writes notes, variant files, samples, comparison.json and the documents. Errors: the profile is of another kernel, source or
// device (pre-flight); a target metric that can not be read (usage); v0 itself does not run; a full disk; a stop by the user.
// Run again after a stop or a kill, it goes on where it was.
base::Result<OptimizeOutcome> optimize(const Kernel& kernel, const model::Profile& profile,
                                       const OptimizeOptions& options, const Workspace& workspace, const Ports& ports);

// Refuses a profile of another device, and one of another kernel, source or device: what it says would not hold here.
base::Result<void> check_device(const repository::Described& kernel, const model::Profile& profile);
base::Result<void> check_profile(const repository::Described& kernel, const model::Profile& profile);

}  // namespace hone::stages

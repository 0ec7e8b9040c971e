// The parameter sweep, the first variant unless the plan was edited: knobs of each pass over all sizes, dead ones dropped by
// machine code, a search over what is distinct, paired finals, and a settings function checked on sizes held out of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/variant.hpp"
#include "stages/trial/lab.hpp"

namespace hone::stages {

struct SweepOutcome {
  std::map<std::string, model::SettingsFunction> settings;  // by pass; only passes that were swept
  model::Evaluations evaluations;                           // (size, configuration) pairs over all passes
  std::vector<model::SweepPoint> points;
  std::vector<std::string> findings;  // what a reader should know, one sentence each
};

// `shipped` is v0. Passes outside the request's scope keep their settings. `afterwards`: what the stage does next, for the progress.
base::Result<SweepOutcome> sweep(Lab& lab, const model::Variant& shipped, const std::vector<Work>& afterwards);

}  // namespace hone::stages

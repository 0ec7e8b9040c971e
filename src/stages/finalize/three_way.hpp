// Original, optimized and the providers measured anew, interleaved in one session; and the paired verdict between the first two.
#pragma once

#include <vector>

#include "measure/protocol.hpp"
#include "model/report.hpp"
#include "repository/repository.hpp"
#include "stages/trial/guardrails.hpp"
#include "stages/ports.hpp"

namespace hone::stages {

struct ThreeWay {
  std::vector<model::ThreeWayRow> rows;
  std::vector<model::ResultRow> speedups;  // optimized over original, paired
  Gain gain;                               // over the cells of the passes in scope where the machine code differs
  std::vector<std::string> warnings;       // cells of the table that other load disturbed
};

struct ThreeWayOptions {
  measure::Budget table, verdict;
  std::uint64_t seed = 0;
  std::string command;  // resumes, for the message of a stop
};

// `optimized` may be the same as `original`: then only the table is made. `profile` gives the floors and follows what a second
// look at the ceilings finds; every share of a ceiling is taken against the last look.
base::Result<ThreeWay> measure_three_way(repository::Session& session, model::Profile& profile,
                                         const model::Variant& original, const model::Variant& optimized,
                                         const ThreeWayOptions& options, const Ports& ports);

}  // namespace hone::stages

// Original, optimized and the providers measured anew in one session: the paired verdict between the first two, and the table.
// A provider that the profile found slow is not timed again; its row is the profile's, and its source says so.
#pragma once

#include <vector>

#include "measure/protocol.hpp"
#include "model/report.hpp"
#include "repository/buildable.hpp"
#include "repository/described.hpp"
#include "repository/timed.hpp"
#include "stages/ports.hpp"
#include "stages/trial/guardrails.hpp"

namespace hone::stages {

struct ThreeWay {
  std::vector<model::ThreeWayRow> rows;
  std::vector<model::ResultRow> speedups;  // optimized over original, paired
  Gain gain;                               // over the cells of the passes in scope where the machine code differs
  std::vector<std::string> warnings;  // sentences: cells that other load disturbed, rows that could not be measured
};

struct ThreeWayOptions {
  measure::Budget table, verdict;
  std::uint64_t seed = 0;
  std::string command;  // resumes, for the message of a stop
};

// `optimized` may be the same as `original`: then only the table is made. `profile` gives the floors and follows what a second
// look at the ceilings finds; every share of a ceiling is taken against the last look. Errors: the original or the optimized
// kernel can not be run, or is faster than the physical bound (gate); memory where it is the goal; a stop. Whatever else can not
// be measured is a row less.
base::Result<ThreeWay> measure_three_way(const repository::Described& kernel, repository::Buildable& buildable,
                                         repository::Timed& timed, model::Profile& profile,
                                         const model::Variant& original, const model::Variant& optimized,
                                         const ThreeWayOptions& options, const Ports& ports);

}  // namespace hone::stages

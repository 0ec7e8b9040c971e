// The final report (hone.report/1): what was applied or reverted, and everything a reviewer asks for.
#pragma once

#include <string>
#include <vector>

#include "model/profile.hpp"
#include "model/variant.hpp"

namespace hone::model {

struct GateCount {
  std::string name;  // "smoke", "full", "numerics", "style"
  int passed = 0, failed = 0;
  double largest_error_over_bound = 0;
  std::string detail;
  bool operator==(const GateCount&) const = default;
};

// One point of the three-way comparison. `recorded`: measured by the profile, not beside the others.
struct ThreeWayRow {
  std::string x_value, mode, metric, unit, provider;  // provider: "original", "optimized", "eager", ...
  Quantiles value;
  double share_of_ceiling_pct = 0;
  Source source = Source::measured;
  PairedShare paired = {};  // of share_of_ceiling_pct
  bool operator==(const ThreeWayRow&) const = default;
};

// reverted: a gate failed, it is not faster when measured anew, or the person said no. inconclusive: what could be measured here
// does not tell.
enum class Outcome { applied, at_ceiling, nothing_found, inconclusive, reverted };
template <>
inline constexpr std::array kWords<Outcome>{"applied", "at-ceiling", "nothing-found", "inconclusive", "reverted"};

struct Report {
  std::string kernel, created, hone_version, hone_commit, command;
  bool applied = false;
  Outcome outcome = Outcome::nothing_found;
  std::string reason;  // of the outcome: "applied v1", "reverted: ..."
  std::string winner;
  Profile profile;
  ComparisonDocument comparison;
  std::vector<ThreeWayRow> three_way;
  std::vector<ResultRow> speedups;  // optimized over original, with intervals
  std::string diff;                 // the real diff of the production files
  std::vector<std::string> changed_files;
  std::vector<GateCount> correctness;
  std::vector<std::string> recommendations, reproduction, revert, plots;
  bool operator==(const Report&) const = default;
};

inline constexpr const char* kReportSchema = "hone.report/1";
std::string to_json(const Report& report);

}  // namespace hone::model

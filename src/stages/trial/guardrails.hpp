// The bounds a variant must keep, judged on intervals, and what follows from them. Pure: measurements in, checks and a status
// out.
//
// Against v0, what users have today: the target metric at every size; metrics and passes outside the target within 5 %; one
// pass within 10 % when the other gains; memory within 5 %. Against the parent: whether this one change helped.
#pragma once

#include <string>
#include <vector>

#include "model/profile.hpp"
#include "model/variant.hpp"
#include "repository/cell.hpp"

namespace hone::stages {

inline constexpr double kNonTargetPct = 5;   // a metric or pass outside the target may lose this much
inline constexpr double kPassTradePct = 10;  // a pass may lose this much for the other's gain
inline constexpr double kTargetPct = 1;      // the target metric at any size: the smallest effect that matters

struct CellResult {
  repository::Cell cell;
  model::Comparison comparison;
  double noise_floor_pct = 0;
};

struct MemoryResult {
  std::string x_value;
  double baseline_mb = 0, candidate_mb = 0;
  double ratio() const { return baseline_mb > 0 ? candidate_mb / baseline_mb : candidate_mb > 0 ? 2.0 : 1.0; }
};

// What was asked for, as guardrails need it.
struct Aim {
  std::string target_mode;          // see scope.hpp
  std::vector<std::string> passes;  // in scope
  bool memory = false;              // --goal memory: the target is memory, speed is guarded
};

// The geometric mean of ratios with its interval: independent intervals add as variances in log space.
struct Gain {
  double ratio = 1, ci_low = 1, ci_high = 1;
  int cells = 0;
};
Gain combined(const std::vector<model::Comparison>& comparisons);

std::vector<model::GuardrailCheck> check_guardrails(const Aim& aim, const std::vector<CellResult>& against_v0,
                                                    const std::vector<MemoryResult>& memory);

struct Ruling {
  model::VariantStatus status = model::VariantStatus::rejected;
  std::string reason;
};
// `against_parent`: the cells of the passes in scope. Accepted: the combined gain's interval is below 1, at least one cell is
// significantly faster, no guardrail fails. Mixed: some cells are significantly faster, but a speed guardrail fails.
Ruling rule(const Aim& aim, const std::vector<CellResult>& against_parent,
            const std::vector<model::GuardrailCheck>& checks, const std::vector<MemoryResult>& memory_against_parent);

std::string interval_text(const model::Comparison& comparison);  // "0.912 (0.905 to 0.919)"
std::string claim_of(const model::Comparison& comparison);       // "1.1x faster (8.8 % less time), ratio 0.912 (...)"

}  // namespace hone::stages

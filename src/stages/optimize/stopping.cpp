#include "stages/optimize/stopping.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "diagnose/passes.hpp"

namespace hone::stages {

namespace {

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Percent. A noise floor over this says that the measurement failed, not that there is nothing to see.
constexpr double kBlind = 20;
// Percent. A gain this large that an interval does not exclude is worth another look on a quieter machine.
constexpr double kWorthALook = 5;
constexpr char kNothingToGain[] = "of the ceiling: nothing to gain";

double noise_at(const model::Profile& profile, const std::string& x_value, const std::string& mode) {
  for (const model::NoiseFloor& floor : profile.baseline.noise_floor) {
    if (floor.x_value == x_value && floor.mode == mode) return floor.smallest_effect_pct;
  }
  return 0;
}

const CellResult* find(const std::vector<CellResult>* results, const std::string& x_value, const std::string& mode) {
  if (results == nullptr) return nullptr;
  for (const CellResult& r : *results) {
    if (r.cell == repository::Cell{x_value, mode}) return &r;
  }
  return nullptr;
}

// The upper end of what is known of a time or a memory figure; nothing when it was not measured.
std::optional<double> upper_at(const TargetMetric& target, const std::string& x_value, const model::Profile& profile,
                               const Evaluation* best) {
  if (best != nullptr && target.subject == "memory") {
    for (const MemoryResult& m : best->memory) {
      if (m.x_value == x_value) return m.candidate_mb;
    }
    return std::nullopt;
  }
  if (best != nullptr) {
    const CellResult* r = find(&best->against_v0, x_value, target.subject);
    if (r == nullptr || !(r->comparison.ratio > 0) || !(r->comparison.candidate_ms.p50 > 0)) return std::nullopt;
    return r->comparison.candidate_ms.p50 * r->comparison.ci_high / r->comparison.ratio;
  }
  if (target.subject == "memory")
    return std::nullopt;  // the profile's table is of the caller; the loop measures the kernel's own
  for (const model::Headroom& row : profile.headroom) {
    if (row.x_value == x_value && row.mode == target.subject && row.measured_ms > 0) {
      return row.measured_ms * (1 + noise_at(profile, x_value, row.mode) / 100);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> nothing_left(const model::Profile& profile, const std::vector<std::string>& passes,
                                        double share_pct, const std::vector<CellResult>* best) {
  double least_share = 1e9;
  bool at_ceiling = true, below_noise = true;
  int cells = 0;
  for (const model::Headroom& row : profile.headroom) {
    if (!contains(passes, row.mode) || !(row.ratio > 0)) continue;
    const CellResult* now = find(best, row.x_value, row.mode);
    const double ratio = row.ratio * (now != nullptr && now->comparison.ci_low > 0 ? now->comparison.ratio : 1);
    const double share = 100 / ratio, left = 100 - share;
    const double noise = noise_at(profile, row.x_value, row.mode);
    // A ceiling that a kernel beats by more than its spread bounds nothing: that cell says nothing of what is left.
    if (share > diagnose::kContradiction) return std::nullopt;
    least_share = std::min(least_share, share);
    at_ceiling = at_ceiling && share >= share_pct;
    below_noise = below_noise && (share >= share_pct || (left < noise && noise < kBlind));
    ++cells;
  }
  if (cells == 0 || (!at_ceiling && !below_noise)) return std::nullopt;
  if (at_ceiling)
    return fmt::format("at {:.0f} % {} (the least share of {} cells; {:g} % counts as reached)", least_share,
                       kNothingToGain, cells, share_pct);
  return fmt::format("at {:.0f} % {} that could be seen here, what is left is below the noise floor in every cell",
                     least_share, kNothingToGain);
}

bool says_at_ceiling(const std::string& stop_reason) { return stop_reason.find(kNothingToGain) != std::string::npos; }

std::optional<std::string> hidden_gain(const model::ComparisonDocument& comparison, const model::Profile& profile,
                                       const std::vector<std::string>& passes) {
  for (const model::VariantSummary& variant : comparison.variants) {
    const auto& checks = variant.guardrails;
    const auto has = [&](const char* status) {
      return std::any_of(checks.begin(), checks.end(), [&](const auto& check) { return check.status == status; });
    };
    if (variant.status != model::VariantStatus::rejected || has("fail")) continue;
    const model::ResultRow* least = nullptr;
    int judged = 0;
    for (const model::ResultRow& row : variant.results) {
      if (row.metric != "speed") continue;
      ++judged;
      if (row.verdict == model::Verdict::unresolved && (least == nullptr || row.ci_low < least->ci_low)) least = &row;
    }
    if (judged == 0 && has("unresolved")) return variant.id + " could not be judged at any size: " + variant.reason;
    if (least != nullptr && least->ci_low < 1 - kWorthALook / 100)
      return fmt::format(
          "{}: {} at {} takes {:.3f} ({:.3f} to {:.3f}) x v0's time: a gain is neither shown nor "
          "excluded",
          variant.id, least->mode, least->x_value, least->ratio, least->ci_low, least->ci_high);
  }
  if (const double noise = typical_noise_floor(profile, passes); noise > kBlind)
    return fmt::format("the noise floor is {:.0f} %: a smaller gain could not be seen", noise);
  return std::nullopt;
}

std::optional<std::string> target_reached(const TargetMetric& target, const model::Profile& profile,
                                          const std::vector<std::string>& sizes, const Evaluation* best) {
  const std::vector<std::string> where = target.x_value.empty() ? sizes : std::vector<std::string>{target.x_value};
  double largest = 0;
  for (const std::string& x_value : where) {
    const auto upper = upper_at(target, x_value, profile, best);
    if (!upper || !met_by(target, *upper)) return std::nullopt;
    largest = std::max(largest, *upper);
  }
  return fmt::format("target met: {}; the upper end of what was measured is {:.4g} {}", target.text, largest,
                     target.subject == "memory" ? "MB" : "ms");
}

void SmallGains::add(const Evaluation& evaluation) {
  const bool sweep_without_effect =
      evaluation.ruling.status == model::VariantStatus::same_binary && evaluation.contestant.variant.id == "v1";
  if (!evaluation.measured && !sweep_without_effect) return;  // what never ran says nothing about how much is left
  const double threshold = std::max(small_pct_, noise_pct_) / 100;
  const Gain& gain = evaluation.gain;
  const bool small = sweep_without_effect || gain.ci_high >= 1 || gain.ci_low >= 1 - threshold;
  if (!small)
    row_.clear();
  else
    row_.push_back(evaluation.contestant.variant.id);
}

std::optional<std::string> SmallGains::reason() const {
  if (row_.size() < 2) return std::nullopt;
  std::string text = fmt::format("two variants in a row ({} and {}) brought less than {:g} %", row_[row_.size() - 2],
                                 row_.back(), std::max(small_pct_, noise_pct_));
  if (noise_pct_ > small_pct_) text += fmt::format(", the noise floor here (above the rule's {:g} %)", small_pct_);
  return text;
}

double typical_noise_floor(const model::Profile& profile, const std::vector<std::string>& passes) {
  std::vector<double> floors;
  for (const model::NoiseFloor& floor : profile.baseline.noise_floor) {
    if (contains(passes, floor.mode)) floors.push_back(floor.smallest_effect_pct);
  }
  if (floors.empty()) return 0;
  std::sort(floors.begin(), floors.end());
  return floors[(floors.size() - 1) / 2];
}

}  // namespace hone::stages

// When the loop ends: nothing left under the ceiling, the target met, two small gains in a row. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/profile.hpp"
#include "stages/optimize/target_metric.hpp"
#include "stages/trial/evaluate.hpp"

namespace hone::stages {

// "at 97 % of the ceiling: nothing to gain" when every cell of the passes is at `share_pct` of its ceiling, or what is left is
// below its noise floor. `best`: the results of the best variant against v0; nothing before the first. Nothing: go on.
std::optional<std::string> nothing_left(const model::Profile& profile, const std::vector<std::string>& passes,
                                        double share_pct, const std::vector<CellResult>* best);

// Whether `stop_reason` of a comparison is one of nothing_left().
bool says_at_ceiling(const std::string& stop_reason);

// Why v0 as the winner says little: a variant whose gain could be neither confirmed nor excluded, or a noise floor above which
// nothing could be seen. Nothing where what was tried is known not to be faster.
std::optional<std::string> hidden_gain(const model::ComparisonDocument& comparison, const model::Profile& profile,
                                       const std::vector<std::string>& passes);

// Says how the target is met by v0 (`best` empty: the profile's own figures) or by the best variant.
std::optional<std::string> target_reached(const TargetMetric& target, const model::Profile& profile,
                                          const std::vector<std::string>& sizes, const Evaluation* best);

// Counts variants in a row whose gain is shown to be small: below small_gain_pct, or below the noise floor where that is larger.
class SmallGains {
 public:
  SmallGains(double small_gain_pct, double noise_floor_pct) : small_pct_(small_gain_pct), noise_pct_(noise_floor_pct) {}
  void add(const Evaluation& evaluation);
  std::optional<std::string> reason() const;  // after two in a row

 private:
  double small_pct_, noise_pct_;
  std::vector<std::string> row_;
};

// The median noise floor of the passes: what a gain over all their cells is held against.
double typical_noise_floor(const model::Profile& profile, const std::vector<std::string>& passes);

}  // namespace hone::stages

#include "stages/optimize/sweep_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

#include "stages/trial/settings_function.hpp"

namespace hone::stages {

namespace {

class HeldOutCheck {
 public:
  HeldOutCheck(Lab& lab, const std::string& pass, const std::vector<SizeSpace>& sizes,
               model::SettingsFunction& function, std::vector<std::string>& findings)
      : lab_(lab), pass_(pass), sizes_(sizes), function_(function), findings_(findings) {}

  // At a size nobody tuned for, the function must not lose to what the sizes beside it would choose.
  base::Result<void> run() {
    lab_.ports().progress.step("sweep " + pass_ + kHeldOut);
    const std::vector<std::string> held_out = lab_.described().held_out_sizes();
    int done = 0;
    for (const std::string& x_value : held_out) {
      lab_.ports().progress.advance(done++, static_cast<int>(held_out.size()),
                                    lab_.described().x_name() + "=" + x_value);
      HONE_TRY(x, parse_size(x_value));
      const std::vector<model::Settings> valid = lab_.described().space(pass_, x_value);
      if (valid.empty()) continue;
      const auto is_valid = [&](const model::Settings& s) {
        return std::find(valid.begin(), valid.end(), s) != valid.end();
      };
      const std::vector<model::Settings> rivals = neighbours_choices(*x);
      model::Settings chosen = function_.at(*x);
      if (!is_valid(chosen)) {
        // Settings that the function has already, before any others: it may have few distinct ones.
        std::vector<model::Settings> usable = nearest_choices(*x);
        usable.insert(usable.end(), rivals.begin(), rivals.end());
        const auto good = std::find_if(usable.begin(), usable.end(), is_valid);
        chosen = good == usable.end() ? valid.front() : *good;
        start_rule(*x, chosen, "the settings of the size below are not valid at " + x_value);
      }
      if (auto held = hold_out_comparison(x_value, *x, chosen, rivals, is_valid); !held) return held;
    }
    return {};
  }

 private:
  template <class IsValid>
  base::Result<void> hold_out_comparison(const std::string& x_value, std::int64_t x, const model::Settings& chosen,
                                         const std::vector<model::Settings>& rivals, const IsValid& is_valid) {
    double slowdown = 0;
    model::Settings better;
    for (const model::Settings& rival : rivals) {
      if (rival == chosen || !is_valid(rival)) continue;
      HONE_TRY(trial, lab_.compare_settings({x_value, pass_}, chosen, rival));
      const model::Comparison& c = trial->comparison;
      if (trial->outcome != Trial::Outcome::measured || c.verdict != model::Verdict::faster ||
          1 / c.ratio - 1 <= slowdown)
        continue;
      slowdown = 1 / c.ratio - 1;
      better = rival;
    }
    if (slowdown <= kSettingsTolerance) return {};
    const auto next = std::find_if(function_.rules.begin(), function_.rules.end(),
                                   [&](const model::SettingsRule& r) { return r.from_x > x; });
    if (next != function_.rules.end() && next->settings == better) {
      findings_.push_back(fmt::format(
          "{}: at the held-out size {} the settings of the size above are {:.1f} % faster; their range starts there",
          pass_, x_value, 100 * slowdown));
      next->from_x = x;
    } else {
      function_.worst_slowdown_pct = std::max(function_.worst_slowdown_pct, 100 * slowdown);
      findings_.push_back(
          fmt::format("{}: at the held-out size {} {} would be {:.1f} % faster than the function's choice", pass_,
                      x_value, settings_text(better), 100 * slowdown));
    }
    return {};
  }

  std::vector<model::Settings> neighbours_choices(std::int64_t x) const {
    std::vector<model::Settings> choices;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const bool below = sizes_[i].x < x && (i + 1 == sizes_.size() || sizes_[i + 1].x > x);
      const bool above = sizes_[i].x > x && (i == 0 || sizes_[i - 1].x < x);
      if (below || above) choices.push_back(sizes_[i].winner), choices.push_back(function_.at(sizes_[i].x));
    }
    return choices;
  }

  // What the function chooses at the sizes that were sampled, the nearest first.
  std::vector<model::Settings> nearest_choices(std::int64_t x) const {
    std::vector<std::int64_t> nearest;
    for (const SizeSpace& size : sizes_) nearest.push_back(size.x);
    std::stable_sort(nearest.begin(), nearest.end(),
                     [x](std::int64_t a, std::int64_t b) { return std::abs(a - x) < std::abs(b - x); });
    std::vector<model::Settings> choices;
    for (const std::int64_t size : nearest) choices.push_back(function_.at(size));
    return choices;
  }

  void start_rule(std::int64_t x, const model::Settings& settings, const std::string& reason) {
    // The next size that was sampled keeps the settings it has.
    const auto sampled = std::find_if(sizes_.begin(), sizes_.end(), [&](const SizeSpace& size) { return size.x > x; });
    std::vector<model::SettingsRule> added = {{x, settings, reason}};
    if (sampled != sizes_.end())
      added.push_back({sampled->x, function_.at(sampled->x), "as measured at " + sampled->x_value});
    const auto after = std::find_if(function_.rules.begin(), function_.rules.end(),
                                    [&](const model::SettingsRule& r) { return r.from_x > x; });
    if (after != function_.rules.end() && added.size() == 2 && after->from_x == added[1].from_x) added.pop_back();
    function_.rules.insert(after, added.begin(), added.end());
  }

  Lab& lab_;
  const std::string& pass_;
  const std::vector<SizeSpace>& sizes_;
  model::SettingsFunction& function_;
  std::vector<std::string>& findings_;
};

}  // namespace

model::SettingsFunction make_function(const std::string& x_name, const std::vector<SizeSpace>& sizes,
                                      std::size_t at_most) {
  std::set<model::Settings> winners;
  for (const SizeSpace& size : sizes) {
    if (size.winner != size.shipped) winners.insert(size.winner);
  }
  std::vector<model::Settings> candidates(1);
  candidates.insert(candidates.end(), winners.begin(), winners.end());
  CostTable table;
  std::vector<std::int64_t> xs;
  for (const SizeSpace& size : sizes) {
    std::vector<double> row = {1};
    for (std::size_t c = 1; c < candidates.size(); ++c) {
      const auto known = size.costs.find(candidates[c]);
      row.push_back(known == size.costs.end() ? std::numeric_limits<double>::infinity() : known->second);
    }
    table.cost.push_back(std::move(row));
    table.shipped.push_back(size.shipped);
    xs.push_back(size.x);
  }
  const Partition partition = choose_partition(table, at_most, kSettingsTolerance);
  std::vector<std::string> reasons;
  for (const Piece& piece : partition.pieces) {
    double worst = 0;
    for (std::size_t i = piece.first; i <= piece.last; ++i) worst = std::max(worst, partition.slowdown[i]);
    std::string reason = piece.candidate == 0 ? "shipped settings kept: nothing was significantly faster" : "";
    for (std::size_t i = piece.first; i <= piece.last && piece.candidate != 0; ++i) {
      if (sizes[i].winner == candidates[piece.candidate]) reason = sizes[i].winner_text;
    }
    if (piece.first != piece.last)
      reason += fmt::format("; at most {:.1f} % slower than the best found at {} to {}", 100 * worst,
                            sizes[piece.first].x_value, sizes[piece.last].x_value);
    reasons.push_back(reason);
  }
  model::SettingsFunction function;
  function.x_name = x_name;
  function.rules = rules_of(partition, table, xs, candidates, reasons);
  function.worst_slowdown_pct = 100 * partition.worst_slowdown;
  return function;
}

base::Result<void> check_held_out(Lab& lab, const std::string& pass, const std::vector<SizeSpace>& sizes,
                                  model::SettingsFunction& function, std::vector<std::string>& findings) {
  return HeldOutCheck(lab, pass, sizes, function, findings).run();
}

}  // namespace hone::stages

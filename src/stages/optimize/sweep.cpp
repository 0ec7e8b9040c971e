#include "stages/optimize/sweep.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/text.hpp"
#include "stages/optimize/sweep_function.hpp"
#include "stages/optimize/sweep_space.hpp"
#include "stages/trial/scope.hpp"
#include "stages/trial/settings_function.hpp"

namespace hone::stages {

namespace {

constexpr std::size_t kFinalists = 3;
// Of the timings allowed, the part kept for timing one size's winner at the other sizes.
constexpr double kShareForTransfer = 0.15;
constexpr const char *kCompile = ": compile", *kFinals = ": finals";

// What the sweep of a pass will do. The weights are times of a step's units over that of a screening (0.35 s), measured with
// `hone run rms_norm --quick` on two cores on 2026-12-01.
std::vector<Work> work_of(Lab& lab, const std::string& pass) {
  const repository::Described& kernel = lab.described();
  std::size_t configurations = 0;
  for (const std::string& x_value : kernel.sizes()) configurations += kernel.space(pass, x_value).size();
  const double screened = lab.search_share() * static_cast<double>(configurations);
  const std::string title = "sweep " + pass;
  return {{title + kCompile, static_cast<int>(configurations), 0.45},
          {title, static_cast<int>(screened), 1},
          {title + kFinals, static_cast<int>(kFinalists * kernel.sizes().size()), 3},
          {title + kHeldOut, static_cast<int>(kernel.held_out_sizes().size()), 1}};
}

class PassSweep {
 public:
  PassSweep(Lab& lab, const model::Variant& shipped, std::string pass, SweepOutcome& outcome)
      : lab_(lab), shipped_(shipped), pass_(std::move(pass)), outcome_(outcome) {}

  base::Result<void> run(const std::map<std::string, model::Settings>& coupled) {
    HONE_TRY(built, distinct_configurations(lab_, shipped_, pass_, coupled));
    space_ = std::move(*built);
    outcome_.evaluations.planned += space_.planned;
    outcome_.evaluations.distinct_binaries += static_cast<int>(space_.distinct_pairs());
    outcome_.findings.insert(outcome_.findings.end(), space_.findings.begin(), space_.findings.end());
    if (auto searched = search_all(); !searched) return searched;
    lab_.ports().progress.step("sweep " + pass_ + kFinals);
    for (SizeSpace& size : space_.sizes) {
      if (auto done = hold_finals(size); !done) return done;
    }
    if (auto done = transfer_winners(); !done) return done;
    if (auto done = prove_function(); !done) return done;
    if (auto done = check_held_out(lab_, pass_, space_.sizes, function_, outcome_.findings); !done) return done;
    conclude();
    return {};
  }

  const model::SettingsFunction& function() const { return function_; }

 private:
  repository::Cell cell(const std::string& x_value) const { return {x_value, pass_}; }

  base::Result<void> search_all() {
    std::vector<model::Settings> points;
    const SearchSpace space = search_space(space_.sizes, points);
    SearchOptions options;
    options.largest_share = lab_.search_share();
    if (options.largest_share < 1)
      options.largest_share *= 1 - kShareForTransfer;
    else
      options.smallest_improvement = -1;  // all of them are timed, whatever they promise
    const int bound = static_cast<int>(search_budget(space, options));
    lab_.ports().progress.step("sweep " + pass_);
    int timed = 0;
    HONE_TRY(found, search(space, options, [&](std::size_t task, std::size_t point) {
               lab_.ports().progress.advance(timed++, bound,
                                             fmt::format("{}={} {}", lab_.described().x_name(),
                                                         space_.sizes[task].x_value, settings_text(points[point])));
               return lab_.screen(cell(space_.sizes[task].x_value), space_.sizes[task].shipped, points[point]);
             }));
    int broken = 0;
    for (const Screened& s : found->screened) {
      if (!s.estimate.usable) ++broken;
      const double ratio = s.estimate.usable ? std::exp(s.estimate.log_ratio) : std::numeric_limits<double>::infinity();
      space_.sizes[s.task].costs[points[s.point]] = ratio;
      if (s.estimate.usable) space_.sizes[s.task].ratios[points[s.point]] = ratio;
    }
    outcome_.findings.push_back(fmt::format("{}: the search ended with {}", pass_, found->stop_reason));
    if (broken > 0)
      outcome_.findings.push_back(fmt::format("{}: {} configurations compiled and did not run", pass_, broken));
    return {};
  }

  // Independent paired finals of the screened best; the shipped settings stay unless one is significantly faster.
  base::Result<void> hold_finals(SizeSpace& size) {
    std::vector<std::pair<double, model::Settings>> order;
    for (const auto& [settings, cost] : size.costs) {
      if (settings != size.shipped && cost < 1 + kSettingsTolerance) order.emplace_back(cost, settings);
    }
    std::sort(order.begin(), order.end());
    size.winner = size.shipped;
    size.winner_text = "no settings timed here were faster than the shipped ones";
    const auto at = static_cast<std::size_t>(&size - space_.sizes.data());
    for (std::size_t i = 0; i < std::min(order.size(), kFinalists); ++i) {
      lab_.ports().progress.advance(static_cast<int>(at * kFinalists + i),
                                    static_cast<int>(space_.sizes.size() * kFinalists),
                                    lab_.described().x_name() + "=" + size.x_value);
      if (auto done = hold_final(size, order[i].second); !done) return done;
    }
    // What was only screened may be noise: it can not beat what the finals found.
    const double best = size.winner == size.shipped ? 1 : size.costs[size.winner];
    for (auto& [settings, cost] : size.costs) {
      if (settings == size.shipped)
        cost = 1;
      else if (size.finalists.count(settings) == 0)
        cost = std::max(cost, best);
    }
    return {};
  }

  base::Result<void> hold_final(SizeSpace& size, const model::Settings& settings) {
    HONE_TRY(trial, lab_.compare_settings(cell(size.x_value), size.shipped, settings));
    size.finalists.insert(settings);
    if (trial->outcome != Trial::Outcome::measured) {
      size.costs[settings] = std::numeric_limits<double>::infinity();
      outcome_.findings.push_back(
          fmt::format("{} at {}: {} left the finals: {}", pass_, size.x_value, settings_text(settings), trial->reason));
      return {};
    }
    const model::Comparison& c = trial->comparison;
    size.ratios[settings] = c.ratio;
    // Not significantly faster is a tie, and a tie goes to the shipped settings.
    size.costs[settings] = c.verdict == model::Verdict::faster ? c.ratio : std::max(c.ratio, 1.0);
    const double best = size.winner == size.shipped ? 1 : size.costs[size.winner];
    if (c.verdict != model::Verdict::faster || c.ratio >= best) return {};
    size.winner = settings;
    size.winner_text = fmt::format("{} in the finals at {}: {:.3f} x shipped ({:.3f} to {:.3f})",
                                   settings_text(settings), size.x_value, c.ratio, c.ci_low, c.ci_high);
    return {};
  }

  // The function may stand on finals alone: where it would choose settings that were only screened, they are compared too, and
  // the choice is made again. Ends because each turn compares one more.
  base::Result<void> prove_function() {
    while (true) {
      function_ = make_function(lab_.described().x_name(), space_.sizes, lab_.options().largest_settings);
      const auto unproven = std::find_if(space_.sizes.begin(), space_.sizes.end(), [&](const SizeSpace& size) {
        const model::Settings& chosen = function_.at(size.x);
        return chosen != size.shipped && size.finalists.count(chosen) == 0;
      });
      if (unproven == space_.sizes.end()) return {};
      if (auto done = hold_final(*unproven, function_.at(unproven->x)); !done) return done;
    }
  }

  // A settings function needs one size's winner timed at the other sizes. Within the bound on timings, nearest sizes first.
  base::Result<void> transfer_winners() {
    std::size_t left = static_cast<std::size_t>(lab_.search_share() * static_cast<double>(space_.distinct_pairs()));
    for (const SizeSpace& size : space_.sizes) left -= std::min(left, size.costs.size());
    for (std::size_t distance = 1; distance < space_.sizes.size(); ++distance) {
      for (std::size_t from = 0; from < space_.sizes.size(); ++from) {
        for (const std::size_t to : {from - distance, from + distance}) {
          if (to >= space_.sizes.size() || left == 0) continue;
          SizeSpace& size = space_.sizes[to];
          const model::Settings& settings = space_.sizes[from].winner;
          if (size.costs.count(settings) ||
              std::find(size.distinct.begin(), size.distinct.end(), settings) == size.distinct.end())
            continue;
          HONE_TRY(estimate, lab_.screen(cell(size.x_value), size.shipped, settings));
          --left;
          const double best = size.costs[size.winner];
          if (estimate->usable) size.ratios[settings] = std::exp(estimate->log_ratio);
          size.costs[settings] = estimate->usable ? std::max(std::exp(estimate->log_ratio), best)
                                                  : std::numeric_limits<double>::infinity();
        }
      }
    }
    return {};
  }

  void conclude() {
    merge_rules(function_.rules);
    function_.reason = fmt::format(
        "{} distinct settings over {} sizes; at most {:.1f} % slower than the best found at any size, sampled or held "
        "out",
        distinct_settings(function_), space_.sizes.size(), function_.worst_slowdown_pct);
    for (const SizeSpace& size : space_.sizes) {
      outcome_.evaluations.timed += static_cast<int>(size.costs.size());
      for (const auto& [settings, ratio] : size.ratios) {
        outcome_.points.push_back({pass_, size.x_value, settings, ratio, size.finalists.count(settings) > 0});
      }
    }
    outcome_.settings[pass_] = function_;
  }

  Lab& lab_;
  const model::Variant& shipped_;
  std::string pass_;
  SweepOutcome& outcome_;
  PassSpace space_;
  model::SettingsFunction function_;
};

}  // namespace

base::Result<SweepOutcome> sweep(Lab& lab, const model::Variant& shipped, const std::vector<Work>& afterwards) {
  SweepOutcome outcome;
  const std::vector<std::string> coupled = lab.described().coupled_knobs();
  model::SettingsFunction forward;
  std::map<std::string, model::Settings> fixed;  // by size, what backward takes over from forward
  const std::vector<std::string> passes = passes_in_scope(lab.described().modes(), lab.profile().request.scope);
  std::vector<Work> work;
  for (const std::string& pass : passes)
    for (Work& each : work_of(lab, pass)) work.push_back(std::move(each));
  work.insert(work.end(), afterwards.begin(), afterwards.end());
  lab.ports().progress.expect(work);
  for (const std::string& pass : passes) {
    PassSweep pass_sweep(lab, shipped, pass, outcome);
    HONE_PROPAGATE(pass_sweep.run(fixed));
    if (pass == "backward" && !coupled.empty() && !forward.rules.empty())
      couple(outcome.settings[pass], forward, coupled);
    if (pass != "forward") continue;
    forward = pass_sweep.function();
    for (const std::string& x_value : lab.described().sizes()) {
      const model::Settings& chosen = pass_sweep.function().at(*parse_size(x_value));
      for (const std::string& knob : coupled) {
        if (const auto value = chosen.find(knob); value != chosen.end()) fixed[x_value][knob] = value->second;
      }
    }
  }
  return outcome;
}

}  // namespace hone::stages

#include "stages/optimize/sweep.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/text.hpp"
#include "stages/optimize/scope.hpp"
#include "stages/optimize/settings_function.hpp"

namespace hone::stages {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kFinalists = 3;
// Of the timings allowed, the part kept for timing one size's winner at the other sizes.
constexpr double kShareForTransfer = 0.15;
// Fewer distinct settings are worth this much: below what a paired comparison here can tell.
constexpr double kTolerance = 0.01;

// The configurations of one size that differ in machine code or launch.
struct SizeSpace {
  std::string x_value;
  std::int64_t x = 0;
  model::Settings shipped;
  std::vector<model::Settings> distinct;    // [0] is the shipped one
  std::map<model::Settings, double> costs;  // timed: ratio against the shipped settings
  std::set<model::Settings> finalists;
  model::Settings winner;  // best of the finals; the shipped one unless another was really faster
  std::string winner_text;
};

class PassSweep {
 public:
  PassSweep(Lab& lab, const model::Variant& shipped, std::string pass, SweepOutcome& outcome)
      : lab_(lab), shipped_(shipped), pass_(std::move(pass)), outcome_(outcome) {}

  base::Result<void> run(const std::map<std::string, model::Settings>& coupled) {
    if (auto built = build(coupled); !built) return built;
    if (auto searched = search_all(); !searched) return searched;
    for (SizeSpace& size : sizes_) {
      if (auto done = hold_finals(size); !done) return done;
    }
    if (auto done = transfer_winners(); !done) return done;
    make_function();
    if (auto done = check_held_out(); !done) return done;
    conclude();
    return {};
  }

  const model::SettingsFunction& function() const { return function_; }

 private:
  repository::Cell cell(const std::string& x_value) const { return {x_value, pass_}; }

  base::Result<void> build(const std::map<std::string, model::Settings>& coupled) {
    lab_.ports().progress.step("parameter sweep, " + pass_ + ": compile");
    std::vector<std::string> x_values;
    std::vector<model::Settings> settings;
    for (const std::string& x_value : lab_.session().sizes()) {
      auto x = parse_size(x_value);
      if (!x) return x.error();
      SizeSpace size;
      size.x_value = x_value, size.x = *x;
      std::vector<model::Settings> space = lab_.session().space(pass_, x_value);
      const auto given = shipped_.settings.find(pass_);
      if (given != shipped_.settings.end() && !given->second.rules.empty())
        size.shipped = given->second.at(*x);
      else if (!space.empty())
        size.shipped = space.front();
      std::erase(space, size.shipped);
      space.insert(space.begin(), size.shipped);
      if (const auto fixed = coupled.find(x_value); fixed != coupled.end()) keep_coupled(space, size, fixed->second);
      for (const model::Settings& s : space) x_values.push_back(x_value), settings.push_back(s);
      sizes_.push_back(std::move(size));
    }
    std::sort(sizes_.begin(), sizes_.end(), [](const SizeSpace& a, const SizeSpace& b) { return a.x < b.x; });
    auto built = lab_.build(pass_, x_values, settings);
    if (!built) return built.error();
    int failed = 0;
    std::string first_error;
    std::map<std::string, std::set<std::pair<std::string, std::string>>> seen;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      if (!(*built)[i].error.empty()) {
        if (failed++ == 0) first_error = settings_text(settings[i]) + ": " + (*built)[i].error;
        continue;
      }
      if (!seen[x_values[i]].insert({(*built)[i].code_hash, (*built)[i].launch_hash}).second) continue;
      at(x_values[i]).distinct.push_back(settings[i]);
    }
    outcome_.evaluations.planned += static_cast<int>(settings.size());
    for (const SizeSpace& size : sizes_)
      outcome_.evaluations.distinct_binaries += static_cast<int>(size.distinct.size());
    if (failed > 0)
      outcome_.findings.push_back(fmt::format("{}: {} of {} configurations do not compile; the first: {}", pass_,
                                              failed, settings.size(), first_error));
    return check_shipped();
  }

  // The shipped settings are what everything is compared with: without them there is no sweep.
  base::Result<void> check_shipped() const {
    for (const SizeSpace& size : sizes_) {
      if (!size.distinct.empty() && size.distinct.front() == size.shipped) continue;
      return base::Error{
          base::ErrorKind::preflight, "the shipped settings to compile", settings_text(size.shipped) + " does not",
          pass_ + " at " + lab_.session().x_name() + "=" + size.x_value, "'hone doctor' checks the compiler"};
    }
    return {};
  }

  // Backward must take over what forward leaves its mark with. Its incumbent is then the shipped settings with those values.
  void keep_coupled(std::vector<model::Settings>& space, SizeSpace& size, const model::Settings& fixed) {
    std::vector<model::Settings> fitting = space;
    std::erase_if(fitting, [&](const model::Settings& s) {
      return std::any_of(fixed.begin(), fixed.end(), [&](const auto& knob) {
        const auto found = s.find(knob.first);
        return found != s.end() && found->second != knob.second;
      });
    });
    if (fitting.empty()) {
      outcome_.findings.push_back(
          fmt::format("{} at {}: no settings fit what forward was given ({}); its shipped ones are kept", pass_,
                      size.x_value, settings_text(fixed)));
      space = {size.shipped};
      return;
    }
    model::Settings incumbent = size.shipped;
    for (const auto& [name, value] : fixed) {
      if (incumbent.count(name)) incumbent[name] = value;
    }
    const auto found = std::find(fitting.begin(), fitting.end(), incumbent);
    size.shipped = found == fitting.end() ? fitting.front() : incumbent;
    std::erase(fitting, size.shipped);
    fitting.insert(fitting.begin(), size.shipped);
    space = std::move(fitting);
  }

  SizeSpace& at(const std::string& x_value) {
    return *std::find_if(sizes_.begin(), sizes_.end(), [&](const SizeSpace& s) { return s.x_value == x_value; });
  }

  base::Result<void> search_all() {
    std::vector<model::Settings> points;
    const SearchSpace space = search_space(points);
    SearchOptions options;
    options.largest_share = lab_.options().largest_search_share * (1 - kShareForTransfer);
    const int bound = static_cast<int>(search_budget(space, options));
    lab_.ports().progress.step(
        fmt::format("parameter sweep, {}: time at most {} of {} distinct configurations", pass_, bound, pairs()));
    int timed = 0;
    auto found = search(space, options, [&](std::size_t task, std::size_t point) {
      lab_.ports().progress.advance(
          ++timed, bound,
          fmt::format("{}={} {}", lab_.session().x_name(), sizes_[task].x_value, settings_text(points[point])));
      return lab_.screen(cell(sizes_[task].x_value), sizes_[task].shipped, points[point]);
    });
    if (!found) return found.error();
    int broken = 0;
    for (const Screened& s : found->screened) {
      if (!s.estimate.usable) ++broken;
      sizes_[s.task].costs[points[s.point]] = s.estimate.usable ? std::exp(s.estimate.log_ratio) : kInfinity;
    }
    outcome_.findings.push_back(fmt::format("{}: the search ended with {}", pass_, found->stop_reason));
    if (broken > 0)
      outcome_.findings.push_back(fmt::format("{}: {} configurations compiled and did not run", pass_, broken));
    return {};
  }

  std::size_t pairs() const {
    std::size_t sum = 0;
    for (const SizeSpace& size : sizes_) sum += size.distinct.size();
    return sum;
  }

  // Coordinates by the rank of a knob's value, so that 1, 2, 4, ... are evenly spaced.
  SearchSpace search_space(std::vector<model::Settings>& points) const {
    std::map<std::string, std::set<std::int64_t>> values;
    std::set<model::Settings> all;
    for (const SizeSpace& size : sizes_) {
      for (const model::Settings& s : size.distinct) {
        all.insert(s);
        for (const auto& [name, value] : s) values[name].insert(value);
      }
    }
    std::erase_if(values, [](const auto& knob) { return knob.second.size() < 2; });
    points.assign(all.begin(), all.end());
    SearchSpace space;
    for (const model::Settings& s : points) {
      std::vector<double> coordinates;
      for (const auto& [name, known] : values) {
        const auto own = s.find(name);
        const auto rank = own == s.end() ? 0 : std::distance(known.begin(), known.find(own->second));
        coordinates.push_back(static_cast<double>(rank) / static_cast<double>(known.size() - 1));
      }
      space.points.push_back(std::move(coordinates));
    }
    const double low = std::log(static_cast<double>(sizes_.front().x) + 1),
                 high = std::log(static_cast<double>(sizes_.back().x) + 1);
    const auto index = [&](const model::Settings& s) {
      return static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), s) - points.begin());
    };
    for (const SizeSpace& size : sizes_) {
      SearchTask task;
      task.position = high > low ? (std::log(static_cast<double>(size.x) + 1) - low) / (high - low) : 0;
      for (const model::Settings& s : size.distinct) task.points.push_back(index(s));
      task.incumbent = index(size.shipped);
      space.tasks.push_back(std::move(task));
    }
    return space;
  }

  // Independent paired finals of the screened best; the shipped settings stay unless one is faster beyond doubt.
  base::Result<void> hold_finals(SizeSpace& size) {
    std::vector<std::pair<double, model::Settings>> order;
    for (const auto& [settings, cost] : size.costs) {
      if (settings != size.shipped && cost < 1 + kTolerance) order.emplace_back(cost, settings);
    }
    std::sort(order.begin(), order.end());
    size.winner = size.shipped;
    size.winner_text = "no settings timed here were faster than the shipped ones";
    double best = 1;
    for (std::size_t i = 0; i < std::min(order.size(), kFinalists); ++i) {
      const model::Settings& settings = order[i].second;
      auto trial = lab_.compare_settings(cell(size.x_value), size.shipped, settings);
      if (!trial) return trial.error();
      size.finalists.insert(settings);
      if (trial->outcome != Trial::Outcome::measured) {
        size.costs[settings] = kInfinity;
        outcome_.findings.push_back(fmt::format("{} at {}: {} left the finals: {}", pass_, size.x_value,
                                                settings_text(settings), trial->reason));
        continue;
      }
      const model::Comparison& c = trial->comparison;
      // Not faster beyond doubt is a tie, and a tie goes to the shipped settings.
      size.costs[settings] = c.verdict == model::Verdict::faster ? c.ratio : std::max(c.ratio, 1.0);
      if (c.verdict == model::Verdict::faster && c.ratio < best) {
        best = c.ratio;
        size.winner = settings;
        size.winner_text = fmt::format("{} in the finals at {}: {:.3f} x shipped ({:.3f} to {:.3f})",
                                       settings_text(settings), size.x_value, c.ratio, c.ci_low, c.ci_high);
      }
    }
    // What was only screened may be noise: it can not beat what the finals found.
    for (auto& [settings, cost] : size.costs) {
      if (settings == size.shipped)
        cost = 1;
      else if (size.finalists.count(settings) == 0)
        cost = std::max(cost, best);
    }
    return {};
  }

  // A settings function needs one size's winner timed at the other sizes. Within the bound on timings, nearest sizes first.
  base::Result<void> transfer_winners() {
    std::size_t left = static_cast<std::size_t>(lab_.options().largest_search_share * static_cast<double>(pairs()));
    for (const SizeSpace& size : sizes_) left -= std::min(left, size.costs.size());
    for (std::size_t distance = 1; distance < sizes_.size(); ++distance) {
      for (std::size_t from = 0; from < sizes_.size(); ++from) {
        for (const std::size_t to : {from - distance, from + distance}) {
          if (to >= sizes_.size() || left == 0) continue;
          SizeSpace& size = sizes_[to];
          const model::Settings& settings = sizes_[from].winner;
          if (size.costs.count(settings) ||
              std::find(size.distinct.begin(), size.distinct.end(), settings) == size.distinct.end())
            continue;
          auto estimate = lab_.screen(cell(size.x_value), size.shipped, settings);
          if (!estimate) return estimate.error();
          --left;
          const double best = size.costs[size.winner];
          size.costs[settings] = estimate->usable ? std::max(std::exp(estimate->log_ratio), best) : kInfinity;
        }
      }
    }
    return {};
  }

  void make_function() {
    std::set<model::Settings> winners;
    for (const SizeSpace& size : sizes_) {
      if (size.winner != size.shipped) winners.insert(size.winner);
    }
    candidates_.assign(1, {});
    candidates_.insert(candidates_.end(), winners.begin(), winners.end());
    CostTable table;
    std::vector<std::int64_t> xs;
    for (const SizeSpace& size : sizes_) {
      std::vector<double> row = {1};
      for (std::size_t c = 1; c < candidates_.size(); ++c) {
        const auto known = size.costs.find(candidates_[c]);
        row.push_back(known == size.costs.end() ? kInfinity : known->second);
      }
      table.cost.push_back(std::move(row));
      table.shipped.push_back(size.shipped);
      xs.push_back(size.x);
    }
    const Partition partition = choose_partition(table, lab_.options().largest_settings, kTolerance);
    std::vector<std::string> reasons;
    for (const Piece& piece : partition.pieces) {
      double worst = 0;
      for (std::size_t i = piece.first; i <= piece.last; ++i) worst = std::max(worst, partition.slowdown[i]);
      std::string reason = piece.candidate == 0 ? "shipped settings kept: nothing was faster beyond doubt" : "";
      for (std::size_t i = piece.first; i <= piece.last && piece.candidate != 0; ++i) {
        if (sizes_[i].winner == candidates_[piece.candidate]) reason = sizes_[i].winner_text;
      }
      if (piece.first != piece.last)
        reason += fmt::format("; at most {:.1f} % slower than the best found at {} to {}", 100 * worst,
                              sizes_[piece.first].x_value, sizes_[piece.last].x_value);
      reasons.push_back(reason);
    }
    function_.x_name = lab_.session().x_name();
    function_.rules = rules_of(partition, table, xs, candidates_, reasons);
    function_.worst_slowdown_pct = 100 * partition.worst_slowdown;
  }

  // At a size nobody tuned for, the function must not lose to what the sizes beside it would choose.
  base::Result<void> check_held_out() {
    lab_.ports().progress.step("parameter sweep, " + pass_ + ": check on sizes held out");
    for (const std::string& x_value : lab_.session().held_out_sizes()) {
      auto x = parse_size(x_value);
      if (!x) return x.error();
      const std::vector<model::Settings> valid = lab_.session().space(pass_, x_value);
      if (valid.empty()) continue;
      const auto is_valid = [&](const model::Settings& s) {
        return std::find(valid.begin(), valid.end(), s) != valid.end();
      };
      const std::vector<model::Settings> rivals = neighbours_choices(*x);
      const model::Settings chosen = function_.at(*x);
      if (!is_valid(chosen)) {
        const auto good = std::find_if(rivals.begin(), rivals.end(), is_valid);
        start_rule(*x, good == rivals.end() ? valid.front() : *good,
                   "the settings of the size below are not valid at " + x_value);
        continue;
      }
      if (auto done = hold_out_comparison(x_value, *x, chosen, rivals, is_valid); !done) return done;
    }
    return {};
  }

  template <class IsValid>
  base::Result<void> hold_out_comparison(const std::string& x_value, std::int64_t x, const model::Settings& chosen,
                                         const std::vector<model::Settings>& rivals, const IsValid& is_valid) {
    double slowdown = 0;
    model::Settings better;
    for (const model::Settings& rival : rivals) {
      if (rival == chosen || !is_valid(rival)) continue;
      auto trial = lab_.compare_settings(cell(x_value), chosen, rival);
      if (!trial) return trial.error();
      const model::Comparison& c = trial->comparison;
      if (trial->outcome != Trial::Outcome::measured || c.verdict != model::Verdict::faster ||
          1 / c.ratio - 1 <= slowdown)
        continue;
      slowdown = 1 / c.ratio - 1;
      better = rival;
    }
    if (slowdown <= kTolerance) return {};
    const auto next = std::find_if(function_.rules.begin(), function_.rules.end(),
                                   [&](const model::SettingsRule& r) { return r.from_x > x; });
    if (next != function_.rules.end() && next->settings == better) {
      outcome_.findings.push_back(fmt::format(
          "{}: at the held-out size {} the settings of the size above are {:.1f} % faster; their range starts there",
          pass_, x_value, 100 * slowdown));
      next->from_x = x;
    } else {
      function_.worst_slowdown_pct = std::max(function_.worst_slowdown_pct, 100 * slowdown);
      outcome_.findings.push_back(
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

  void conclude() {
    merge_rules(function_.rules);
    function_.reason = fmt::format(
        "{} distinct settings over {} sizes; at most {:.1f} % slower than the best found at any size, sampled or held "
        "out",
        distinct_settings(function_), sizes_.size(), function_.worst_slowdown_pct);
    for (const SizeSpace& size : sizes_) {
      outcome_.evaluations.timed += static_cast<int>(size.costs.size());
      for (const auto& [settings, cost] : size.costs) {
        if (std::isfinite(cost))
          outcome_.points.push_back({pass_, size.x_value, settings, cost, size.finalists.count(settings) > 0});
      }
    }
    outcome_.settings[pass_] = function_;
  }

  Lab& lab_;
  const model::Variant& shipped_;
  std::string pass_;
  SweepOutcome& outcome_;
  std::vector<SizeSpace> sizes_;
  std::vector<model::Settings> candidates_;
  model::SettingsFunction function_;
};

}  // namespace

base::Result<SweepOutcome> sweep(Lab& lab, const model::Variant& shipped) {
  SweepOutcome outcome;
  const std::vector<std::string> coupled = lab.session().coupled_knobs();
  std::map<std::string, model::Settings> fixed;  // by size, what backward takes over from forward
  for (const std::string& pass : passes_in_scope(lab.session().modes(), lab.profile().request.scope)) {
    PassSweep pass_sweep(lab, shipped, pass, outcome);
    if (auto done = pass_sweep.run(fixed); !done) return done.error();
    if (pass != "forward") continue;
    for (const std::string& x_value : lab.session().sizes()) {
      const model::Settings& chosen = pass_sweep.function().at(*parse_size(x_value));
      for (const std::string& knob : coupled) {
        if (const auto value = chosen.find(knob); value != chosen.end()) fixed[x_value][knob] = value->second;
      }
    }
  }
  return outcome;
}

}  // namespace hone::stages

#include "stages/optimize/search.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "stages/optimize/surrogate.hpp"

namespace hone::stages {

namespace {

double expected_improvement(double best, const Prediction& p) {
  if (p.deviation <= 0) return std::max(best - p.mean, 0.0);
  const double z = (best - p.mean) / p.deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * 3.14159265358979323846);
  const double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
  return (best - p.mean) * below + p.deviation * density;
}

class Search {
 public:
  Search(const SearchSpace& space, const SearchOptions& options, const Measure& measure)
      : space_(space),
        options_(options),
        measure_(measure),
        budget_(search_budget(space, options)),
        timed_(space.tasks.size()),
        knobs_(space.points.empty() ? 0 : space.points.front().size()) {}

  base::Result<SearchOutcome> run() {
    for (std::size_t t = 0; t < space_.tasks.size(); ++t) keep(t, space_.tasks[t].incumbent, Estimate{});
    HONE_PROPAGATE(time_spread());
    Surrogate model(knobs_);
    std::size_t tuned_at = 0;
    while (total_ < budget_) {
      // The length scales settle early; tuning costs a dozen factorizations, so it is done at each growth by a quarter.
      const bool tune = total_ >= tuned_at + std::max<std::size_t>(4, tuned_at / 4);
      if (tune) tuned_at = total_;
      model.fit(observations(), tune);
      auto round = next_round(model);
      if (round.empty()) {
        outcome_.stop_reason = fmt::format("no settings left whose expected improvement is {:.2f} % or more",
                                           100 * options_.smallest_improvement);
        return outcome_;
      }
      for (const auto& [task, point] : round) {
        if (total_ >= budget_) break;
        HONE_PROPAGATE(time(task, point));
      }
    }
    outcome_.stop_reason = fmt::format("{} of {} configurations timed, the bound of the search", total_, pairs());
    return outcome_;
  }

 private:
  std::size_t pairs() const {
    std::size_t sum = 0;
    for (const SearchTask& task : space_.tasks) sum += task.points.size();
    return sum;
  }

  bool may_time(std::size_t task) const {
    return timed_[task].size() < std::min(space_.tasks[task].points.size(), options_.largest_per_task);
  }

  void keep(std::size_t task, std::size_t point, const Estimate& estimate) {
    timed_[task].insert(point);
    outcome_.screened.push_back({task, point, estimate});
    ++total_;
  }

  base::Result<void> time(std::size_t task, std::size_t point) {
    HONE_TRY(estimate, measure_(task, point));
    keep(task, point, *estimate);
    return {};
  }

  double distance_to_timed(std::size_t task, std::size_t point) const {
    double nearest = std::numeric_limits<double>::infinity();
    for (const Screened& s : outcome_.screened) {
      double d = 0.25 * std::abs(space_.tasks[s.task].position - space_.tasks[task].position);
      for (std::size_t k = 0; k < knobs_; ++k) d += std::abs(space_.points[s.point][k] - space_.points[point][k]);
      nearest = std::min(nearest, d);
    }
    return nearest;
  }

  // Before there is anything to model: points far from all others, the sizes taking turns.
  base::Result<void> time_spread() {
    const std::size_t wanted = std::min(total_ + std::max<std::size_t>(2 * knobs_ + 1, space_.tasks.size()),
                                        total_ + (budget_ - std::min(budget_, total_)) * 2 / 5 + 1);
    bool progress = true;
    while (progress && total_ < wanted && total_ < budget_) {
      progress = false;
      for (std::size_t t = 0; t < space_.tasks.size() && total_ < wanted && total_ < budget_; ++t) {
        if (!may_time(t)) continue;
        std::size_t chosen = 0;
        double farthest = -1;
        for (const std::size_t p : space_.tasks[t].points) {
          if (timed_[t].count(p)) continue;
          const double d = distance_to_timed(t, p);
          if (d > farthest) farthest = d, chosen = p;
        }
        if (auto done = time(t, chosen); !done) return done;
        progress = true;
      }
    }
    return {};
  }

  std::vector<Observation> observations() const {
    std::vector<Observation> all;
    for (const Screened& s : outcome_.screened) {
      if (!s.estimate.usable) continue;
      all.push_back(
          {space_.tasks[s.task].position, space_.points[s.point], s.estimate.log_ratio, s.estimate.deviation});
    }
    return all;
  }

  // At each size the point with the largest expected improvement, most promising size first.
  std::vector<std::pair<std::size_t, std::size_t>> next_round(const Surrogate& model) const {
    struct Proposal {
      double gain;
      std::size_t task, point;
    };
    std::vector<Proposal> proposals;
    for (std::size_t t = 0; t < space_.tasks.size(); ++t) {
      if (!may_time(t)) continue;
      double best = std::numeric_limits<double>::infinity();
      for (const Screened& s : outcome_.screened) {
        if (s.task == t && s.estimate.usable)
          best = std::min(best, model.predict(space_.tasks[t].position, space_.points[s.point]).mean);
      }
      Proposal top{options_.smallest_improvement, t, 0};
      bool found = false;
      for (const std::size_t p : space_.tasks[t].points) {
        if (timed_[t].count(p)) continue;
        const double gain = expected_improvement(best, model.predict(space_.tasks[t].position, space_.points[p]));
        if (gain > top.gain) top.gain = gain, top.point = p, found = true;
      }
      if (found) proposals.push_back(top);
    }
    std::stable_sort(proposals.begin(), proposals.end(),
                     [](const Proposal& a, const Proposal& b) { return a.gain > b.gain; });
    std::vector<std::pair<std::size_t, std::size_t>> round;
    for (const Proposal& p : proposals) round.emplace_back(p.task, p.point);
    return round;
  }

  const SearchSpace& space_;
  const SearchOptions& options_;
  const Measure& measure_;
  std::size_t budget_;
  std::vector<std::set<std::size_t>> timed_;
  std::size_t knobs_, total_ = 0;
  SearchOutcome outcome_;
};

}  // namespace

std::size_t search_budget(const SearchSpace& space, const SearchOptions& options) {
  std::size_t pairs = 0, least = 0;
  for (const SearchTask& task : space.tasks) {
    pairs += task.points.size();
    least += std::min<std::size_t>(task.points.size(), 2);
  }
  return std::max(least, static_cast<std::size_t>(options.largest_share * static_cast<double>(pairs)));
}

base::Result<SearchOutcome> search(const SearchSpace& space, const SearchOptions& options, const Measure& measure) {
  return Search(space, options, measure).run();
}

}  // namespace hone::stages

// The sweep's search on synthetic landscapes: how close it comes to the exhaustive best, and what it may spend for that.
#include "stages/optimize/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace hone::test {
namespace {

using namespace stages;

// log time of every point at every size: a bowl whose centre drifts with the size, pairs of knobs that interact, something
// peculiar to each point, and noise in every measurement. This is what tile kernels look like, not what suits the search.
struct Landscape {
  SearchSpace space;
  std::vector<std::vector<double>> log_time;  // [task][point]
  double noise = 0.008;

  explicit Landscape(unsigned seed) : random(seed) {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    const std::size_t knobs = 3 + seed % 3, tasks = 3 + seed % 4;
    std::vector<std::vector<double>> points = {{}};
    for (std::size_t k = 0; k < knobs; ++k) {
      const int levels = 2 + static_cast<int>(random() % 4);
      std::vector<std::vector<double>> grown;
      for (const auto& p : points) {
        for (int v = 0; v < levels; ++v)
          grown.push_back(p), grown.back().push_back(static_cast<double>(v) / (levels - 1));
      }
      points = std::move(grown);
    }
    for (const auto& p : points) {
      if (uniform(random) > 0.2 || space.points.empty()) space.points.push_back(p);
    }
    std::vector<double> centre(knobs), drift(knobs), weight(knobs), peculiar(space.points.size());
    std::vector<double> pair(knobs * knobs);
    for (std::size_t k = 0; k < knobs; ++k)
      centre[k] = uniform(random), drift[k] = 0.4 * normal(random), weight[k] = std::exp(normal(random) - 1.5);
    for (double& p : pair) p = 0.12 * normal(random);
    for (double& p : peculiar) p = 0.01 * normal(random);
    for (std::size_t t = 0; t < tasks; ++t) {
      SearchTask task;
      task.position = static_cast<double>(t) / static_cast<double>(tasks - 1);
      std::vector<double> row;
      for (std::size_t p = 0; p < space.points.size(); ++p) {
        double value = peculiar[p] + 0.004 * normal(random);
        for (std::size_t k = 0; k < knobs; ++k) {
          const double d = space.points[p][k] - centre[k] - drift[k] * task.position;
          value += 2 * weight[k] * d * d;
          for (std::size_t j = 0; j < k; ++j) value += pair[k * knobs + j] * space.points[p][k] * space.points[p][j];
        }
        row.push_back(value);
        task.points.push_back(p);
      }
      task.incumbent = random() % space.points.size();
      space.tasks.push_back(task);
      log_time.push_back(row);
    }
  }

  base::Result<Estimate> measure(std::size_t task, std::size_t point) {
    ++measured;
    return Estimate{log_time[task][point] - log_time[task][space.tasks[task].incumbent] +
                        noise * std::normal_distribution<double>()(random),
                    noise, true};
  }

  // What finals over the three best screened find, over the exhaustive best, in percent, at each size.
  std::vector<double> regrets(const SearchOutcome& outcome) const {
    std::vector<double> all;
    for (std::size_t t = 0; t < space.tasks.size(); ++t) {
      std::vector<std::pair<double, std::size_t>> order;
      for (const Screened& s : outcome.screened) {
        if (s.task == t && s.estimate.usable) order.emplace_back(s.estimate.log_ratio, s.point);
      }
      std::sort(order.begin(), order.end());
      double found = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < std::min<std::size_t>(3, order.size()); ++i)
        found = std::min(found, log_time[t][order[i].second]);
      all.push_back(100 * (std::exp(found - *std::min_element(log_time[t].begin(), log_time[t].end())) - 1));
    }
    return all;
  }

  std::mt19937_64 random;
  int measured = 0;
};

TEST(Search, EndsWithinTwoPercentOfTheExhaustiveBestForAThirdOfTheTimings) {
  int cells = 0, beyond = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    Landscape land(seed);
    if (land.space.points.size() < 24 || land.space.points.size() > 400) continue;
    const auto outcome = search(land.space, {}, [&](std::size_t t, std::size_t p) { return land.measure(t, p); });
    ASSERT_TRUE(outcome);
    const std::size_t pairs = land.space.points.size() * land.space.tasks.size();
    EXPECT_LE(outcome->screened.size(), 0.35 * static_cast<double>(pairs));
    for (const double regret : land.regrets(*outcome)) ++cells, beyond += regret > 2;
  }
  EXPECT_GT(cells, 60);
  EXPECT_LE(beyond, cells / 20) << beyond << " of " << cells << " sizes end more than 2 % from the best";
}

TEST(Search, TimesNothingTwiceAndTheIncumbentNever) {
  Landscape land(4);
  const auto outcome = search(land.space, {}, [&](std::size_t t, std::size_t p) {
    EXPECT_NE(p, land.space.tasks[t].incumbent);
    return land.measure(t, p);
  });
  ASSERT_TRUE(outcome);
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const Screened& s : outcome->screened) EXPECT_TRUE(seen.insert({s.task, s.point}).second);
  EXPECT_EQ(static_cast<std::size_t>(land.measured) + land.space.tasks.size(), outcome->screened.size());
}

TEST(Search, IsRepeatable) {
  std::vector<std::size_t> orders[2];
  for (auto& order : orders) {
    Landscape land(5);
    const auto outcome = search(land.space, {}, [&](std::size_t t, std::size_t p) { return land.measure(t, p); });
    for (const Screened& s : outcome->screened) order.push_back(s.task * 10000 + s.point);
  }
  EXPECT_EQ(orders[0], orders[1]);
}

TEST(Search, GoesOnPastConfigurationsThatDoNotRun) {
  Landscape land(6);
  const auto outcome = search(land.space, {}, [&](std::size_t t, std::size_t p) -> base::Result<Estimate> {
    if (p % 3 == 0) return Estimate{0, 1, false};
    return land.measure(t, p);
  });
  ASSERT_TRUE(outcome);
  EXPECT_GT(land.measured, 10);
}

TEST(Search, HandlesSpacesOfOneAndTwo) {
  SearchSpace one{{{}}, {{0, {0}, 0}, {1, {0}, 0}}};
  const auto alone = search(one, {}, [](std::size_t, std::size_t) -> base::Result<Estimate> {
    ADD_FAILURE();
    return Estimate{};
  });
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->screened.size(), 2u);
  SearchSpace two{{{0}, {1}}, {{0, {0, 1}, 0}}};
  const auto both = search(two, {}, [](std::size_t, std::size_t) -> base::Result<Estimate> {
    return Estimate{-0.1, 0.01, true};
  });
  ASSERT_TRUE(both);
  EXPECT_EQ(both->screened.size(), 2u);
}

TEST(Search, EndsWithTheErrorOfAMeasurement) {
  Landscape land(7);
  const auto outcome = search(land.space, {}, [](std::size_t, std::size_t) -> base::Result<Estimate> {
    return base::Error{base::ErrorKind::interrupted, "", "stopped", "", ""};
  });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, base::ErrorKind::interrupted);
}

}  // namespace
}  // namespace hone::test

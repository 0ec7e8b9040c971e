// Every point of the plane has exactly one class, which changes only across stated thresholds. That of a launch's advice is
// tested beside launches.
#include "diagnose/classes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "diagnose/advice.hpp"

namespace hone::diagnose {
namespace {

using model::BottleneckClass;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Point random_point(std::mt19937_64& random) {
  std::uniform_real_distribution<double> pct(0, 110), log_us(-1, 5), odd(0, 1);
  Point point{pct(random), pct(random), pct(random), std::pow(10.0, log_us(random)), pct(random) * 0.7};
  // One value in fifty is one that no tool should print, and some do.
  const double strange[] = {
      kNaN, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), -5, 1e300, 0};
  for (double* value :
       {&point.compute_pct, &point.memory_pct, &point.occupancy_pct, &point.duration_us, &point.host_share_pct})
    if (odd(random) < 0.02) *value = strange[random() % std::size(strange)];
  return point;
}

TEST(Classes, EveryOfAMillionPointsHasOneOfTheFiveClasses) {
  std::mt19937_64 random(20260101);
  std::set<BottleneckClass> seen;
  for (int i = 0; i < 1'000'000; ++i) {
    const Point point = random_point(random);
    const BottleneckClass cls = classify(point);
    ASSERT_EQ(cls, classify(point));
    ASSERT_TRUE(model::parse<BottleneckClass>(model::word(cls)).has_value());
    seen.insert(cls);
  }
  EXPECT_EQ(seen.size(), 5u) << "a class that no point reaches is no class";
}

// The thresholds of classes.hpp as signed distances: a class may change between two points only where one of them changes sign.
std::vector<double> distances(const Point& p) {
  const double compute = std::min(std::max(p.compute_pct, 0.0), 100.0),
               memory = std::min(std::max(p.memory_pct, 0.0), 100.0);
  return {p.host_share_pct - kHostShareMajority,
          compute - kBusy,
          memory - kBusy,
          compute - kBusyWhenStarved,
          memory - kBusyWhenStarved,
          p.occupancy_pct - kStarvedOccupancy,
          p.occupancy_pct - kBalancedOccupancy,
          compute - kBalancedFloor,
          memory - kBalancedFloor,
          std::abs(compute - memory) - kBalancedGap,
          compute - memory,
          p.duration_us - kShortLaunchUs};
}

bool crosses_a_threshold(const Point& a, const Point& b) {
  const std::vector<double> before = distances(a), after = distances(b);
  for (std::size_t i = 0; i < before.size(); ++i)
    if ((before[i] >= 0) != (after[i] >= 0) || before[i] == 0 || after[i] == 0) return true;
  return false;
}

TEST(Classes, AMillionStepsChangeTheClassOnlyAcrossAStatedThreshold) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> at(0, 100), step(-1, 1);
  int changes = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const Point a{at(random), at(random), at(random), 0.2 + at(random) / 10, at(random)};
    const Point b{a.compute_pct + step(random), a.memory_pct + step(random), a.occupancy_pct + step(random),
                  a.duration_us + step(random) / 10, a.host_share_pct + step(random)};
    if (classify(a) == classify(b)) continue;
    ++changes;
    ASSERT_TRUE(crosses_a_threshold(a, b)) << a.compute_pct << ' ' << a.memory_pct << ' ' << a.occupancy_pct << ' '
                                           << a.duration_us << ' ' << a.host_share_pct;
  }
  EXPECT_GT(changes, 1000) << "the walk met too few borders to have tested them";
}

TEST(Classes, MemoryOrComputeThatIsBusyAloneGivesItsName) {
  EXPECT_EQ(classify({20, 87, 80, 90, 0}), BottleneckClass::memory_bound);
  EXPECT_EQ(classify({88, 63, 89, 82, 0}), BottleneckClass::compute_bound);
  EXPECT_EQ(classify({50.5, 80.2, 69.7, 63, 0}), BottleneckClass::memory_bound);
}

TEST(Classes, TwoBusyUnitsAreBalanced) {
  EXPECT_EQ(classify({85, 90, 70, 100, 0}), BottleneckClass::balanced);
  EXPECT_EQ(classify({55, 52, 75, 100, 0}), BottleneckClass::balanced);
}

TEST(Classes, ASmallGridWithIdleUnitsIsLatencyBoundNotBalanced) {
  EXPECT_EQ(classify({20.4, 46.7, 12.5, 174, 0}), BottleneckClass::latency_bound);
  EXPECT_EQ(classify({52, 55, 12.5, 174, 0}), BottleneckClass::latency_bound);
}

TEST(Classes, WithFewWarpsInFlightAUnitIsBusyOnlyNearItsPeak) {
  EXPECT_EQ(classify({20, 70, 12.5, 174, 0}), BottleneckClass::latency_bound);
  EXPECT_EQ(classify({20, 85, 12.5, 174, 0}), BottleneckClass::memory_bound);
}

TEST(Classes, ADeviceIdleForMostOfTheCallersTimeIsHostBoundWhateverTheKernelDoes) {
  EXPECT_EQ(classify({90, 90, 90, 100, 51}), BottleneckClass::host_bound);
  EXPECT_EQ(classify({kNaN, kNaN, kNaN, kNaN, 90}), BottleneckClass::host_bound);
}

TEST(Classes, AnUnknownHostShareIsNotAHostShare) {
  EXPECT_EQ(classify({10, 90, 80, 100, kNaN}), BottleneckClass::memory_bound);
}

TEST(Classes, AShortLaunchIsNotCalledBalancedForTwoHalfBusyUnits) {
  EXPECT_EQ(classify({55, 55, 80, 3, 0}), BottleneckClass::latency_bound);
  EXPECT_EQ(classify({55, 55, 80, 30, 0}), BottleneckClass::balanced);
}

TEST(PlainRule, SaysItsWordsWhereItHasOneAndUnclassifiedElsewhere) {
  EXPECT_EQ(plain_rule(20, 80), "memory-bound");
  EXPECT_EQ(plain_rule(80, 20), "compute-bound");
  EXPECT_EQ(plain_rule(45, 45), "balanced");
  EXPECT_EQ(plain_rule(50, 80), "unclassified");
  EXPECT_EQ(plain_rule(20, 47), "unclassified");
  EXPECT_EQ(plain_rule(kNaN, 80), "unclassified");
}

TEST(Strategies, EveryClassAndLimiterHasStrategiesThatAreDescribed) {
  const std::vector<std::string> limiters = {
      "",          "grid",         "registers",      "shared memory", "block size",       "spills",
      "tail wave", "short launch", "memory latency", "no overlap",    "dependency stalls"};
  for (const BottleneckClass cls :
       {BottleneckClass::memory_bound, BottleneckClass::compute_bound, BottleneckClass::balanced,
        BottleneckClass::latency_bound, BottleneckClass::host_bound}) {
    for (const std::string& limiter : limiters) {
      const std::vector<std::string> order = strategies_for(cls, {limiter}, true);
      EXPECT_GE(order.size(), 3u);
      EXPECT_EQ(std::set<std::string>(order.begin(), order.end()).size(), order.size()) << "a strategy stands twice";
      for (const std::string& word : order) EXPECT_NE(find_strategy(word), nullptr) << word;
    }
  }
}

TEST(Strategies, TheGridComesFirstForAGridThatIsTooSmall) {
  EXPECT_EQ(strategies_for(BottleneckClass::latency_bound, {"grid", "registers"}, true)[0], "grid-sizing");
  EXPECT_EQ(strategies_for(BottleneckClass::latency_bound, {"grid", "registers"}, true)[1], "register-pressure");
}

TEST(Strategies, BalancedAlternatesBetweenMemoryAndArithmetic) {
  const std::vector<std::string> order = strategies_for(BottleneckClass::balanced, {}, false);
  EXPECT_EQ(order[0], "redundant-work");
  EXPECT_EQ(order[1], "access-width");
}

TEST(Family, FollowsTheComputeCapabilityOrTheNameOrTheTarget) {
  model::DeviceInfo device;
  device.kind = "cuda";
  device.compute_capability = "9.0";
  EXPECT_EQ(family_of(device), Family::hopper);
  device.compute_capability = "8.9";
  EXPECT_EQ(family_of(device), Family::ada);
  device.target_gpu = "blackwell";
  EXPECT_EQ(family_of(device), Family::blackwell);
  device = {};
  device.kind = "cpu";
  device.architecture = "x86-64 avx512";
  device.target_gpu = "hopper";
  EXPECT_EQ(family_of(device), Family::x86);
}

}  // namespace
}  // namespace hone::diagnose

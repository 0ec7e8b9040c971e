// The effective size of a cache: found where the bandwidth falls to that of memory, whatever the system reports and under noise.
#include "device/cache_knee.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "device/cpu/ceilings.hpp"
#include "tests/support/played_device.hpp"

namespace hone::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t MiB = 1 << 20;

std::vector<CachePoint> curve_of(const std::function<double(double mib)>& gigabytes_per_s, double largest_mib = 960) {
  std::vector<CachePoint> curve;
  for (const std::int64_t bytes : working_sets(2 * MiB, static_cast<std::int64_t>(largest_mib) * MiB))
    curve.push_back({bytes, 1e9 * gigabytes_per_s(static_cast<double>(bytes) / MiB)});
  return curve;
}
double mib(const std::vector<CachePoint>& curve) {
  return static_cast<double>(effective_cache_bytes(curve)) / static_cast<double>(MiB);
}

TEST(CacheKnee, WorkingSetsGrowUpToTheLargest) {
  EXPECT_THAT(working_sets(2, 16), ElementsAre(2, 3, 4, 6, 8, 12, 16));
  EXPECT_THAT(working_sets(2, 30), ElementsAre(2, 3, 4, 6, 8, 12, 16, 24, 30));
  EXPECT_THAT(working_sets(2, 18), ElementsAre(2, 3, 4, 6, 8, 12, 18)) << "no two sizes that hardly differ";
  EXPECT_THAT(working_sets(5, 5), ElementsAre(5));
  EXPECT_TRUE(working_sets(0, 16).empty());
  EXPECT_TRUE(working_sets(16, 2).empty());
}

TEST(CacheKnee, ACacheThatEvictsTheOldestLineHitsUpToItsSize) {
  EXPECT_NEAR(mib(curve_of([](double s) { return s <= 16 ? 60 : 22; })), 16, 0.1);
}

// Hits of C / S at a working set of S: the time per byte is between that of the cache and that of memory.
TEST(CacheKnee, ACacheThatEvictsAnyLineHitsForItsSizeAtEverySize) {
  const auto curve = curve_of([](double s) {
    const double hits = std::min(1.0, 24 / s);
    return 1 / (hits / 60 + (1 - hits) / 22);
  });
  EXPECT_NEAR(mib(curve), 24, 3);
}

TEST(CacheKnee, ALevelBelowThatIsFasterHidesNothing) {
  EXPECT_NEAR(mib(curve_of([](double s) { return s <= 4 ? 150 : s <= 32 ? 55 : 20; })), 32, 12);
}

TEST(CacheKnee, WithoutAKneeNothingIsKnown) {
  EXPECT_EQ(mib(curve_of([](double) { return 22; })), 0);
  EXPECT_EQ(mib(curve_of([](double s) { return s < 64 ? 25 : 22; })), 0) << "a contrast that noise has too";
  EXPECT_EQ(effective_cache_bytes({}), 0);
  EXPECT_EQ(effective_cache_bytes({{1, 60e9}, {2, 60e9}, {4, 20e9}}), 0) << "too few sizes";
  EXPECT_EQ(effective_cache_bytes({{1, 60e9}, {2, 0}, {4, 20e9}, {8, 20e9}}), 0) << "a rate that is none";
}

// As read by an H200, whose L2 has 60 MiB and holds 50: short launches are slower, whatever the cache.
TEST(CacheKnee, AGpusCurveRisesBeforeItFalls) {
  std::vector<CachePoint> curve;
  for (const auto& [mebibytes, rate] : std::initializer_list<std::pair<double, double>>{{4.1, 4.71},
                                                                                        {8.2, 6.1},
                                                                                        {12.4, 6.65},
                                                                                        {16.5, 6.85},
                                                                                        {24.8, 7.42},
                                                                                        {33, 7.75},
                                                                                        {49.5, 8.07},
                                                                                        {61.9, 4.43},
                                                                                        {90.8, 4.38},
                                                                                        {136.1, 4.36},
                                                                                        {259.9, 4.36}})
    curve.push_back({static_cast<std::int64_t>(mebibytes * MiB), rate * 1e12});
  EXPECT_NEAR(mib(curve), 49.5, 0.1);
}

TEST(CacheKnee, OneDisturbedSizeIsNoKnee) {
  EXPECT_NEAR(mib(curve_of([](double s) { return s == 8 ? 15.0 : s <= 32 ? 60 : 22; })), 32, 0.1);
}

// Other load takes from the rate, often most of it: every second run of two is five times slower.
TEST(CacheKnee, OtherLoadThatHalvesEverySecondRunChangesNothing) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    base::ManualClock clock;
    std::mt19937 random(seed);
    auto curve = cache_curve(working_sets(2 * MiB, 960 * MiB), clock, 60'000'000'000,
                             [&](std::int64_t bytes) -> base::Result<double> {
                               const double quiet = bytes <= 16 * MiB ? 60e9 : 22e9;
                               return quiet * std::exp(-0.05 * std::abs(std::normal_distribution<>()(random))) *
                                      (std::bernoulli_distribution(0.5)(random) ? 0.2 : 1);
                             });
    ASSERT_TRUE(curve);
    EXPECT_NEAR(mib(*curve), 16, 4) << seed;
  }
}

TEST(CacheKnee, TheTimeEndsTheRoundsButNotBeforeThree) {
  base::ManualClock clock;
  int asked = 0;
  const auto slow = [&](std::int64_t) -> base::Result<double> {
    ++asked;
    clock.advance_ns(1'000'000'000);
    return 1e9;
  };
  ASSERT_TRUE(cache_curve({1, 2, 4, 8}, clock, 1'000'000'000, slow));
  EXPECT_EQ(asked, 12);
  const auto broken = cache_curve({1, 2}, clock, 1, [](std::int64_t) -> base::Result<double> {
    return base::Error{base::ErrorKind::interrupted, "a run", "stopped", "", ""};
  });
  EXPECT_FALSE(broken);
}

// The whole look on a device that reports the cache of its host and gets a part of it.
TEST(CacheKnee, AVirtualMachinesCacheIsMeasuredAndNotBelieved) {
  base::ManualClock clock;
  std::int64_t largest = 0;
  test::PlayedDevice device(clock, [&](const std::vector<Launch>& launches, bool cold) {
    EXPECT_FALSE(cold);
    EXPECT_THAT(launches.front().entry, HasSubstr("ceiling_read"));
    const std::int64_t bytes = launches.front().programs * (64 << 10);
    largest = std::max(largest, bytes);
    return static_cast<double>(bytes) / (bytes <= 16 * MiB ? 60 : 22);
  });
  device.described.caches.back() = {3, 480 * MiB, 2};
  auto bytes = cpu::measure_cache_size(device, {480 * MiB, 480 * MiB, std::int64_t{16} << 30, 2}, {}, clock);
  ASSERT_TRUE(bytes) << base::describe(bytes.error());
  EXPECT_NEAR(static_cast<double>(*bytes) / MiB, 16, 0.1);
  EXPECT_EQ(largest, 960 * MiB) << "memory's own rate is taken beyond what the system reports";
  EXPECT_LT(clock.now_ns(), 2'000'000'000);
  device.use_cache_size(*bytes);
  EXPECT_EQ(device.info().last_level_cache_bytes(), *bytes);
  EXPECT_EQ(device.info().reported_last_level_cache_bytes(), 480 * MiB);
}

TEST(CacheKnee, LittleMemoryBoundsTheSweep) {
  base::ManualClock clock;
  std::int64_t largest = 0;
  test::PlayedDevice device(clock, [&](const std::vector<Launch>& launches, bool) {
    largest = std::max(largest, launches.front().programs * (64 << 10));
    return 1e6;
  });
  ASSERT_TRUE(cpu::measure_cache_size(device, {480 * MiB, 480 * MiB, 256 * MiB, 2}, {}, clock));
  EXPECT_EQ(largest, 64 * MiB);
  auto none = cpu::measure_cache_size(device, {480 * MiB, 480 * MiB, 1 * MiB, 2}, {}, clock);
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, 0);
}

}  // namespace
}  // namespace hone::device

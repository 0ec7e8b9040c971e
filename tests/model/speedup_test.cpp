#include "model/speedup.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace hone::model {
namespace {

TEST(Speedup, ARatioIsSaidAsAFactorAndAsAShareOfTheTime) {
  EXPECT_EQ(speed_change(0.15), "6.7x faster (85 % less time)");
  EXPECT_EQ(speed_change(0.952), "1.05x faster (4.8 % less time)");
  EXPECT_EQ(speed_change(1.3), "1.3x slower (30 % more time)");
  EXPECT_EQ(speed_change(0.8), "1.25x faster (20 % less time)");
  EXPECT_EQ(speed_change(0.5), "2.0x faster (50 % less time)");
  EXPECT_EQ(speed_change(0.043), "23x faster (96 % less time)");
  EXPECT_EQ(speed_change(0.996), "1.004x faster (0.4 % less time)");
  EXPECT_EQ(speed_change(6.67), "6.7x slower (567 % more time)");
  EXPECT_EQ(speed_change(1), "the same time");
  EXPECT_EQ(speed_change(1.0003), "the same time");
  EXPECT_EQ(speed_factor(0.15), "6.7x faster");
}

TEST(Speedup, ARangeIsSaidFromTheSmallerChangeOn) {
  EXPECT_EQ(speed_change(0.783, 0.855), "1.17x to 1.28x faster (15 to 22 % less time)");
  EXPECT_EQ(speed_change(1.3, 1.02), "1.02x to 1.3x slower (2.0 to 30 % more time)");
  EXPECT_EQ(speed_change(0.15, 0.1501), "6.7x faster (85 % less time)");
  EXPECT_EQ(speed_change(0.8, 1.3), "1.25x faster (20 % less time) to 1.3x slower (30 % more time)");
}

TEST(Speedup, AClaimNeedsAnIntervalThatLeavesOutOne) {
  EXPECT_EQ(speed_claim(0.15, 0.149, 0.151), "6.7x faster (85 % less time), ratio 0.150 (0.149 to 0.151)");
  EXPECT_EQ(speed_claim(1.3, 1.2, 1.4), "1.3x slower (30 % more time), ratio 1.300 (1.200 to 1.400)");
  EXPECT_EQ(speed_claim(0.97, 0.94, 1.001), "no change shown, ratio 0.970 (0.940 to 1.001)");
  EXPECT_EQ(speed_claim(0, 0, 0), "no change shown, ratio 0.000 (0.000 to 0.000)");
}

TEST(Speedup, WhatIsNoRatioIsNoFactor) {
  for (const double ratio :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_EQ(speed_change(ratio), "not a number");
}

}  // namespace
}  // namespace hone::model

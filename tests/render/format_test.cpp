#include "render/format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::render {
namespace {

TEST(Format, FiguresHaveThreeSignificantDigits) {
  EXPECT_EQ(figure(0.047123), "0.0471");
  EXPECT_EQ(figure(1.2345), "1.23");
  EXPECT_EQ(figure(9.996), "10.0");
  EXPECT_EQ(figure(45.67), "45.7");
  EXPECT_EQ(figure(99.96), "100");
  EXPECT_EQ(figure(1234), "1230");
  EXPECT_EQ(figure(-0.5), "-0.500");
  EXPECT_EQ(figure(0), "0");
  EXPECT_EQ(figure(2.5e9), "2.50e+09");
  EXPECT_EQ(figure(std::nan("")), "not a number");
  EXPECT_EQ(figure(std::numeric_limits<double>::infinity()), "not a number");
}

TEST(Format, UnitsFollowTheSize) {
  EXPECT_EQ(bandwidth(4.27e12), "4.27 TB/s");
  EXPECT_EQ(bandwidth(999.9e9), "1.00 TB/s");
  EXPECT_EQ(rate(727e12), "727 TFLOP/s");
  EXPECT_EQ(bytes(512), "512 B");
  EXPECT_EQ(bytes(1.5 * 1024), "1.50 KiB");
  EXPECT_EQ(bytes(128.0 * 1024 * 1024), "128 MiB");
  EXPECT_EQ(percent(1.26), "1.3 %");
  EXPECT_EQ(percent(97.44), "97.4 %");
  EXPECT_EQ(ceiling_value("launch_latency_ns", 2300), "2300 ns");
  EXPECT_EQ(ceiling_title("something_else"), "something_else");
}

TEST(Format, RatiosAreTimesSoSmallerIsFaster) {
  EXPECT_EQ(ratio_interval(0.8712, 0.862, 0.88), "0.871 [0.862, 0.880]");
  EXPECT_EQ(speedup(0.5), "2.00x");
  EXPECT_EQ(speedup(0), "not a number");
}

TEST(Format, DurationsReadAsAPersonSaysThem) {
  EXPECT_EQ(duration(0.85), "850 ms");
  EXPECT_EQ(duration(0.9999), "1 s");
  EXPECT_EQ(duration(12.4), "12 s");
  EXPECT_EQ(duration(185), "3 min 05 s");
  EXPECT_EQ(duration(7800), "2 h 10 min");
  EXPECT_EQ(duration(-1), "unknown");
  EXPECT_EQ(count_of(1, "row"), "1 row");
  EXPECT_EQ(count_of(3, "row"), "3 rows");
}

}  // namespace
}  // namespace hone::render

// What the ceilings' programs move beside a pass: its mix, scaled to what the buffers hold.
#include "device/ceiling_mix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::device {
namespace {

constexpr std::int64_t MiB = 1 << 20, half = 128 * MiB, fewest = 32 * MiB, unit = 64 << 10;

TEST(CeilingMix, KeepsTheMixAndTheSizeWhereItFits) {
  const CeilingMix mix = ceiling_mix(48 * MiB, 16 * MiB, fewest, half, unit);
  EXPECT_EQ(mix.copied, 16 * MiB);
  EXPECT_EQ(mix.alone, 32 * MiB);
  EXPECT_TRUE(mix.alone_is_read);
  EXPECT_EQ(mix.bytes_read(), 48 * MiB);
  EXPECT_EQ(mix.bytes_written(), 16 * MiB);
}

TEST(CeilingMix, ScalesToTheBuffersAndToWhatABandwidthNeeds) {
  for (const double scale : {1e-6, 1e-3, 1.0, 1e3, 1e9}) {
    for (const double written : {0.0, 0.1, 0.5, 1.0, 3.0, 1e6}) {
      const CeilingMix mix = ceiling_mix(scale * MiB, written * scale * MiB, fewest, half, unit);
      EXPECT_LE(mix.copied, half);
      EXPECT_LE(mix.alone, half);
      EXPECT_GE(2 * mix.copied + mix.alone, fewest - 2 * unit);
      EXPECT_NEAR(mix.bytes_written() / (mix.bytes_read() + mix.bytes_written()), written / (1 + written), 0.01);
    }
  }
}

TEST(CeilingMix, NothingIsNothingAndSmallBuffersGiveOneUnit) {
  EXPECT_EQ(ceiling_mix(0, 0, fewest, half, unit).copied, 0);
  EXPECT_EQ(ceiling_mix(-1, 0, fewest, half, unit).alone, 0);
  EXPECT_EQ(ceiling_mix(std::nan(""), std::numeric_limits<double>::infinity(), fewest, half, unit).copied, 0);
  const CeilingMix least = ceiling_mix(1, 0.999, fewest, unit, unit);
  EXPECT_GE(least.copied + least.alone, unit);
  EXPECT_LE(std::max(least.copied, least.alone), unit);
}

}  // namespace
}  // namespace hone::device

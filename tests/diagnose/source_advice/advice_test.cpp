// Advice from source facts alone. What it says of whole sources is in the corpora of tests/source.
#include "diagnose/source_advice/advice.hpp"

#include <gtest/gtest.h>

namespace hone::diagnose {
namespace {

TEST(SourceAdvice, ATileRoundedUpToAPowerOfTwoLeavesLanesIdle) {
  EXPECT_DOUBLE_EQ(masked_lane_waste_pct(4096, std::nullopt), 0);
  EXPECT_DOUBLE_EQ(masked_lane_waste_pct(3072, std::nullopt), 25);
  EXPECT_DOUBLE_EQ(masked_lane_waste_pct(3072, 1024), 0) << "three whole tiles";
  EXPECT_DOUBLE_EQ(masked_lane_waste_pct(1536, 1024), 25);
}

}  // namespace
}  // namespace hone::diagnose

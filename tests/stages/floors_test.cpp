// Ceilings are measured again before a time is called too fast; a kernel need only have times for that.
#include "stages/floors.hpp"

#include <gmock/gmock.h>

#include "tests/stages/stage_fixture.hpp"

namespace hone::stages {
namespace {

// A device whose ceilings were measured beside other load: each look finds half the floor of the one before.
class FloorsTest : public test::StepTest {
 protected:
  FloorsTest() {
    profile.headroom.push_back({"1024", "forward", 8, 2, 0.25, 1, 1, "copy", 0, 8});
    device.floor_ms = [](const std::string&, std::int64_t) { return 8.0; };
    device.floor_of_second_look = 0.5;
  }
  test::FakeTimed device;
  const repository::Cell cell{"1024", "forward"};
};

TEST_F(FloorsTest, ASecondLookLowersTheProfilesRow) {
  ASSERT_TRUE(look_again(device, profile, ports));
  EXPECT_DOUBLE_EQ(profile.headroom.front().floor_ms, 4);
  EXPECT_DOUBLE_EQ(profile.headroom.front().ratio, 0.5);
  EXPECT_DOUBLE_EQ(profile.headroom.front().share_of_ceiling_pct, 200);
}

TEST_F(FloorsTest, WhatIsNotBelowTheFloorCostsNoLook) {
  Floors floors(device, profile, ports);
  EXPECT_TRUE(floors.judge(cell, [](double) { return base::Result<model::Comparison>(model::Comparison{}); }));
  EXPECT_FALSE(floors.looked());
  EXPECT_THAT(device.kernel.events, ::testing::Not(::testing::Contains("ceilings again")));
}

TEST_F(FloorsTest, LooksAreFewAndTheFirstThatHelpsIsTheLast) {
  Floors floors(device, profile, ports);
  for (int i = 0; i < Floors::kMostLooks; ++i) EXPECT_TRUE(*floors.look_again());
  EXPECT_FALSE(*floors.look_again());
  EXPECT_DOUBLE_EQ(floors.at(cell).physics_floor_ms, 2 / 1.02);
}

}  // namespace
}  // namespace hone::stages

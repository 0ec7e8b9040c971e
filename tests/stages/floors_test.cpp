// Ceilings are measured again before a time is called too fast; a kernel need only have times for that.
#include "stages/floors.hpp"

#include <gtest/gtest.h>

#include "tests/stages/stage_fixture.hpp"

namespace hone::stages {
namespace {

// A device whose ceilings were measured beside other load: each look finds half the floor of the one before.
struct LoadedDevice final : repository::Timed {
  using Subject = base::Result<std::unique_ptr<measure::Subject>>;
  Subject subject(const model::Variant&, const repository::Cell&) override { return error; }
  Subject subject_with(const repository::Cell&, const model::Settings&) override { return error; }
  base::Result<repository::MemoryUse> memory(const model::Variant&, const std::string&) override { return error; }
  base::Clock& clock() override { return manual; }
  base::Result<model::Ceilings> ceilings() override { return model::Ceilings{}; }
  base::Result<model::Ceilings> ceilings_again() override { return floor_ms /= 2, model::Ceilings{}; }
  repository::PassFloor floor(const repository::Cell&) override { return {1, 1, floor_ms, floor_ms, "copy"}; }
  double floor_ms = 8;
  base::ManualClock manual;
  base::Error error{base::ErrorKind::internal, "no run", "one", "", ""};
};

class FloorsTest : public test::StageTest {
 protected:
  FloorsTest() { profile.headroom.push_back({"1024", "forward", 8, 2, 0.25, 1, 1, "copy", 0, 8}); }
  LoadedDevice device;
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
  EXPECT_DOUBLE_EQ(device.floor_ms, 8);
}

TEST_F(FloorsTest, LooksAreFewAndTheFirstThatHelpsIsTheLast) {
  Floors floors(device, profile, ports);
  for (int i = 0; i < Floors::kMostLooks; ++i) EXPECT_TRUE(*floors.look_again());
  EXPECT_FALSE(*floors.look_again());
  EXPECT_DOUBLE_EQ(floors.at(cell).physics_floor_ms, 2);
}

}  // namespace
}  // namespace hone::stages

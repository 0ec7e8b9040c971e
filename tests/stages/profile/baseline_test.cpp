// The measured tables of a profile, of a kernel that is only described and timed.
#include "stages/profile/baseline.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "measure/protocol.hpp"
#include "tests/stages/stage_fixture.hpp"

namespace hone::stages {
namespace {

class Baseline : public test::StepTest {
 protected:
  void measure() {
    profile.request.scope = "general";
    const Workspace folder = workspace();
    auto shares = measure_baseline(described, timed, folder, ports, profile);
    ASSERT_TRUE(shares) << base::describe(shares.error());
    add_headroom(described, timed, *shares, profile);
    ASSERT_TRUE(measure_noise_floor(described, timed, folder, ports, profile));
  }
  // A pass of one size takes the same time with all settings; its floor is at `share` of that.
  void set_floors(double share) {
    timed.time_ms = [](const std::string&, std::int64_t x, const model::Settings&) {
      return 1e-3 * static_cast<double>(x);
    };
    timed.floor_ms = [share](const std::string&, std::int64_t x) { return share * 1e-3 * static_cast<double>(x); };
  }
  test::FakeDescribed described;
  test::FakeTimed timed;
};

// A round of both subjects takes seconds: rows say how many samples they have, and nothing ends the profile.
TEST_F(Baseline, ASlowDeviceHasItsProfile) {
  timed.load = [](int) { return 5000.0; };
  timed.eager_factor = 20;
  measure();
  for (const model::BaselineRow& row : profile.baseline.rows) {
    if (row.metric != "speed") continue;
    EXPECT_GE(row.samples, measure::kFewestRounds) << row.mode;
    EXPECT_TRUE(row.provider != "eager" || row.samples == measure::kFewestRounds) << row.mode;
  }
  EXPECT_EQ(profile.baseline.noise_floor.size(), 9u);
}

TEST_F(Baseline, ABusyMachineHasAProfileThatSaysSo) {
  timed.load = [](int samples) { return samples % 3 == 0 || samples % 5 == 0 ? 3.5 : 1.0; };
  measure();
  EXPECT_THAT(profile.baseline.observations.warnings,
              ::testing::Contains(::testing::HasSubstr("samples were disturbed")));
}

// Memory at 45 to 120 % of the speed that the ceilings were measured at: shares from pairs hold, and the ceilings are not blamed.
TEST_F(Baseline, SharesArePairedWhereTheSpeedOfMemoryMoves) {
  set_floors(0.8);
  timed.ceiling_ms = 2;
  timed.load = [](int samples) { return 1 / (0.825 + 0.375 * std::sin(0.05 * samples)); };
  measure();
  for (const model::Headroom& row : profile.headroom) {
    EXPECT_NEAR(row.share_of_ceiling_pct, 80, 4) << row.mode << " " << row.x_value;
    EXPECT_NEAR(row.ratio, row.measured_ms / row.floor_ms, 1e-9);
    EXPECT_GE(row.paired.pairs, 3);
    EXPECT_LE(row.paired.low_pct, row.share_of_ceiling_pct);
    EXPECT_GE(row.paired.high_pct, row.share_of_ceiling_pct);
    EXPECT_LE(row.physics_floor_ms, 0.8 * 1e-3 * std::stod(row.x_value) * (row.mode == "full" ? 2 : 1) / 1.02 * 1.01);
  }
}

// A pass that is faster than the slow moment's ceilings allow is not too fast: the device was faster beside it.
TEST_F(Baseline, PhysicsFloorsFollowTheFastestThatTheCeilingsProgramsWere) {
  set_floors(1.2);  // by ceilings of a slow moment
  timed.ceiling_ms = 2;
  timed.load = [](int) { return 0.5; };  // everything is twice as fast now
  measure();
  for (const model::Headroom& row : profile.headroom) EXPECT_LT(row.physics_floor_ms, 1.3 * row.measured_ms);
}

}  // namespace
}  // namespace hone::stages

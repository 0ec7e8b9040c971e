// Stage 1 on a scripted device: what it does when its own numbers contradict each other.
#include "stages/profile/profile.hpp"

#include <gmock/gmock.h>

#include "tests/stages/stage_fixture.hpp"

namespace hone::stages {
namespace {

class ProfileStage : public test::StageTest {
 protected:
  base::Result<ProfileOutcome> run() {
    model::Request request;
    request.kernel = kernel.name;
    request.scope = "general";
    ProfileOptions options;
    options.autonomous = true;
    return stages::profile(session, session, session, checks, request, options, ports);
  }
  // A pass of one size takes the same time with all settings; its floor is at `share` of that.
  void set_floors(double share) {
    session.time_ms = [](const std::string&, std::int64_t x, const model::Settings&) {
      return 1e-3 * static_cast<double>(x);
    };
    session.floor_ms = [share](const std::string&, std::int64_t x) { return share * 1e-3 * static_cast<double>(x); };
  }
  std::vector<repository::PreflightCheck> checks;
};

TEST_F(ProfileStage, HoldsEveryRowAgainstItsFloor) {
  set_floors(0.8);
  auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().found;
  EXPECT_EQ(outcome->profile.headroom.size(), kernel.sizes.size() * kernel.modes.size());
  for (const model::Headroom& row : outcome->profile.headroom) EXPECT_NEAR(row.share_of_ceiling_pct, 80, 2);
  EXPECT_FALSE(happened("ceilings again"));
}

TEST_F(ProfileStage, APassFasterThanItsCeilingAllowsMakesItLookAtTheCeilingsAgain) {
  set_floors(1.2);
  session.floor_of_second_look = 0.75;  // the device is faster than it was: floors shrink
  auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().found;
  EXPECT_TRUE(happened("ceilings again"));
  ASSERT_FALSE(outcome->profile.headroom.empty());
  for (const model::Headroom& row : outcome->profile.headroom) EXPECT_NEAR(row.share_of_ceiling_pct, 90, 2);
  EXPECT_EQ(outcome->profile.device.ceilings.notes, std::vector<std::string>{"measured again"});
  for (const std::string& warning : outcome->profile.baseline.observations.warnings)
    EXPECT_EQ(warning.find("faster than the measured ceiling"), std::string::npos) << warning;
}

TEST_F(ProfileStage, AContradictionThatStaysIsSaid) {
  set_floors(1.2);
  auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().found;
  const auto& warnings = outcome->profile.baseline.observations.warnings;
  EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [](const std::string& warning) {
    return warning.find("faster than the measured ceiling allows") != std::string::npos;
  }));
}

// Builds and noise floors take longer than the first table may.
TEST_F(ProfileStage, TheTableIsShownBeforeAnythingElseIsBuilt) {
  ASSERT_TRUE(run());
  EXPECT_LT(index_of("baseline shown"), index_of("configuration"));
  EXPECT_TRUE(happened("configuration"));
}

TEST_F(ProfileStage, AMissingRequirementEndsItBeforeAnythingIsMeasured) {
  checks = {{"compiler", "none", "install g++", false, true}};
  auto outcome = run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, base::ErrorKind::preflight);
  EXPECT_NE(outcome.error().remedy.find("install g++"), std::string::npos);
  EXPECT_EQ(session.samples, 0);
  EXPECT_FALSE(files.exists("optimization/rms_norm/profile.json"));
}

}  // namespace
}  // namespace hone::stages

// The parameter sweep by itself: what a settings function may stand on.
#include "stages/optimize/sweep.hpp"

#include <gmock/gmock.h>

#include "tests/stages/stage_fixture.hpp"

namespace hone::test {
namespace {

using ::testing::HasSubstr;

class Sweep : public LabTest {
 protected:
  base::Result<stages::SweepOutcome> swept() {
    profile = profile_of(trial, trial, {});
    stages::Lab one = lab();
    return stages::sweep(one, trial.original(), {});
  }
  stages::SweepOutcome outcome() {
    auto result = swept();
    EXPECT_TRUE(result) << base::describe(result.error());
    return result ? *result : stages::SweepOutcome{};
  }
};

// Every settings of the function that are not the shipped ones have been in a final at that very size.
TEST_F(Sweep, TheSettingsFunctionStandsOnFinalsAlone) {
  const auto result = outcome();
  int proven = 0;
  for (const std::string pass : {"forward", "backward"}) {
    for (const std::string& x_value : trial.sizes()) {
      const model::Settings& chosen = result.settings.at(pass).at(std::stoll(x_value));
      if (chosen == trial.kernel.shipped(pass, std::stoll(x_value))) continue;
      const bool finalist = std::any_of(result.points.begin(), result.points.end(), [&](const model::SweepPoint& p) {
        return p.pass == pass && p.x_value == x_value && p.settings == chosen && p.finalist;
      });
      EXPECT_TRUE(finalist) << pass << " at " << x_value;
      ++proven;
    }
  }
  EXPECT_EQ(proven, 6);
}

// Where the settings of a range are not valid at a size between, the function takes others that it has, not a third.
TEST_F(Sweep, AHeldOutSizeWithOtherValidityAddsNoDistinctSettings) {
  trial.kernel.modes = {"forward"};
  trial.tunable.clear();
  trial.tunable.push_back({"K", "forward", "", "parameter-sweep", {0, 1, 2, 3}});
  trial.dead_knobs.clear();
  trial.held_out = {"1536"};
  trial.noise = 0.001;
  trial.kernel.shipped = [](const std::string&, std::int64_t) {
    model::Settings settings;
    settings["K"] = 0;
    return settings;
  };
  trial.floor_ms = [](const std::string&, std::int64_t) { return 0.1; };
  trial.valid = [](const std::string&, std::int64_t x, const model::Settings& s) {
    return x != 1536 || s.at("K") != 1;
  };
  trial.time_ms = [](const std::string&, std::int64_t x, const model::Settings& s) {
    static const std::vector<double> at_1024{1, 0.6, 0.9, 0.9}, at_2048{1, 0.95, 0.62, 0.6}, at_4096{1, 0.95, 0.6, 0.8};
    const std::vector<double>& times = x < 2048 ? at_1024 : x < 4096 ? at_2048 : at_4096;
    const auto k = s.find("K");
    EXPECT_NE(k, s.end()) << s.size();
    return k == s.end() ? 9 : times[static_cast<std::size_t>(k->second)];
  };
  options.largest_settings = 2, options.largest_search_share = 1;
  const auto swept = outcome();
  ASSERT_TRUE(swept.settings.count("forward"));
  const auto& function = swept.settings.at("forward");
  EXPECT_EQ(function.at(1024).at("K"), 1);
  EXPECT_EQ(function.at(1536).at("K"), 2) << "K=3 is best at 2048, but no settings of the function";
  EXPECT_EQ(function.at(4096).at("K"), 2);
}

TEST_F(Sweep, BrokenShippedSettingsAreAnError) {
  trial.compiles = [](const model::Settings& s) { return s.at("ROWS") != 1; };
  EXPECT_EQ(swept().error().kind, base::ErrorKind::preflight);
}

TEST_F(Sweep, AConfigurationThatDoesNotCompileIsDroppedAndCounted) {
  trial.compiles = [](const model::Settings& s) { return s.at("WIDTH") != 16; };
  const auto result = outcome();
  EXPECT_EQ(result.evaluations.distinct_binaries, 2 * 3 * 16);
  EXPECT_THAT(result.findings, ::testing::Contains(HasSubstr("do not compile")));
}

TEST_F(Sweep, BackwardTakesOverCoupledSettingsOfForward) {
  trial.coupled = {"WIDTH"};
  const auto result = outcome();
  for (const std::int64_t x : {1024, 2048, 4096})
    EXPECT_EQ(result.settings.at("forward").at(x).at("WIDTH"), result.settings.at("backward").at(x).at("WIDTH"));
}

}  // namespace
}  // namespace hone::test

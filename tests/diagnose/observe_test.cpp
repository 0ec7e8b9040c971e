// The observations under the baseline tables say what the rows say, and warn where the rows can not be trusted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.hpp"
#include "tests/diagnose/profiles.hpp"

namespace hone::diagnose {
namespace {

using test::add_ablations;
using test::add_pass;
using test::cpu_profile;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void add_row(model::Profile& profile, const std::string& x, const std::string& mode, double ms,
             const std::string& provider = "liger") {
  profile.baseline.rows.push_back({x, mode, provider, "speed", "ms", ms, ms, ms, 50, model::Source::recorded});
}

TEST(Observe, NamesTheSlowestPassAndWhyFromTrafficAndCeiling) {
  model::Profile profile = cpu_profile();
  add_pass(profile, "8192", "forward", 200e6, 100);
  add_pass(profile, "8192", "backward", 300e6, 50);
  add_pass(profile, "8192", "full", 500e6, 60);
  add_ablations(profile, "8192", "backward", 0.9, 0.4);
  const model::Observations observations = observe(profile);
  EXPECT_EQ(observations.slowest_mode, "backward") << "full is always the sum, so it says nothing";
  EXPECT_THAT(observations.slowest_mode_reason,
              HasSubstr("backward takes 60.0 ms, 3.00 x as long as forward (20.0 ms)"));
  EXPECT_THAT(observations.slowest_mode_reason,
              HasSubstr("it moves 1.50 x the bytes at least (300 MB against 200 MB) and reaches 50.0 % of its ceiling "
                        "where forward reaches 100.0 %"));
  EXPECT_THAT(observations.slowest_mode_reason,
              HasSubstr("without its arithmetic it takes 90.0 % of that, without its memory traffic 40.0 %"));
  EXPECT_EQ(observations.largest_x_value, "8192");
}

TEST(Observe, ProportionalTimesAreLinear) {
  model::Profile profile = cpu_profile();
  for (const int x : {1024, 2048, 4096, 8192}) add_pass(profile, std::to_string(x), "forward", x * 1e5, 90);
  const model::Observations observations = observe(profile);
  EXPECT_THAT(observations.scaling_trend,
              HasSubstr("linear: forward takes 8.00 x the time for 8.00 x the work from hidden_size=1024 to 8192"));
  EXPECT_THAT(observations.warnings, IsEmpty());
}

TEST(Observe, AFixedCostGivesASubLinearTrend) {
  model::Profile profile = cpu_profile();
  for (const int x : {1024, 2048, 4096, 8192}) add_row(profile, std::to_string(x), "forward", 2.0 + x / 1024.0, "hone");
  EXPECT_THAT(observe(profile).scaling_trend, HasSubstr("sub-linear"));
}

TEST(Observe, LeavingTheCacheIsAKneeAtItsPlace) {
  model::Profile profile = cpu_profile();
  add_pass(profile, "1024", "forward", 8e6, 300);
  add_pass(profile, "2048", "forward", 16e6, 300);
  add_pass(profile, "4096", "forward", 64e6, 95);
  const model::Observations observations = observe(profile);
  EXPECT_THAT(observations.scaling_trend, HasSubstr("knee between hidden_size=2048 and 4096"));
  EXPECT_THAT(observations.scaling_trend, HasSubstr("64.0 MB no longer fit the last-level cache of 33.6 MB"));
  EXPECT_THAT(observations.warnings,
              Contains(HasSubstr("fit the last-level cache, so this row says nothing of memory")));
}

// The recorded table of Liger's own benchmark, rms_norm backward on an H200: 0.15 to 0.20 ms while T grows eightfold.
TEST(Observe, ATimeThatDoesNotGrowWithItsSizeMeasuresTheHost) {
  model::Profile profile;
  profile.identity.repository = "liger";
  profile.baseline.x_name = "T";
  const double ms[] = {0.150560, 0.182672, 0.173776, 0.202784};
  for (int i = 0; i < 4; ++i) add_row(profile, std::to_string(1024 << i), "backward", ms[i]);
  const model::Observations observations = observe(profile);
  EXPECT_THAT(observations.scaling_trend, HasSubstr("no order in x"));
  EXPECT_THAT(observations.warnings, Contains(HasSubstr("measures the host")));
}

TEST(Observe, NamesForSizesGiveNoTrend) {
  model::Profile profile;
  profile.identity.repository = "liger";
  profile.baseline.x_name = "model_config";
  add_row(profile, "llama_3_8b", "forward", 0.032);
  add_row(profile, "deepseek_v3", "forward", 0.036);
  const model::Observations observations = observe(profile);
  EXPECT_THAT(observations.scaling_trend, HasSubstr("names without an order"));
  EXPECT_EQ(observations.largest_x_value, "deepseek_v3") << "the largest work, where names have no order";
}

TEST(Observe, WarnsOfTheHostOfNoiseAndOfDroppedSamples) {
  model::Profile profile = cpu_profile();
  add_pass(profile, "8192", "forward", 200e6, 90, 80);
  model::NoiseFloor floor;
  floor.x_value = "8192";
  floor.mode = "forward";
  floor.smallest_effect_pct = 7.5;
  floor.comparison.discarded = 3;
  floor.comparison.pairs = 20;
  floor.comparison.reason = "clock under 90 % of its median";
  profile.baseline.noise_floor.push_back(floor);
  const std::vector<std::string> warnings = observe(profile).warnings;
  EXPECT_THAT(warnings, Contains(HasSubstr("host-bound")));
  EXPECT_THAT(warnings, Contains(HasSubstr("identical code differs by up to 7.5 %")));
  EXPECT_THAT(
      warnings,
      Contains(HasSubstr("3 samples of forward at hidden_size=8192 were dropped (clock under 90 % of its median)")));
}

TEST(Observe, NothingMeasuredIsSaid) {
  const model::Observations observations = observe(model::Profile{});
  EXPECT_EQ(observations.slowest_mode, "");
  EXPECT_THAT(observations.warnings, Contains(HasSubstr("nothing was measured")));
}

}  // namespace
}  // namespace hone::diagnose

// The roofline stands on measured figures alone, and the stall bar never outgrows the whole.
#include "render/plots/roofline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/render/golden.hpp"
#include "tests/support/golden.hpp"

namespace hone::render {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

model::Profile profile() {
  model::Profile made;
  made.kernel = "rms_norm";
  made.device.name = "test device";
  made.device.ceilings.by_name = {{"copy_bytes_per_s", {4.2e12, 4.27e12, 4.3e12, 20}},
                                  {"fma_flops_per_s", {60e12, 60e12, 60e12, 20}}};
  made.baseline.x_name = "hidden_size";
  made.headroom = {{"4096", "forward", 0.063, 0.067, 1.06, 268e6, 537e6, "copy_bytes_per_s", 94},
                   {"4096", "backward", 0.094, 0.182, 1.94, 403e6, 1342e6, "copy_bytes_per_s", 52}};
  return made;
}

model::CounterSummary kernel() {
  model::CounterSummary made;
  made.name = "_rms_norm_backward_kernel";
  made.stalls = {{"long scoreboard", 54}, {"barrier", 13.3}, {"short scoreboard", 8.5}};
  return made;
}

TEST(Roofline, DrawsEachPassUnderTheMeasuredRoofs) {
  const std::string svg = roofline(profile());
  test::expect_golden(golden("roofline.svg"), svg);
  EXPECT_THAT(svg, HasSubstr("forward at hidden_size=4096: 8.01 TFLOP/s"));
  EXPECT_THAT(svg, HasSubstr("slope: copy bandwidth 4.27 TB/s"));
}

TEST(Roofline, WithoutARowOrABandwidthThereIsNone) {
  model::Profile made = profile();
  made.device.ceilings.by_name.erase("copy_bytes_per_s");
  EXPECT_EQ(roofline(made), "");
  made = profile();
  made.headroom.clear();
  EXPECT_EQ(roofline(made), "");
}

TEST(Roofline, FiguresThatAreNoneAreLeftOut) {
  model::Profile made = profile();
  made.headroom.push_back({"1", "forward", 0, 0, 0, 0, 0, "", 0});
  made.headroom.push_back({"2", "forward", 1, std::numeric_limits<double>::quiet_NaN(), 1, 1e6, 1e6, "", 0});
  made.headroom.push_back({"3", "forward", 1, 1, 1, 1e6, std::numeric_limits<double>::infinity(), "", 0});
  EXPECT_EQ(roofline(made), roofline(profile()));
}

TEST(Roofline, WithoutAFlatRoofTheSlopeStands) {
  model::Profile made = profile();
  made.device.ceilings.by_name.erase("fma_flops_per_s");
  EXPECT_THAT(roofline(made), HasSubstr("slope: copy bandwidth"));
  EXPECT_THAT(roofline(made), Not(HasSubstr("nan")));
}

TEST(StallBar, ShowsEachReasonWithItsShare) {
  const std::string svg = stall_bar(kernel());
  test::expect_golden(golden("stall_bar.svg"), svg);
  EXPECT_THAT(svg, HasSubstr("long scoreboard 54.0 %"));
}

TEST(StallBar, WithoutStallsThereIsNone) { EXPECT_EQ(stall_bar(model::CounterSummary{}), ""); }

TEST(ProfilePlots, AreTheRooflineAndTheStallsOfTheUsersOwnKernels) {
  model::Profile made = profile();
  made.counters.kernels = {kernel(), kernel()};
  made.counters.kernels[0].owner = "PyTorch";
  const std::vector<Plot> plots = profile_plots(made);
  ASSERT_EQ(plots.size(), 2u);
  EXPECT_EQ(plots[0].file_name, "roofline.svg");
  EXPECT_EQ(plots[1].file_name, "stalls_1.svg");
}

}  // namespace
}  // namespace hone::render

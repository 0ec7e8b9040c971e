// The knobs of a text, the settings in force as launches show them, and what a sweep may try.
#include "repository/python/knob_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hone::repository::python {
namespace {

namespace rewrite = source::rewrite;

class KnobSpaceTest : public testing::Test {
 protected:
  // A launch of each pass whose warps and stages can be set, and a backward pass whose programs can.
  static std::vector<rewrite::Finding> findings() {
    rewrite::Finding settings{rewrite::find_rewrite(kSettingsRewrite), {}, {}, ""};
    settings.sites = {{"_kernel", "forward", 10, rewrite::Pass::any, "launch"}};
    settings.knobs = {{"num_warps", {"4", "8", "32"}, "warps", true},
                      {"num_stages", {"2", "3"}, "stages", true},
                      {"BLOCK_SIZE", {"1024"}, "tile", true}};
    rewrite::Finding programs{rewrite::find_rewrite(kProgramsRewrite), {}, {}, ""};
    programs.sites = {{"_kernel", "backward", 20, rewrite::Pass::backward, "launch"}};
    programs.knobs = {{kProgramsKnob, {"4", "2"}, "programs", true}};
    return {settings, programs};
  }
  static KnobSpace space(bool pipelined, const std::string& scope = "general") {
    model::AuditedOp audited;
    audited.launches.resize(1);
    audited.launches[0].num_stages_live = pipelined ? model::Liveness::live : model::Liveness::dead;
    return KnobSpace(findings(), audited, {"forward", "backward"}, scope);
  }
  static std::vector<std::string> names(const KnobSpace& space) {
    std::vector<std::string> names;
    for (const Knob& knob : space.knobs()) names.push_back(knob.name + " " + knob.pass);
    return names;
  }
};

TEST_F(KnobSpaceTest, StagesAreAKnobOnlyWhereALoopIsPipelined) {
  EXPECT_EQ(names(space(false)),
            (std::vector<std::string>{"num_warps forward", "num_warps backward", "programs_per_sm backward"}));
  const auto live = names(space(true));
  EXPECT_EQ(std::count(live.begin(), live.end(), "num_stages forward"), 1);
}

TEST_F(KnobSpaceTest, AScopeLeavesTheOtherPassAlone) {
  EXPECT_EQ(names(space(false, "forward")), std::vector<std::string>{"num_warps forward"});
}

TEST_F(KnobSpaceTest, TheSettingsInForceAreThoseOfTheOriginalsLaunches) {
  KnobSpace knobs = space(true);
  LaunchedKernel launched;
  launched.grid = {264, 1, 1}, launched.num_warps = 8, launched.num_stages = 3;
  knobs.learn("backward", "4096", {launched}, 132);
  const model::Settings shipped{{"num_warps", 8}, {"num_stages", 3}, {kProgramsKnob, 2}};
  EXPECT_EQ(knobs.shipped("backward", "4096"), shipped);
  EXPECT_TRUE(knobs.is_shipped("backward", "4096", shipped));
  EXPECT_FALSE(knobs.is_shipped("backward", "8192", shipped)) << "not known there";
  EXPECT_TRUE(knobs.is_shipped_between("backward", 0, 8192, shipped));
  EXPECT_FALSE(knobs.is_shipped_between("backward", 5000, 8192, shipped)) << "no size between them is known";
  EXPECT_EQ(knobs.space("backward", "4096").front(), shipped);
}

TEST_F(KnobSpaceTest, WarpsThatARowCanNotFillAreNotTried) {
  const auto settings = space(false).space("forward", "512");
  EXPECT_EQ(settings, (std::vector<model::Settings>{{}, {{"num_warps", 4}}})) << "4 elements a thread at least";
  const auto wide = space(false).space("forward", "32768");
  EXPECT_EQ(wide, (std::vector<model::Settings>{{}, {{"num_warps", 8}}, {{"num_warps", 32}}})) << "128 at most";
}

TEST_F(KnobSpaceTest, ProgramsThatNeedTooMuchMemoryAreNotTried) {
  KnobSpace knobs = space(false);
  knobs.leave_out("backward", 4, 1.2);
  for (const model::Settings& settings : knobs.space("backward", "1024"))
    EXPECT_NE(settings.count(kProgramsKnob) ? settings.at(kProgramsKnob) : 0, 4);
  EXPECT_DOUBLE_EQ(knobs.left_out("backward").at(4), 1.2);
  EXPECT_TRUE(knobs.left_out("forward").empty());
}

}  // namespace
}  // namespace hone::repository::python

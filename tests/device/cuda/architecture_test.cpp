// Names of architectures, and what NVRTC is told to build for.
#include "device/cuda/architecture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::device::cuda {
namespace {

using ::testing::HasSubstr;

TEST(Architecture, IsNamedByComputeCapability) {
  EXPECT_EQ(architecture_name({7, 0}), "volta");
  EXPECT_EQ(architecture_name({7, 5}), "turing");
  EXPECT_EQ(architecture_name({8, 0}), "ampere");
  EXPECT_EQ(architecture_name({8, 6}), "ampere");
  EXPECT_EQ(architecture_name({8, 7}), "ampere");
  EXPECT_EQ(architecture_name({8, 9}), "ada");
  EXPECT_EQ(architecture_name({9, 0}), "hopper");
  EXPECT_EQ(architecture_name({10, 0}), "blackwell");
  EXPECT_EQ(architecture_name({10, 3}), "blackwell");
  EXPECT_EQ(architecture_name({12, 1}), "blackwell");
}

TEST(Architecture, ThatIsNotKnownIsNamedHonestly) {
  EXPECT_EQ(architecture_name({13, 0}), "newer than this version knows (13.0)");
  EXPECT_EQ(architecture_name({6, 1}), "older than CUDA 12 runs (6.1)");
}

TEST(CompileTarget, IsExactlyTheGpuWithItsOwnInstructions) {
  const std::vector<int> supported = {75, 80, 86, 89, 90, 100, 120};
  EXPECT_EQ(compile_target({8, 0}, supported).option, "sm_80");
  EXPECT_EQ(compile_target({8, 9}, supported).option, "sm_89");
  EXPECT_EQ(compile_target({9, 0}, supported).option, "sm_90a");
  EXPECT_EQ(compile_target({10, 0}, supported).option, "sm_100a");
  EXPECT_TRUE(compile_target({9, 0}, supported).native);
}

TEST(CompileTarget, OfAGpuNewerThanTheCompilerIsTextThatTheDriverTranslates) {
  const CompileTarget target = compile_target({13, 0}, {75, 80, 90, 120});
  EXPECT_EQ(target.option, "compute_120");
  EXPECT_FALSE(target.native);
  EXPECT_EQ(compile_target({10, 3}, {75, 80, 90, 100}).option, "compute_100");
}

TEST(CompileTarget, OfAGpuOlderThanTheCompilerIsNone) { EXPECT_EQ(compile_target({7, 0}, {75, 80}).option, ""); }

}  // namespace
}  // namespace hone::device::cuda

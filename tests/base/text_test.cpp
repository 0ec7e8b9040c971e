#include "base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Text, JoinIsTheInverseOfSplit) {
  for (const char* text : {"a,,b,", "", ",", "abc"}) EXPECT_EQ(join_text(split(text, ','), ","), text);
  EXPECT_EQ(join_text({}, ","), "");
}

TEST(Text, TrimTakesWhitespaceFromBothEndsOnly) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, StartsWith) {
  EXPECT_TRUE(starts_with("rms_norm", "rms"));
  EXPECT_TRUE(starts_with("rms", ""));
  EXPECT_FALSE(starts_with("rms", "rms_norm"));
}

TEST(Nearest, FindsWhatWasProbablyMeant) {
  const std::vector<std::string> kernels = {"swiglu", "geglu", "rms_norm", "layer_norm", "fused_add_rms_norm",
                                            "softmax"};
  EXPECT_EQ(nearest("rms_nrom", kernels).front(), "rms_norm");
  EXPECT_EQ(nearest("RMS_Norm", kernels).front(), "rms_norm");
  EXPECT_EQ(nearest("layernorm", kernels).front(), "layer_norm");
  EXPECT_THAT(nearest("norm", kernels), ElementsAre("rms_norm", "layer_norm", "fused_add_rms_norm"));
  EXPECT_THAT(nearest("norm", kernels, 1), ElementsAre("rms_norm"));
}

TEST(Nearest, SaysNothingWhereNothingIsNear) {
  EXPECT_THAT(nearest("convolution", {"swiglu", "dyt"}), IsEmpty());
  EXPECT_THAT(nearest("", {"swiglu"}), IsEmpty());
  EXPECT_THAT(nearest("swiglu", {}), IsEmpty());
}

}  // namespace
}  // namespace hone::base

// Flags of optimize and finalize against the profile that they work on.
#include <gmock/gmock.h>

#include "cli/stage_context.hpp"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

class StageFlags : public ::testing::Test {
 protected:
  StageFlags() {
    profiled.kernel = "rms_norm", profiled.dtype = "fp32", profiled.sizes = {"512", "1024"};
    profiled.options = {{"casting_mode", "llama"}};
    asked = profiled;
  }
  base::Result<void> checked(const std::vector<std::string>& words) {
    auto typed = parse(words);
    EXPECT_TRUE(typed);
    return check_flags(*typed, asked, profiled);
  }
  model::Request asked, profiled;
};

TEST_F(StageFlags, WhatIsNotTypedIsTheProfiles) {
  asked = {};
  EXPECT_TRUE(checked({"optimize", "rms_norm"}));
}

TEST_F(StageFlags, TheSameWordsAgainAgree) {
  asked.sizes = {"1024", "512"};
  EXPECT_TRUE(
      checked({"optimize", "rms_norm", "--dtype", "fp32", "--sizes", "1024,512", "--option", "casting_mode=llama"}));
}

TEST_F(StageFlags, EachThatDiffersIsAnErrorOfUse) {
  const auto refused = [&](const std::vector<std::string>& flag, const std::string& found) {
    std::vector<std::string> words = {"optimize", "rms_norm"};
    words.insert(words.end(), flag.begin(), flag.end());
    const auto result = checked(words);
    asked = profiled;
    ASSERT_FALSE(result) << found;
    EXPECT_EQ(result.error().kind, base::ErrorKind::usage);
    EXPECT_THAT(result.error().found, HasSubstr(found));
    EXPECT_THAT(result.error().remedy, HasSubstr("hone profile rms_norm"));
  };
  asked.dtype = "bf16";
  refused({"--dtype", "bf16"}, "--dtype bf16");
  asked.sizes = {"64"};
  refused({"--sizes", "64"}, "--sizes 64");
  asked.scope = "backward";
  refused({"--scope", "backward"}, "--scope backward");
  asked.goal = "memory";
  refused({"--goal", "memory"}, "--goal memory");
  asked.seed = 7;
  refused({"--seed", "7"}, "--seed 7");
  asked.target_gpu = "hopper";
  refused({"--target-gpu", "hopper"}, "--target-gpu hopper");
  asked.options = {{"casting_mode", "gemma"}};
  refused({"--option", "casting_mode=gemma"}, "casting_mode=gemma");
  asked.options = {{"offset", "1"}};
  refused({"--option", "offset=1"}, "offset=1");
}

TEST_F(StageFlags, WhatAConfigurationFileSetsIsNotAskedFor) {
  auto typed = parse({"optimize", "rms_norm"});
  ASSERT_TRUE(typed);
  typed->defaults = {{"--dtype", {"bf16"}}, {"--sizes", {"64"}}};
  asked.dtype = "bf16", asked.sizes = {"64"};
  EXPECT_TRUE(check_flags(*typed, asked, profiled));
}

TEST_F(StageFlags, OneCommandForAllStagesHasTakenTheProfileItself) {
  asked.dtype = "bf16";
  EXPECT_TRUE(checked({"run", "rms_norm", "--dtype", "bf16"}));
}

}  // namespace
}  // namespace hone::cli

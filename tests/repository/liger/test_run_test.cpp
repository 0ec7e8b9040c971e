// Choosing and judging an operation's own tests.
#include "repository/liger/test_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hone::repository::liger {
namespace {

CollectedTest collected(const std::string& id, const std::string& function, const std::string& dtype,
                        const std::string& size) {
  CollectedTest test{id, function, {{"hd", size}}};
  if (!dtype.empty()) test.parameters["dtype"] = dtype;
  return test;
}

TestResults results(std::vector<TestOutcome> outcomes) {
  TestResults all;
  all.outcomes = std::move(outcomes);
  return all;
}

TEST(ChooseTests, SmokeTakesFloat32AndSmallSizesByValueNotByName) {
  // The id says nothing of the dtype: "dtype0".
  const std::vector<CollectedTest> all = {collected("t[dtype0-large]", "t", "torch.float32", "4096"),
                                          collected("t[dtype0-small]", "t", "torch.float32", "123"),
                                          collected("t[dtype1-tiny]", "t", "torch.bfloat16", "2")};
  const auto chosen = choose_tests(all, GateLevel::smoke);
  EXPECT_EQ(chosen.front(), "t[dtype0-small]");
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), "t[dtype1-tiny]"), 0);
}

TEST(ChooseTests, SmokeTakesSomethingOfEveryFunctionAndNoneForSeveralDevices) {
  const std::vector<CollectedTest> all = {collected("a[1]", "test_a", "", "1"),
                                          collected("b[1]", "test_b", "torch.bfloat16", "1"),
                                          collected("d[1]", "test_dtensor_rms_norm", "torch.float32", "1")};
  const auto chosen = choose_tests(all, GateLevel::smoke);
  EXPECT_EQ(chosen, (std::vector<std::string>{"a[1]", "b[1]"}));
}

TEST(ChooseTests, FullTakesAll) {
  EXPECT_EQ(
      choose_tests({collected("a", "a", "", "1"), collected("d", "test_dtensor", "", "1")}, GateLevel::full).size(),
      2u);
}

TEST(JudgeTests, WhatPassedOnTheOriginalMustPass) {
  const auto gate = judge_tests(results({{"a", "passed", 1, ""}, {"b", "passed", 1, ""}}),
                                results({{"a", "passed", 1, ""}, {"b", "failed", 1, "E assert"}}));
  EXPECT_FALSE(gate.ok());
  EXPECT_EQ(gate.failed, 1);
  EXPECT_NE(gate.first_failure.find("b failed (E assert)"), std::string::npos) << gate.first_failure;
}

TEST(JudgeTests, ATestThatDisappearsFails) {
  const auto gate =
      judge_tests(results({{"a", "passed", 1, ""}, {"b", "passed", 1, ""}}), results({{"a", "passed", 1, ""}}));
  EXPECT_FALSE(gate.ok());
  EXPECT_NE(gate.first_failure.find("b was not run"), std::string::npos);
}

TEST(JudgeTests, ATimeoutOfWhatPassedFails) {
  EXPECT_FALSE(judge_tests(results({{"a", "passed", 1, ""}}), results({{"a", "timed out", 20, ""}})).ok());
}

TEST(JudgeTests, WhatFailsOnBothIsNamedAndDoesNotCount) {
  const auto gate = judge_tests(results({{"a", "passed", 1, ""}, {"dtensor", "failed", 1, ""}}),
                                results({{"a", "passed", 1, ""}, {"dtensor", "failed", 1, ""}}));
  EXPECT_TRUE(gate.ok());
  EXPECT_NE(gate.detail.find("1 fail on the original too"), std::string::npos) << gate.detail;
}

TEST(JudgeTests, NothingPassedIsNoSuccess) {
  EXPECT_FALSE(judge_tests(results({}), results({})).ok());
  EXPECT_FALSE(judge_tests(results({{"a", "skipped", 0, ""}}), results({{"a", "skipped", 0, ""}})).ok());
}

class RunTests : public testing::Test {
 protected:
  TestRun run() {
    return {"python3", "/s/hone_tests.py",        "/checkout",      "/overlay", "test/transformers/test_x.py",
            "cpu",     {{"src/x.py", "x = 1\n"}}, GateLevel::smoke, {},         {}};
  }
  base::ScriptedProcesses processes;
};

TEST_F(RunTests, CollectsChoosesAndReads) {
  processes.dialogues.push_back(
      {R"({"collected":[{"id":"a","function":"t","parameters":{"dtype":"torch.float32"},"marks":[]}]})",
       R"({"results":[{"id":"a","outcome":"passed","seconds":0.5,"message":""}],"package":"/overlay/liger_kernel/__init__.py"})"});
  auto ran = run_tests(processes, run());
  ASSERT_TRUE(ran) << ran.error().found;
  EXPECT_EQ(ran->count("passed"), 1);
}

TEST_F(RunTests, AnotherPackageThanTheOverlayIsAnError) {
  processes.dialogues.push_back(
      {R"({"collected":[{"id":"a","function":"t","parameters":{},"marks":[]}]})",
       R"({"results":[{"id":"a","outcome":"passed","seconds":0.5,"message":""}],"package":"/checkout/src/liger_kernel/__init__.py"})"});
  auto ran = run_tests(processes, run());
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().found.find("/checkout/src"), std::string::npos);
}

TEST_F(RunTests, ACrashAndNoCollectionAreErrors) {
  processes.dialogues.push_back({});
  EXPECT_FALSE(run_tests(processes, run()));
  processes.dialogues.push_back({R"({"error":"pytest collected nothing: exit status 4"})"});
  auto none = run_tests(processes, run());
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().found.find("collected nothing"), std::string::npos);
}

}  // namespace
}  // namespace hone::repository::liger

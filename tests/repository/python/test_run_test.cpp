// Choosing and judging an operation's own tests.
#include "repository/python/test_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hone::repository::python {
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

TEST(ChooseTests, FullTakesAllAndThoseOfSeveralDevicesByThemselves) {
  const std::vector<CollectedTest> all = {collected("d", "test_dtensor", "", "1"), collected("a", "a", "", "1")};
  EXPECT_EQ(choose_tests(all, GateLevel::full), (std::vector<std::string>{"a"}));
  EXPECT_EQ(choose_tests(all, GateLevel::full, Devices::several), (std::vector<std::string>{"d"}));
}

TEST(JudgeTests, WhatIsExpectedToFailIsNamedAndNeedNotRunAgain) {
  const auto gate = judge_tests(results({{"a", "passed", 1, ""}, {"d", "expected failure", 9, ""}}),
                                results({{"a", "passed", 1, ""}}));
  EXPECT_TRUE(gate.ok());
  EXPECT_NE(gate.detail.find("1 are expected to fail on the original"), std::string::npos) << gate.detail;
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
    TestRun run;
    run.root = "/tree", run.overlay = "/overlay";
    run.import_root = "src", run.package = "kernels";
    run.test_file = "test/transformers/test_x.py", run.device = "cpu";
    run.changes = {{"src/x.py", "x = 1\n"}};
    return run;
  }
  std::string collected(const std::vector<std::string>& ids) {
    std::string text;
    for (const std::string& id : ids)
      text += (text.empty() ? "" : ",") + (R"({"id":")" + id + R"(","function":"t","parameters":{},"marks":[]})");
    return R"({"collected":[)" + text + "]}";
  }
  std::string passed(const std::string& id) {
    return R"({"results":[{"id":")" + id +
           R"(","outcome":"passed","seconds":0.5,"message":""}],"package":"/overlay/kernels/__init__.py"})";
  }
  base::ScriptedProcesses processes;
  TestServers servers{processes, "python3", "/s/hone_tests.py"};
};

TEST_F(RunTests, CollectsChoosesAndReads) {
  processes.dialogues.push_back(
      {R"({"collected":[{"id":"a","function":"t","parameters":{"dtype":"torch.float32"},"marks":[]}]})",
       R"({"results":[{"id":"a","outcome":"passed","seconds":0.5,"message":""}],"package":"/overlay/kernels/__init__.py"})"});
  auto ran = servers.run(run());
  ASSERT_TRUE(ran) << ran.error().found;
  EXPECT_EQ(ran->count("passed"), 1);
}

TEST_F(RunTests, AnotherPackageThanTheOverlayIsAnError) {
  processes.dialogues.push_back(
      {R"({"collected":[{"id":"a","function":"t","parameters":{},"marks":[]}]})",
       R"({"results":[{"id":"a","outcome":"passed","seconds":0.5,"message":""}],"package":"/tree/src/kernels/__init__.py"})"});
  auto ran = servers.run(run());
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().found.find("/tree/src"), std::string::npos);
}

TEST_F(RunTests, ACrashAndNoCollectionAreErrors) {
  processes.dialogues.push_back({});
  EXPECT_FALSE(servers.run(run()));
  processes.dialogues.push_back({R"({"error":"pytest collected nothing: exit status 4"})"});
  auto none = servers.run(run());
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().found.find("collected nothing"), std::string::npos);
}

TEST_F(RunTests, OneProcessAnswersRunAfterRun) {
  processes.dialogues.push_back({collected({"a"}), passed("a"), collected({"b"}), passed("b")});
  ASSERT_TRUE(servers.run(run()));
  auto second = servers.run(run());
  ASSERT_TRUE(second) << second.error().found;
  EXPECT_EQ(second->outcome_of("b"), "passed");
  EXPECT_EQ(second->outcome_of("a"), "");
  ASSERT_EQ(processes.commands.size(), 1u);
  EXPECT_EQ(processes.commands.front().arguments.back(), "cpu");
}

TEST_F(RunTests, AProcessThatFailedIsNotUsedAgain) {
  processes.dialogues.push_back({R"({"error":"ended by signal 11"})", collected({"a"}), passed("a")});
  processes.dialogues.push_back({collected({"b"}), passed("b")});
  auto crashed = servers.run(run());
  ASSERT_FALSE(crashed);
  EXPECT_NE(crashed.error().found.find("signal 11"), std::string::npos) << crashed.error().found;
  auto after = servers.run(run());
  ASSERT_TRUE(after) << after.error().found;
  EXPECT_EQ(processes.commands.size(), 2u);
}

TEST(Joined, KeepsTheOutcomesOfEveryShareOrTheFirstError) {
  TestResults one = results({{"a", "passed", 1, ""}}), two = results({{"b", "failed", 1, "E"}});
  auto both = joined({one, two});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->outcomes.size(), 2u);
  EXPECT_FALSE(joined({one, base::Error{base::ErrorKind::gate, "", "it ended", "", ""}}));
}

}  // namespace
}  // namespace hone::repository::python

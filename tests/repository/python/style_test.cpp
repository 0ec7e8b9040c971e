// The style of an installed text: clean, fixed once, still wrong, or not checked.
#include "repository/python/style.hpp"

#include <gtest/gtest.h>

#include "tests/repository/python/sample_operator.hpp"

namespace hone::repository::python {
namespace {

class StyleTest : public testing::Test {
 protected:
  void answers(const std::vector<int>& statuses) {
    processes.programs["ruff"] = "/bin/ruff";
    for (const int status : statuses) {
      base::Outcome outcome;
      outcome.exit_status = status, outcome.output = status == 0 ? "" : "E501 line too long";
      processes.answers.push_back(outcome);
    }
  }
  base::Result<Styled> check() { return styled(context, source, "x=1\n"); }

  base::MemoryFiles files;
  base::ScriptedProcesses processes;
  base::ManualClock clock;
  Context context{files, processes, clock, "/scratch"};
  OperatorSource source = scale_source();
};

TEST_F(StyleTest, WithoutRuffNothingIsCheckedAndThatIsSaid) {
  auto result = check();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "x=1\n");
  EXPECT_EQ(result->checks.passed + result->checks.failed, 0);
  EXPECT_NE(result->checks.detail.find("pip install ruff"), std::string::npos);
}

TEST_F(StyleTest, ACleanTextStaysAsItIs) {
  source.style_configuration = "pyproject.toml";
  answers({0, 0});
  auto result = check();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->checks.passed, 2);
  ASSERT_EQ(processes.commands.size(), 2u);
  const auto& words = processes.commands.front().arguments;
  EXPECT_EQ(words.back(), "/scratch/style/scale.py");
  EXPECT_EQ(words[words.size() - 2], "/tree/pyproject.toml");
}

TEST_F(StyleTest, WhatStaysWrongAfterOneFixIsAFailure) {
  answers({1, 0, 0, 0, 1, 0});
  auto result = check();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->checks.failed, 1);
  EXPECT_NE(result->checks.detail.find("E501"), std::string::npos);
}

}  // namespace
}  // namespace hone::repository::python

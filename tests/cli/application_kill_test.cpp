// SIGKILL at random instants of a full run of the built program: the short form of './dev bench kill'.
#include <gtest/gtest.h>

#include "base/process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::cli {
namespace {

TEST(Kill, LeavesEverythingWholeAndTheNextRunGoesOn) {
  const test::TemporaryFolder folder;
  const std::string build = HONE_BINARY_DIR;
  base::Command command;
  command.arguments = {build + "/bench/kill", "5",      "--kernel",     "relu_squared", "--folder",
                       folder / "campaign",   "--hone", build + "/hone"};
  command.deadline_ms = 1'200'000;
  base::SystemProcesses processes;
  const auto outcome = processes.run(command);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_status, 0) << outcome->output << outcome->error;
  EXPECT_NE(outcome->output.find("| all | 5 |"), std::string::npos) << outcome->output;
}

}  // namespace
}  // namespace hone::cli

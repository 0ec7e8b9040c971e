// The built program with bad input: one screen that says what to do, the exit code by contract, and nothing left behind.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/process.hpp"

namespace hone::cli {
namespace {

class BadInput : public testing::Test {
 protected:
  BadInput() {
    char name[] = "/tmp/hone-bad-input-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~BadInput() override { (void)files_.remove_recursively(folder_).ok(); }

  base::Outcome run(std::vector<std::string> words, std::map<std::string, std::string> environment = {}) {
    base::Command command;
    command.arguments = {std::string(HONE_BINARY_DIR) + "/hone"};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.environment = std::move(environment);
    command.environment["HONE_SETTINGS_DIR"] = folder_ + "/settings";
    command.deadline_ms = 120'000;
    auto outcome = processes_.run(command);
    EXPECT_TRUE(outcome.ok());
    return outcome ? *outcome : base::Outcome{};
  }

  // The error names what was found and what to do, within one screen.
  static void expect_refused(const base::Outcome& outcome, int code, const std::string& found) {
    EXPECT_EQ(outcome.exit_status, code) << outcome.error;
    EXPECT_NE(outcome.error.find(found), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("to do"), std::string::npos) << outcome.error;
    EXPECT_LE(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 24);
    EXPECT_TRUE(outcome.output.empty()) << outcome.output;
  }

  base::SystemFiles files_;
  base::SystemProcesses processes_;
  std::string folder_;
};

TEST_F(BadInput, AnUnknownKernelIsAnsweredWithTheNearest) {
  for (const char* command : {"profile", "optimize", "finalize", "run"}) {
    const base::Outcome outcome = run({command, "rms_nrom", "--workspace", folder_ + "/w"});
    expect_refused(outcome, 2, "'rms_nrom'");
    EXPECT_NE(outcome.error.find("rms_norm"), std::string::npos) << command;
  }
  EXPECT_FALSE(files_.exists(folder_ + "/w"));
}

TEST_F(BadInput, AbsurdSizesAreRefusedBeforeAnythingIsMade) {
  for (const char* size : {"0", "-4", "4k", "99999999999", "99999999999999999999999"})
    EXPECT_EQ(run({"profile", "rms_norm", std::string("--sizes=") + size, "--workspace", folder_ + "/w"}).exit_status, 2) << size;
  EXPECT_FALSE(files_.exists(folder_ + "/w"));
}

TEST_F(BadInput, UnknownFlagValuesAndOptionsAreUsageErrors) {
  expect_refused(run({"profile", "rms_norm", "--dtype", "int8"}), 2, "'int8'");
  expect_refused(run({"profile", "rms_norm", "--device", "tpu"}), 2, "'tpu'");
  expect_refused(run({"profile", "rms_norm", "--option", "casting_mode=lama", "--workspace", folder_ + "/w"}), 2, "lama");
  expect_refused(run({"bench", "rms_norm", "--provider", "cublas"}), 2, "'cublas'");
}

TEST_F(BadInput, AMissingCompilerIsAPreflightErrorWithItsRemedy) {
  const base::Outcome outcome = run({"profile", "rms_norm", "--quick", "--workspace", folder_ + "/w"}, {{"HONE_CXX", folder_ + "/no-compiler"}});
  expect_refused(outcome, 3, "kernel compiler");
  EXPECT_NE(outcome.error.find("apt-get install g++"), std::string::npos) << outcome.error;
  EXPECT_FALSE(files_.exists(folder_ + "/w"));
}

TEST_F(BadInput, AWorkspaceBelowAFileCanNotBeMade) {
  ASSERT_TRUE(files_.write_atomically(folder_ + "/file", "text").ok());
  expect_refused(run({"profile", "rms_norm", "--quick", "--workspace", folder_ + "/file"}), 3, "directory");
}

TEST_F(BadInput, AStageWithoutItsInputsNamesTheCommandThatMakesThem) {
  expect_refused(run({"optimize", "rms_norm", "--workspace", folder_ + "/w"}), 3, "profile");
}

TEST_F(BadInput, ATruncatedProfileIsRefused) {
  ASSERT_TRUE(files_.write_atomically(folder_ + "/w/rms_norm/profile.json", "{\"schema\": \"hone.profile/1\", \"kernel\"").ok());
  EXPECT_EQ(run({"optimize", "rms_norm", "--workspace", folder_ + "/w"}).exit_status, 3);
}

TEST_F(BadInput, WithJsonTheErrorIsADocumentToo) {
  const base::Outcome outcome = run({"profile", "rms_nrom", "--json"});
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_NE(outcome.output.find("\"hone.error/1\""), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace hone::cli

// Programs run to their end or to their deadline, and leave neither process nor descriptor behind.
#include "base/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::base {
namespace {

using ::testing::HasSubstr;

Command shell(const std::string& script) {
  Command command;
  command.arguments = {"sh", "-c", script};
  return command;
}

Outcome outcome_of(const Command& command) {
  SystemProcesses processes;
  auto outcome = processes.run(command);
  EXPECT_TRUE(outcome.ok()) << describe(outcome.error());
  return outcome.ok() ? *outcome : Outcome{};
}

// True once the process runs no more: gone, or a zombie that only waits for its new parent.
bool is_gone(pid_t pid) {
  SystemFiles files;
  for (int i = 0; i < 500; ++i) {
    const auto status = files.read("/proc/" + std::to_string(pid) + "/stat");
    if (!status || status->find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST(Processes, KeepsBothStreamsAndTheStatusApart) {
  const Outcome outcome = outcome_of(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(outcome.exit_status, 7);
  EXPECT_EQ(outcome.output, "out\n");
  EXPECT_EQ(outcome.error, "err\n");
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_FALSE(outcome.output_cut);
  EXPECT_GT(outcome.wall_ns, 0);
}

TEST(Processes, ASignalIsReportedAs128PlusItsNumber) {
  EXPECT_EQ(outcome_of(shell("kill -TERM $$")).exit_status, 128 + SIGTERM);
}

TEST(Processes, ArgumentsReachTheProgramUnchanged) {
  Command command;
  command.arguments = {"printf", "%s|", "a b", "$HOME", "", "'\""};
  EXPECT_EQ(outcome_of(command).output, "a b|$HOME||'\"|");
}

TEST(Processes, TheFolderAndTheEnvironmentAreTheProgramsOwn) {
  test::TemporaryFolder folder;
  ::setenv("HONE_TEST_REPLACED", "old", 1);
  ::setenv("HONE_TEST_INHERITED", "kept", 1);
  Command command = shell("pwd -P; echo $HONE_TEST_REPLACED $HONE_TEST_INHERITED");
  command.directory = folder.path();
  command.environment["HONE_TEST_REPLACED"] = "new";
  EXPECT_EQ(outcome_of(command).output, std::filesystem::canonical(folder.path()).string() + "\nnew kept\n");
  EXPECT_STREQ(std::getenv("HONE_TEST_REPLACED"), "old");
}

TEST(Processes, MegabytesOfInputAndOutputPassAtTheSameTime) {
  Command command;
  command.arguments = {"cat"};
  for (int i = 0; i < 500'000; ++i) command.input += std::to_string(i) + "\n";
  const Outcome outcome = outcome_of(command);
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_TRUE(outcome.output == command.input);
}

TEST(Processes, AProgramThatDoesNotReadItsInputIsNoFault) {
  Command command = shell("exec <&-; exit 3");
  command.input = std::string(4 << 20, 'x');
  EXPECT_EQ(outcome_of(command).exit_status, 3);
}

TEST(Processes, WithoutInputStandardInputIsEmptyAndNotTheTerminal) {
  EXPECT_EQ(outcome_of(shell("cat; echo end")).output, "end\n");
}

TEST(Processes, OutputPastTheLimitIsDroppedWithoutBlockingTheProgram) {
  Command command = shell("head -c 3000000 /dev/zero; echo done >&2");
  command.output_limit_bytes = 1000;
  const Outcome outcome = outcome_of(command);
  EXPECT_EQ(outcome.output.size(), 1000u);
  EXPECT_TRUE(outcome.output_cut);
  EXPECT_EQ(outcome.error, "done\n");
  EXPECT_EQ(outcome.exit_status, 0);
}

TEST(Processes, OutputOfExactlyTheLimitIsNotCut) {
  Command command = shell("printf 12345");
  command.output_limit_bytes = 5;
  const Outcome outcome = outcome_of(command);
  EXPECT_EQ(outcome.output, "12345");
  EXPECT_FALSE(outcome.output_cut);
}

TEST(Processes, PastTheDeadlineTheWholeGroupIsKilledAndWhatWasSaidIsKept) {
  Command command = shell("sleep 600 & echo $!; trap '' TERM; wait; sleep 600");
  command.deadline_ms = 300;
  const Outcome outcome = outcome_of(command);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_status, 128 + SIGKILL);
  ASSERT_FALSE(outcome.output.empty());
  EXPECT_TRUE(is_gone(std::stoi(outcome.output)));
}

TEST(Processes, AFloodOfOutputDoesNotOutrunTheDeadline) {
  Command command = shell("yes");
  command.deadline_ms = 200;
  command.output_limit_bytes = 100;
  const Outcome outcome = outcome_of(command);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_TRUE(outcome.output_cut);
}

TEST(Processes, WhatAProgramLeavesInTheBackgroundDiesWithIt) {
  const Outcome outcome = outcome_of(shell("sleep 600 & echo $!"));
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_FALSE(outcome.timed_out);
  ASSERT_FALSE(outcome.output.empty());
  EXPECT_TRUE(is_gone(std::stoi(outcome.output)));
}

TEST(Processes, AProgramThatClosesItsStreamsIsStillWaitedFor) {
  const Outcome outcome = outcome_of(shell("exec >&- 2>&-; sleep 0.2; exit 9"));
  EXPECT_EQ(outcome.exit_status, 9);
}

TEST(Processes, AMissingProgramIsAnErrorThatNamesIt) {
  SystemProcesses processes;
  Command command;
  command.arguments = {"hone-no-such-program"};
  const auto outcome = processes.run(command);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::preflight);
  EXPECT_THAT(describe(outcome.error()), HasSubstr("hone-no-such-program"));
  EXPECT_THAT(outcome.error().remedy, HasSubstr("PATH"));
}

TEST(Processes, AFileThatIsNoProgramAndAMissingFolderAreErrors) {
  test::TemporaryFolder folder;
  SystemFiles files;
  ASSERT_TRUE(files.write_atomically(folder / "text", "no program").ok());
  SystemProcesses processes;
  Command command;
  command.arguments = {folder / "text"};
  const auto refused = processes.run(command);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().where, folder / "text");
  EXPECT_EQ(refused.error().found, "Permission denied");

  Command elsewhere = shell("true");
  elsewhere.directory = folder / "missing";
  const auto nowhere = processes.run(elsewhere);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().where, folder / "missing");
  EXPECT_FALSE(processes.run(Command{}).ok());
}

TEST(Processes, NoDescriptorOfOursReachesTheProgram) {
  const int own = ::dup(1);  // no close-on-exec flag, as a library's descriptor may be
  ASSERT_GE(own, 3);
  const Outcome outcome = outcome_of(shell("ls -1 /proc/self/fd | wc -l"));
  ::close(own);
  EXPECT_EQ(std::stoi(outcome.output), 4) << "the three standard streams and the folder that ls reads";
}

TEST(Processes, ManyThreadsRunProgramsAndNothingIsLeftOpen) {
  outcome_of(shell("true"));
  const std::size_t before = open_descriptors();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (int i = 0; i < 10; ++i) {
        Command command = shell("cat; exit " + std::to_string(thread));
        command.input = std::to_string(thread * 100 + i);
        const Outcome outcome = outcome_of(command);
        EXPECT_EQ(outcome.output, command.input);
        EXPECT_EQ(outcome.exit_status, thread);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child was left unreaped";
}

TEST(Processes, AStopRequestKillsTheProgramAndIsAnInterruption) {
  std::atomic<bool> stop{false};
  SystemProcesses processes(&stop);
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  const auto outcome = processes.run(shell("sleep 600"));
  user.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::interrupted);
}

TEST(Processes, AProgramDiesWithTheOneThatRunsIt) {
  test::TemporaryFolder folder;
  const std::string mark = folder / "pid";
  const pid_t child = ::fork();
  if (child == 0) {
    SystemProcesses processes;
    (void)processes.run(shell("echo $$ > " + mark + ".new; mv " + mark + ".new " + mark + "; exec sleep 600"));
    ::_exit(0);
  }
  SystemFiles files;
  for (int i = 0; i < 500 && !files.exists(mark); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(files.exists(mark));
  const pid_t program = std::stoi(*files.read(mark));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_gone(program));
}

TEST(Processes, FindGivesTheAbsolutePathOfAProgram) {
  SystemProcesses processes;
  const auto found = processes.find("sh");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->front(), '/');
  EXPECT_EQ(processes.find(*found), found);
  EXPECT_FALSE(processes.find("hone-no-such-program").has_value());
  EXPECT_FALSE(processes.find("").has_value());
  EXPECT_FALSE(processes.find("/etc").has_value());
}

TEST(ScriptedProcesses, AnswersInOrderAndKeepsTheCommands) {
  ScriptedProcesses processes;
  processes.answers = {Outcome{.output = "first"}, Error{ErrorKind::preflight, "ncu", "not found", "", "install it"}};
  processes.programs["ncu"] = "/usr/bin/ncu";
  EXPECT_EQ(processes.run(shell("one"))->output, "first");
  EXPECT_EQ(processes.run(shell("two")).error().expected, "ncu");
  const auto third = processes.run(shell("three"));
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().kind, ErrorKind::internal);
  ASSERT_EQ(processes.commands.size(), 3u);
  EXPECT_EQ(processes.commands[1].arguments.back(), "two");
  EXPECT_EQ(processes.find("ncu"), "/usr/bin/ncu");
  EXPECT_FALSE(processes.find("nvcc").has_value());
}

}  // namespace
}  // namespace hone::base

// Finding the compiler and reading what it says, with scripted answers.
#include "device/cpu/toolchain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::device::cpu {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

base::Outcome says(int status, const std::string& output, const std::string& error = "") {
  base::Outcome outcome;
  outcome.exit_status = status;
  outcome.output = output;
  outcome.error = error;
  return outcome;
}

const std::string gcc_version = "g++ (Debian 12.2.0-14) 12.2.0\nCopyright\n";
const std::string clang_version = "Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu\n";

TEST(FindToolchain, TakesTheFirstOnPath) {
  base::ScriptedProcesses processes;
  processes.programs = {{"clang++", "/usr/bin/clang++"}, {"g++", "/usr/bin/g++"}};
  processes.answers = {says(0, gcc_version)};
  const auto toolchain = find_toolchain("", processes);
  ASSERT_TRUE(toolchain);
  EXPECT_THAT(toolchain->command, ElementsAre("/usr/bin/g++"));
  EXPECT_EQ(toolchain->version, "g++ (Debian 12.2.0-14) 12.2.0");
  EXPECT_THAT(toolchain->flags, Contains("-fno-gnu-unique"));
  EXPECT_THAT(toolchain->flags, Not(Contains(HasSubstr("fast-math"))));
}

TEST(FindToolchain, TakesTheOneNamedWithItsArguments) {
  base::ScriptedProcesses processes;
  processes.programs = {{"ccache", "/usr/bin/ccache"}, {"c++", "/usr/bin/c++"}};
  processes.answers = {says(0, clang_version)};
  const auto toolchain = find_toolchain("ccache  clang++ ", processes);
  ASSERT_TRUE(toolchain);
  EXPECT_THAT(toolchain->command, ElementsAre("/usr/bin/ccache", "clang++"));
  EXPECT_THAT(processes.commands.at(0).arguments, ElementsAre("/usr/bin/ccache", "clang++", "--version"));
  EXPECT_THAT(toolchain->flags, Not(Contains("-fno-gnu-unique"))) << "clang does not know it";
}

TEST(FindToolchain, NeverReplacesANamedCompiler) {
  base::ScriptedProcesses processes;
  processes.programs = {{"c++", "/usr/bin/c++"}};
  const auto toolchain = find_toolchain("g++-99", processes);
  ASSERT_FALSE(toolchain);
  EXPECT_EQ(toolchain.error().kind, base::ErrorKind::preflight);
  EXPECT_THAT(toolchain.error().found, HasSubstr("g++-99"));
}

TEST(FindToolchain, SaysWhatToInstallWhereThereIsNone) {
  base::ScriptedProcesses processes;
  const auto toolchain = find_toolchain("", processes);
  ASSERT_FALSE(toolchain);
  EXPECT_EQ(toolchain.error().kind, base::ErrorKind::preflight);
  EXPECT_THAT(toolchain.error().remedy, HasSubstr("apt-get install g++"));
}

TEST(FindToolchain, ACompilerThatDoesNotAnswerIsNone) {
  base::Outcome late;
  late.timed_out = true;
  for (const base::Outcome& answer : {says(127, "", "cannot execute"), says(0, ""), late}) {
    base::ScriptedProcesses processes;
    processes.programs = {{"c++", "/usr/bin/c++"}};
    processes.answers = {answer};
    EXPECT_FALSE(find_toolchain("", processes));
  }
}

class CompileTest : public ::testing::Test {
 protected:
  base::Result<std::string> compile(const base::Result<base::Outcome>& answer) {
    processes_.answers.push_back(answer);
    return compile_shared_object(toolchain_, source_, "/scratch/1", processes_, files_);
  }
  Toolchain toolchain_{{"/usr/bin/c++"}, "version", "identity", {"-O3"}};
  ProgramSource source_{"kernel",
                        {{"kernels/k/k.hpp", "text"}, {"kernels/tile/tile.hpp", "tile"}},
                        "kernels/k/k.hpp",
                        {{"ROWS", "4"}, {"NAME", "a b"}}};
  base::ScriptedProcesses processes_;
  base::MemoryFiles files_;
};

TEST_F(CompileTest, CompilesTheMainFileInItsTree) {
  ASSERT_TRUE(files_.write_atomically("/scratch/1/program.so", "image"));
  const auto image = compile(says(0, ""));
  ASSERT_TRUE(image);
  EXPECT_EQ(*image, "image");
  EXPECT_EQ(*files_.read("/scratch/1/tree/kernels/tile/tile.hpp"), "tile");
  const base::Command& command = processes_.commands.at(0);
  EXPECT_EQ(command.directory, "/scratch/1/tree");
  EXPECT_THAT(command.arguments,
              ElementsAre("/usr/bin/c++", "-O3", "-DROWS=4", "-DNAME=a b", "-I.", "-include", "kernels/k/k.hpp", "-x",
                          "c++", "/dev/null", "-o", "/scratch/1/program.so"));
  EXPECT_EQ(command.environment.at("TMPDIR"), "/scratch/1");
}

TEST_F(CompileTest, KeepsTheFirstMessagesOnly) {
  std::string words = "In file included from <command-line>:\n";
  for (int i = 1; i <= 20; ++i)
    words += "kernels/k/k.hpp:" + std::to_string(i) + ":3: error: message " + std::to_string(i) + "\n  note\n";
  const auto image = compile(says(1, "", words));
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().kind, base::ErrorKind::gate);
  EXPECT_EQ(image.error().where, "kernels/k/k.hpp:1");
  EXPECT_THAT(image.error().found, HasSubstr("message 5"));
  EXPECT_THAT(image.error().found, Not(HasSubstr("message 6")));
}

TEST_F(CompileTest, ToldApart) {
  base::Outcome late;
  late.timed_out = true;
  const std::pair<base::Outcome, std::pair<base::ErrorKind, const char*>> cases[] = {
      {says(1, "", "fatal error: error writing to /t/x.s: No space left on device"),
       {base::ErrorKind::preflight, "free some disk"}},
      {says(1, "", "c++: error: unrecognized command-line option '-std=c++20'"), {base::ErrorKind::preflight, "newer"}},
      {says(1, "", "c++: fatal error: Killed signal terminated program cc1plus"),
       {base::ErrorKind::preflight, "memory"}},
      {says(137, ""), {base::ErrorKind::preflight, "memory"}},
      {says(1, "", "something unusual"), {base::ErrorKind::gate, "source"}},
      {late, {base::ErrorKind::gate, "never end"}},
  };
  for (const auto& [outcome, expected] : cases) {
    const auto image = compile(outcome);
    ASSERT_FALSE(image);
    EXPECT_EQ(image.error().kind, expected.first) << outcome.error;
    EXPECT_THAT(image.error().remedy, HasSubstr(expected.second)) << outcome.error;
    EXPECT_FALSE(image.error().found.empty());
  }
}

TEST_F(CompileTest, AFullDiskBeforeTheCompilerIsAnErrorToo) {
  files_.fail_writes_after(1);
  EXPECT_FALSE(compile(says(0, "")));
  EXPECT_TRUE(processes_.commands.empty());
}

TEST_F(CompileTest, InterruptedStaysInterrupted) {
  const auto image = compile(base::Error{base::ErrorKind::interrupted, "", "", "", ""});
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().kind, base::ErrorKind::interrupted);
}

TEST_F(CompileTest, ACompilerThatEndsWellAndWritesNothingIsNamed) {
  const auto compiled = compile(says(0, ""));
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().kind, base::ErrorKind::preflight);
  EXPECT_THAT(compiled.error().found, HasSubstr("/usr/bin/c++"));
  EXPECT_THAT(compiled.error().remedy, HasSubstr("HONE_CXX"));
}

}  // namespace
}  // namespace hone::device::cpu

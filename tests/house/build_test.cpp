// How ./dev builds, with stand-ins for CMake and Ninja: it says what will happen and how far it is, and nothing where nothing is
// to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "base/process.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/terminal_session.hpp"

namespace hone::house {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Build : public ::testing::Test {
 protected:
  Build() {
    std::filesystem::create_directories(folder_ / "tools/setup");
    std::filesystem::copy(std::string(HONE_SOURCE_DIR) + "/tools/dev", folder_ / "tools/dev");
    std::filesystem::copy_file(std::string(HONE_SOURCE_DIR) + "/dev", folder_ / "dev");
    write("tools/setup/debian-packages.txt", "alpha\n");
    for (const char* name : {"src", "kernels", "tests"}) std::filesystem::create_directories(folder_ / name);
    for (int i = 0; i < 300; ++i) std::ofstream(folder_ / ("src/source_" + std::to_string(i) + ".cpp"));
    program("dpkg-query", "echo 'installed alpha'");
    program("apt-get", "exit 1");
    program("nproc", "echo 2");
    program("cmake", "mkdir -p build; touch build/build.ninja");
    // Ninja builds a hone that says how it was called.
    ninja(
        "echo '[0/2] Re-checking globbed directories...'\n"
        "for i in 1 2 3 4; do echo \"[$i/4] Building CXX object source_$i.o\"; done\n"
        "printf '#!/bin/sh\\necho \"hone $*\"\\n' >build/hone; chmod +x build/hone");
  }

  void write(const std::string& name, const std::string& content) {
    ASSERT_TRUE(files_.write_atomically(folder_ / name, content).ok());
  }
  void program(const std::string& name, const std::string& body) {
    write("bin/" + name, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(folder_ / ("bin/" + name), std::filesystem::perms::owner_all);
  }
  void ninja(const std::string& body) { program("ninja", body); }

  base::Outcome call(std::vector<std::string> arguments, const std::string& seconds_between_lines = "30") {
    base::Command command;
    command.arguments = std::move(arguments);
    command.directory = folder_.path();
    command.environment["PATH"] = folder_ / "bin" + ":" + std::getenv("PATH");
    command.environment["HONE_PROGRESS_S"] = seconds_between_lines;
    const auto outcome = base::SystemProcesses().run(command);
    EXPECT_TRUE(outcome.ok()) << base::describe(outcome.error());
    return outcome.ok() ? *outcome : base::Outcome{};
  }
  base::Outcome dev(std::vector<std::string> words, const std::string& seconds_between_lines = "30") {
    words.insert(words.begin(), {"bash", "dev"});
    return call(std::move(words), seconds_between_lines);
  }
  std::string left(const std::string& arguments) {
    return call({"bash", "-c", "source tools/dev/progress.sh; left_text " + arguments}).output;
  }

  test::TemporaryFolder folder_;
  base::SystemFiles files_;
};

TEST_F(Build, TheFirstRunSaysWhatWillHappenAndHowLongBeforeItBegins) {
  const base::Outcome outcome = dev({"run", "rms_norm", "--quick"});
  EXPECT_EQ(outcome.exit_status, 0) << outcome.error;
  EXPECT_THAT(outcome.error, ::testing::MatchesRegex("dev: the first call installs what is missing and builds once, "
                                                     "about 3 min on 2 cores; then 'hone run rms_norm --quick' "
                                                     "begins\ndev: configuring build\n"));
  EXPECT_EQ(outcome.output, "hone run rms_norm --quick --autonomous\n");
}

TEST_F(Build, SaysNothingWhereNothingIsToDo) {
  ASSERT_EQ(dev({"build", "hone"}).exit_status, 0);
  ninja("echo '[0/2] Re-checking globbed directories...'; echo 'ninja: no work to do.'");
  const base::Outcome again = dev({"build", "hone"}, "0");
  EXPECT_EQ(again.exit_status, 0);
  EXPECT_EQ(again.output + again.error, "");
}

TEST_F(Build, ALineSaysHowFarItIsAndTheLogKeepsAll) {
  const base::Outcome outcome = dev({"build", "hone"}, "0");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("dev: building: 1 of 4 (25 %)\n"));
  EXPECT_THAT(outcome.error, HasSubstr("dev: building: 3 of 4 (75 %)\n"));
  EXPECT_THAT(outcome.error, Not(HasSubstr("Building CXX")));
  EXPECT_THAT(*files_.read(folder_ / "build/build.log"), HasSubstr("[4/4] Building CXX object source_4.o\n"));
}

TEST_F(Build, ATerminalShowsEachStepInOneLine) {
  test::TerminalSession terminal({"/bin/sh", "-c", "cd '" + folder_.path() + "' && exec bash dev build hone"},
                                 {{"PATH", folder_ / "bin" + ":" + std::getenv("PATH")}});
  EXPECT_TRUE(terminal.shows("\r\033[K[1/4]  Building CXX object source_1.o\r\033[K[2/4]")) << terminal.seen();
  EXPECT_EQ(terminal.wait(), 0);
  EXPECT_TRUE(terminal.seen().ends_with("\r\033[K")) << "the line is taken away: " << terminal.seen();
}

TEST_F(Build, AFailureShowsWhatTheCompilerSaidAndNoStepThatWentWell) {
  ninja(
      "echo '[1/9] Building CXX object fine.o'; echo 'FAILED: broken.o'; printf 'broken.cpp:1: error: no end'; exit 1");
  const base::Outcome outcome = dev({"build"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(outcome.error, HasSubstr("FAILED: broken.o\nbroken.cpp:1: error: no end\n"));
  EXPECT_THAT(outcome.error, HasSubstr("kept in build/build.log"));
  EXPECT_THAT(outcome.error, Not(HasSubstr("fine.o")));
}

TEST_F(Build, EstimatesTheRestAtThePaceSoFar) {
  EXPECT_EQ(left("120 120 360"), ", about 4 min left\n");
  EXPECT_EQ(left("60 300 360"), ", about 15 s left\n");
  EXPECT_EQ(left("3 100 360"), "") << "too early to tell";
  EXPECT_EQ(left("60 360 360"), "");
}

}  // namespace
}  // namespace hone::house

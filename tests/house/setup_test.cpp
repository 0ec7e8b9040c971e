// The set-up of ./dev on a machine made of stand-ins for dpkg-query and apt-get: it installs what is missing, once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::house {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SetUp : public ::testing::Test {
 protected:
  SetUp() {
    std::filesystem::create_directories(folder_ / "tools/setup");
    std::filesystem::copy(std::string(HONE_SOURCE_DIR) + "/tools/dev", folder_ / "tools/dev");
    write("tools/setup/debian-packages.txt", "# needed by all\nalpha\nbeta\n# only to format\ngamma fmt\n");
    write("installed", "alpha\n");
    program("dpkg-query",
            "while read -r name; do case \" $* \" in *\" $name \"*) echo \"installed $name\";; esac; done <installed");
    program("apt-get",
            "echo \"$@\" >>calls; [ -e fail ] && exit 100\n"
            "case \"$*\" in *install*) for word in \"$@\"; do echo \"$word\" >>installed; done;; esac");
    // As root the set-up calls apt-get itself; otherwise through sudo. Either way the stand-in answers.
    program("sudo", "exec \"$@\"");
  }

  void write(const std::string& name, const std::string& content) {
    ASSERT_TRUE(files_.write_atomically(folder_ / name, content).ok());
  }

  void program(const std::string& name, const std::string& body) {
    write("bin/" + name, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(folder_ / ("bin/" + name), std::filesystem::perms::owner_all);
  }

  base::Outcome set_up(const std::string& group = "") {
    base::Command command;
    command.arguments = {"bash", "-c",
                         "set -euo pipefail; source tools/dev/common.sh; source tools/dev/setup.sh; set_up " + group};
    command.directory = folder_.path();
    command.environment["PATH"] = folder_ / "bin" + ":" + std::getenv("PATH");
    const auto outcome = base::SystemProcesses().run(command);
    EXPECT_TRUE(outcome.ok()) << base::describe(outcome.error());
    return outcome.ok() ? *outcome : base::Outcome{};
  }

  // What apt-get was asked since the last look.
  std::string take_calls() {
    const auto calls = files_.read(folder_ / "calls");
    std::filesystem::remove(folder_ / "calls");
    return calls ? *calls : "";
  }

  test::TemporaryFolder folder_;
  base::SystemFiles files_;
};

TEST_F(SetUp, InstallsOnlyWhatIsMissingWithoutRecommendsAndWithoutQuestions) {
  program("env", "echo \"env $*\" >>calls; exec /usr/bin/env \"$@\"");
  const base::Outcome outcome = set_up();
  EXPECT_EQ(outcome.exit_status, 0) << outcome.error;
  const std::string calls = take_calls();
  EXPECT_THAT(calls, HasSubstr("DEBIAN_FRONTEND=noninteractive"));
  EXPECT_THAT(calls, HasSubstr("--no-install-recommends install beta"));
  EXPECT_THAT(calls, Not(HasSubstr("alpha")));
  EXPECT_THAT(calls, Not(HasSubstr("gamma")));
}

TEST_F(SetUp, TheSecondRunAsksNobody) {
  ASSERT_EQ(set_up().exit_status, 0);
  take_calls();
  program("dpkg-query", "echo asked >>calls; exit 1");
  EXPECT_EQ(set_up().exit_status, 0);
  EXPECT_EQ(take_calls(), "");
}

TEST_F(SetUp, AChangedListIsNoticed) {
  ASSERT_EQ(set_up().exit_status, 0);
  take_calls();
  write("tools/setup/debian-packages.txt", "alpha\nbeta\ndelta\n");
  EXPECT_EQ(set_up().exit_status, 0);
  EXPECT_THAT(take_calls(), HasSubstr("install delta"));
}

TEST_F(SetUp, AGroupAddsItsPackages) {
  ASSERT_EQ(set_up().exit_status, 0);
  take_calls();
  EXPECT_EQ(set_up("fmt").exit_status, 0);
  EXPECT_THAT(take_calls(), HasSubstr("install gamma"));
}

TEST_F(SetUp, AnInstallationThatFailsStopsAndIsTriedAgain) {
  write("fail", "");
  const base::Outcome outcome = set_up();
  EXPECT_EQ(outcome.exit_status, 3);
  EXPECT_THAT(outcome.error, HasSubstr("beta"));
  take_calls();
  std::filesystem::remove(folder_ / "fail");
  EXPECT_EQ(set_up().exit_status, 0);
  EXPECT_THAT(take_calls(), HasSubstr("install beta"));
}

TEST_F(SetUp, TheSourcesOfOtherRegistriesAreFetchedAndAFailureStops) {
  write("tools/fetch_sources.sh", "echo fetched >>calls\n");
  ASSERT_EQ(set_up().exit_status, 0);
  EXPECT_THAT(take_calls(), HasSubstr("fetched"));
  write("tools/fetch_sources.sh", "echo 'no network' >&2; exit 1\n");
  const base::Outcome outcome = set_up();
  EXPECT_NE(outcome.exit_status, 0);
  EXPECT_THAT(outcome.error, HasSubstr("no network"));
  EXPECT_NE(set_up().exit_status, 0) << "a failed set-up was taken for done";
}

}  // namespace
}  // namespace hone::house

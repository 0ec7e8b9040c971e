// ./dev, the one entry for people and CI: its help and its commands agree, and a wrong call says what is right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "tests/house/source_tree.hpp"

namespace hone::house {
namespace {

using ::testing::HasSubstr;

base::Outcome run_in_root(std::vector<std::string> arguments) {
  base::SystemProcesses processes;
  base::Command command;
  command.arguments = std::move(arguments);
  command.directory = HONE_SOURCE_DIR;
  const auto outcome = processes.run(command);
  EXPECT_TRUE(outcome.ok()) << base::describe(outcome.error());
  return outcome.ok() ? *outcome : base::Outcome{};
}

TEST(Dev, HelpListsEveryCommandThatTheScriptKnows) {
  const base::Outcome help = run_in_root({"./dev", "help"});
  EXPECT_EQ(help.exit_status, 0);
  base::SystemFiles files;
  const std::string script = *files.read(std::string(HONE_SOURCE_DIR) + "/dev");
  const std::regex definition(R"(\ncommand_(\w+)\(\))");
  std::size_t commands = 0;
  for (std::sregex_iterator match(script.begin(), script.end(), definition), end; match != end; ++match) {
    ++commands;
    EXPECT_THAT(help.output, HasSubstr("\n  " + (*match)[1].str() + " "));
    const std::regex dispatched("\\n  [a-z| ]*\\b" + (*match)[1].str() + "\\b[a-z| ]*\\) \"command_");
    EXPECT_TRUE(std::regex_search(script, dispatched)) << (*match)[1] << " is defined but never called";
  }
  EXPECT_GT(commands, 5u);
}

TEST(Dev, AWrongCallEndsWithTheUsageStatusAndSaysWhatIsRight) {
  const base::Outcome unknown = run_in_root({"./dev", "nonsense"});
  EXPECT_EQ(unknown.exit_status, 2);
  EXPECT_THAT(unknown.error, HasSubstr("usage: ./dev"));
  const base::Outcome no_kernel = run_in_root({"./dev", "run"});
  EXPECT_EQ(no_kernel.exit_status, 2);
  EXPECT_THAT(no_kernel.error, HasSubstr("./dev run rms_norm"));
  EXPECT_EQ(run_in_root({"./dev", "bench", "no_such_benchmark"}).exit_status, 2);
}

TEST(Dev, EveryScriptIsValidBash) {
  Files scripts = read_files(HONE_SOURCE_DIR, {"tools", ".ci"}, {".sh", "run"});
  scripts["dev"] = "";
  EXPECT_GT(scripts.size(), 4u);
  for (const auto& [path, content] : scripts) {
    const base::Outcome checked = run_in_root({"bash", "-n", path});
    EXPECT_EQ(checked.exit_status, 0) << path << ": " << checked.error;
  }
}

TEST(Dev, ThePackageListNamesEachPackageOnce) {
  base::SystemFiles files;
  const auto list = files.read(std::string(HONE_SOURCE_DIR) + "/tools/setup/debian-packages.txt");
  ASSERT_TRUE(list.ok());
  const std::regex row(R"([a-z0-9][a-z0-9+.-]+( (fmt|lint|fuzz))?)");
  std::set<std::string> seen;
  for (const std::string& line : lines_of(*list)) {
    if (line.empty() || line.front() == '#') continue;
    EXPECT_TRUE(std::regex_match(line, row)) << line;
    EXPECT_TRUE(seen.insert(base::split(line, ' ').front()).second) << line << " stands there twice";
  }
  EXPECT_GT(seen.size(), 10u);
}

}  // namespace
}  // namespace hone::house

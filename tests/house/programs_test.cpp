// No test source is forgotten: every folder of tests has its program, every file its tests, every program lists some.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "base/process.hpp"
#include "base/text.hpp"
#include "tests/house/source_tree.hpp"

namespace hone::house {
namespace {

// "TEST(Suite, Name)", TEST_F and TEST_P, and RapidCheck's properties.
std::set<std::string> suites_in(const std::string& text) {
  static const std::regex pattern(
      R"(^(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+))");
  std::set<std::string> suites;
  for (const std::string& line : lines_of(text)) {
    std::smatch match;
    if (std::regex_search(line, match, pattern)) suites.insert(match[1]);
  }
  return suites;
}

// Suite names as a program lists them, without instance prefixes and type suffixes ("Kinds/AnyFiles." -> "AnyFiles").
std::set<std::string> listed_suites(const std::string& listing) {
  std::set<std::string> suites;
  for (const std::string& line : base::split(listing, '\n')) {
    if (line.empty() || line.front() == ' ' || line.find('.') == std::string::npos) continue;
    for (const std::string& part : base::split(line.substr(0, line.find('.')), '/')) suites.insert(part);
  }
  return suites;
}

TEST(Programs, EveryTestFileIsInAProgramThatRunsIt) {
  const std::string root = HONE_SOURCE_DIR;
  const Files sources = read_files(root, {"tests"}, {"_test.cpp"});
  EXPECT_GT(sources.size(), 5u) << "no test source was found";
  base::SystemProcesses processes;
  std::map<std::string, std::set<std::string>> listings;
  for (const auto& [path, text] : sources) {
    const std::string floor = base::split(path, '/').at(1);
    if (listings.count(floor) == 0) {
      base::Command command;
      command.arguments = {std::string(HONE_BINARY_DIR) + "/tests/hone_test_" + floor, "--gtest_list_tests"};
      const auto outcome = processes.run(command);
      ASSERT_TRUE(outcome.ok()) << path << " is in no program: " << base::describe(outcome.error());
      ASSERT_EQ(outcome->exit_status, 0) << outcome->error;
      listings[floor] = listed_suites(outcome->output);
    }
    const auto suites = suites_in(text);
    EXPECT_FALSE(suites.empty()) << path << " holds no test";
    for (const std::string& suite : suites) {
      EXPECT_TRUE(listings[floor].count(suite)) << path << ": " << suite << " is not run by hone_test_" << floor;
    }
  }
}

TEST(Programs, AssertSomething) {
  for (const auto& [path, text] : read_files(HONE_SOURCE_DIR, {"tests"}, {"_test.cpp"})) {
    EXPECT_TRUE(std::regex_search(text, std::regex("EXPECT_|ASSERT_|RC_ASSERT|FAIL\\(\\)")))
        << path << " asserts nothing";
  }
}

TEST(Programs, SuitesAreReadFromSourcesAndListings) {
  EXPECT_EQ(suites_in("TEST(A, b) {\nTEST_P(C, d) {\n// TEST(E, f)\n"), (std::set<std::string>{"A", "C"}));
  EXPECT_EQ(listed_suites("Running main() from x\nA.\n  b\nKinds/C.\n  d/0\n"),
            (std::set<std::string>{"A", "Kinds", "C"}));
}

}  // namespace
}  // namespace hone::house

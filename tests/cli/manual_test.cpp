// The manual page has every command, flag and variable, and groff reads it without a word where it is installed.
#include "cli/manual.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "cli/environment.hpp"
#include "cli/flags.hpp"
#include "cli/help.hpp"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

std::string roff(std::string text) {
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 2))
    text.replace(at, 1, "\\-");
  return text;
}

TEST(Manual, HasEveryCommandFlagAndExample) {
  const std::string text = manual_page();
  for (const CommandSpec& command : all_commands()) {
    EXPECT_THAT(text, HasSubstr(".B " + command.name));
    for (const std::string& example : command.examples) EXPECT_THAT(text, HasSubstr(roff(example)));
  }
  for (const Flag& flag : all_flags()) EXPECT_THAT(text, HasSubstr(".B " + roff(spelled(flag))));
  for (const ExitCode& code : exit_codes()) EXPECT_THAT(text, HasSubstr(".B " + std::to_string(code.code) + "\n"));
}

TEST(Manual, HasTheSectionsOfAManualPage) {
  const std::string text = manual_page();
  for (const char* title :
       {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "FLAGS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"})
    EXPECT_THAT(text, HasSubstr(std::string(".SH ") + title + "\n"));
  for (const char* file : {"hone.toml", "~/.config/hone/config.toml", "history.sqlite3"})
    EXPECT_THAT(text, HasSubstr(file));
}

// Names that the sources give to getenv, or to a function around it, or loop over before they do.
std::set<std::string> variables_read() {
  static const std::regex call(R"rx((?:getenv|variable|environ\.get)\("([A-Z][A-Z0-9_]*)")rx");
  static const std::regex loop(R"rx(for \(const char\* \w+ : \{((?:"[A-Z][A-Z0-9_]*"(?:, )?)+)\})rx");
  static const std::regex name(R"rx("([A-Z][A-Z0-9_]*)")rx");
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(HONE_SOURCE_DIR) + "/src")) {
    std::ostringstream all;
    all << std::ifstream(entry.path()).rdbuf();
    const std::string text = all.str();
    for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end; ++it) found.insert((*it)[1]);
    if (text.find("getenv") == std::string::npos) continue;
    for (std::sregex_iterator it(text.begin(), text.end(), loop), end; it != end; ++it) {
      const std::string names = (*it)[1];
      for (std::sregex_iterator each(names.begin(), names.end(), name); each != end; ++each) found.insert((*each)[1]);
    }
  }
  return found;
}

TEST(Manual, HasEveryVariableThatTheSourcesRead) {
  const std::string text = manual_page();
  std::set<std::string> read = variables_read();
  EXPECT_GE(read.size(), 15u);
  for (const char* name : {"HONE_CXX", "CUDA_HOME", "XDG_RUNTIME_DIR", "NO_COLOR"}) EXPECT_EQ(read.count(name), 1u);
  read.erase("PYTHONPATH");  // of the processes that run a checkout's tests; theirs is put before it
  for (const std::string& name : read) EXPECT_THAT(text, HasSubstr(".B " + name + "\n"));
  read.insert("CUDA_VISIBLE_DEVICES");  // the driver reads it
  for (const Variable& variable : environment_variables()) EXPECT_EQ(read.count(variable.name), 1u) << variable.name;
}

}  // namespace
}  // namespace hone::cli

// Help, manual page and completions are made from the same tables, so that nothing is missing from one of them.
#include "cli/help.hpp"

#include <gtest/gtest.h>

namespace hone::cli {
namespace {

TEST(Help, NamesEveryCommandAndExitCode) {
  const std::string text = program_help();
  for (const CommandSpec& command : all_commands())
    EXPECT_NE(text.find("  " + command.name), std::string::npos) << command.name;
  for (const char* code : {"0 ", "1 ", "2 ", "3 ", "4 ", "5 ", "130 "})
    EXPECT_NE(text.find(std::string("  ") + code), std::string::npos) << code;
}

TEST(Help, NamesEveryFlagOfACommandWithItsChoicesAndDefault) {
  for (const CommandSpec& command : all_commands()) {
    const std::string text = command_help(command);
    for (const std::string& name : command.flags) {
      EXPECT_NE(text.find(name), std::string::npos) << command.name << " " << name;
      for (const std::string& choice : find_flag(name)->choices)
        EXPECT_NE(text.find(choice), std::string::npos) << name << " " << choice;
    }
    for (const std::string& example : command.examples) EXPECT_NE(text.find(example), std::string::npos);
  }
}

TEST(ManualPage, HoldsEveryCommandAndFlag) {
  const std::string text = manual_page();
  for (const CommandSpec& command : all_commands())
    EXPECT_NE(text.find(".B " + command.name), std::string::npos) << command.name;
  for (const Flag& flag : all_flags()) {
    std::string roff = flag.name;
    for (std::size_t at = roff.find('-'); at != std::string::npos; at = roff.find('-', at + 2))
      roff.replace(at, 1, "\\-");
    EXPECT_NE(text.find(roff), std::string::npos) << flag.name;
  }
}

TEST(Completions, KnowEveryCommandAndFlagInEveryShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    auto script = completion_script(shell);
    ASSERT_TRUE(script.ok()) << shell;
    for (const CommandSpec& command : all_commands()) {
      EXPECT_NE(script->find(command.name), std::string::npos) << shell << " " << command.name;
      for (const std::string& name : command.flags)
        EXPECT_NE(script->find(name.substr(2)), std::string::npos) << shell << " " << name;
    }
  }
}

TEST(Completions, OfAnUnknownShellAreAUsageError) {
  auto script = completion_script("tcsh");
  ASSERT_FALSE(script.ok());
  EXPECT_EQ(script.error().kind, base::ErrorKind::usage);
}

}  // namespace
}  // namespace hone::cli

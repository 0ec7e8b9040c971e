// Help is made from the tables, so that nothing is missing from it.
#include "cli/help.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "render/terminal/style.hpp"

namespace hone::cli {
namespace {

constexpr std::size_t kWide = 100;

TEST(Help, NamesEveryCommandAndExitCode) {
  const std::string text = program_help(kWide);
  for (const CommandSpec& command : all_commands())
    EXPECT_NE(text.find("  " + command.name), std::string::npos) << command.name;
  for (const char* code : {"0 ", "1 ", "2 ", "3 ", "4 ", "5 ", "130 "})
    EXPECT_NE(text.find(std::string("  ") + code), std::string::npos) << code;
}

TEST(Help, NamesEveryFlagOfACommandWithItsChoicesAndDefault) {
  for (const CommandSpec& command : all_commands()) {
    const std::string text = command_help(command, kWide);
    for (const std::string& name : command.flags) {
      EXPECT_NE(text.find(name), std::string::npos) << command.name << " " << name;
      for (const std::string& choice : find_flag(name)->choices)
        EXPECT_NE(text.find(choice), std::string::npos) << name << " " << choice;
    }
    for (const std::string& example : command.examples) EXPECT_NE(text.find(example), std::string::npos);
  }
}

// Examples are there to be pasted: they are not wrapped.
TEST(Help, FitsTheTerminal) {
  for (const std::size_t width : {std::size_t{60}, std::size_t{80}, std::size_t{120}}) {
    for (const std::string& line : base::split(program_help(width), '\n'))
      EXPECT_LE(render::display_width(line), width) << line;
    for (const CommandSpec& command : all_commands()) {
      const std::string text = command_help(command, width);
      for (const std::string& line : base::split(text.substr(0, text.find("\nexamples\n")), '\n'))
        EXPECT_LE(render::display_width(line), width) << line;
    }
  }
}

TEST(Help, SaysWhatKStandsFor) {
  EXPECT_NE(command_help(*find_command("profile"), kWide).find("k stands for 1024"), std::string::npos);
}

}  // namespace
}  // namespace hone::cli

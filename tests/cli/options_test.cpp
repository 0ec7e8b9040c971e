// What the typed flags, the terminal and the environment mean together.
#include "cli/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hone::cli {
namespace {

constexpr Surroundings kTerminal{true, true, true, 90, 70}, kPipe{false, false, false, 0, 0};

class Options : public ::testing::Test {
 protected:
  Options() {
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"}) ::unsetenv(name);
    ::setenv("TERM", "xterm", 1);
  }
  Talk talk(const std::vector<std::string>& flags, const Surroundings& surroundings = kTerminal) {
    std::vector<std::string> words = {"list"};
    words.insert(words.end(), flags.begin(), flags.end());
    auto typed = parse(words);
    EXPECT_TRUE(typed) << base::describe(typed.error());
    return typed ? interpret(*typed, words, surroundings).talk : Talk{};
  }
};

TEST_F(Options, ColoursGoToTerminalsUnlessSomethingSaysNo) {
  EXPECT_TRUE(talk({}).style.color);
  EXPECT_FALSE(talk({}, kPipe).style.color);
  EXPECT_FALSE(talk({"--no-color"}).style.color);
  EXPECT_FALSE(talk({"--color", "never"}).style.color);
  EXPECT_TRUE(talk({"--color=always"}, kPipe).style.color);
  EXPECT_TRUE(talk({"--color", "auto"}).style.color);
}

TEST_F(Options, VariablesSpeakWhereNoFlagDoes) {
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(talk({}).style.color);
  EXPECT_TRUE(talk({"--color", "always"}).style.color);
  ::setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_FALSE(talk({}).style.color) << "NO_COLOR stands before it";
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(talk({}, kPipe).style.color);
  ::setenv("CLICOLOR_FORCE", "0", 1);
  EXPECT_FALSE(talk({}, kPipe).style.color);
}

TEST_F(Options, ADumbTerminalIsPlain) {
  EXPECT_TRUE(talk({}).live);
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(talk({}).style.color);
  EXPECT_FALSE(talk({}).live);
  EXPECT_TRUE(talk({}).interactive) << "a person can be asked all the same";
}

TEST_F(Options, TheWidthIsThatOfWhoReadsTheResult) {
  EXPECT_EQ(talk({}).style.width, 90u);
  EXPECT_EQ(talk({"--json"}).style.width, 70u);
  EXPECT_EQ(talk({}, kPipe).style.width, 100u);
  ::setenv("COLUMNS", "64", 1);
  EXPECT_EQ(talk({}).style.width, 64u);
  EXPECT_EQ(talk({}, kPipe).style.width, 64u);
  for (const auto& [columns, width] : {std::pair{"20", 60u}, {"100000", 400u}, {"wide", 90u}, {"0", 90u}, {"", 90u}}) {
    ::setenv("COLUMNS", columns, 1);
    EXPECT_EQ(talk({}).style.width, width) << columns;
  }
}

TEST_F(Options, NobodyIsAskedBesideADocumentOrThroughAPipe) {
  EXPECT_TRUE(talk({}).interactive);
  EXPECT_FALSE(talk({"--json"}).interactive);
  EXPECT_FALSE(talk({}, kPipe).interactive);
  EXPECT_TRUE(talk({"-q"}).quiet);
  EXPECT_TRUE(talk({"-v"}).verbose);
}

}  // namespace
}  // namespace hone::cli

// Suggested commands can be pasted: they say again where the work is, as a shell needs it.
#include "cli/suggested_commands.hpp"

#include <gmock/gmock.h>

#include "tests/cli/program_fixture.hpp"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

Typed typed_as(const std::vector<std::string>& words) {
  auto typed = parse(words);
  EXPECT_TRUE(typed) << base::describe(typed.error());
  return typed ? *typed : Typed{};
}

TEST(Quoted, IsWhatAShellReadsAsTheSameWord) {
  EXPECT_EQ(quoted("a/b-c_d.e=1,2:3"), "a/b-c_d.e=1,2:3");
  EXPECT_EQ(quoted("my kernels"), "\"my kernels\"");
  EXPECT_EQ(quoted("it's"), "\"it's\"");
  EXPECT_EQ(quoted(""), "\"\"");
  EXPECT_EQ(quoted("$HOME"), "'$HOME'");
  EXPECT_EQ(quoted("a\"b'c"), "'a\"b'\\''c'");
}

TEST(SuggestedCommands, CarryThePlaceAndForAProfileTheRequest) {
  const Typed typed =
      typed_as({"optimize", "softmax", "--repo", "my kernels", "--workspace=w", "--device", "cpu", "--dtype", "bf16",
                "--sizes", "4k,8k", "--option", "a=b c", "--quick", "--max-variants", "3"});
  const std::string place = " --repo \"my kernels\"";
  EXPECT_EQ(suggested(typed, "finalize", "softmax"), "hone finalize softmax" + place + " --workspace w --device cpu");
  EXPECT_EQ(suggested(typed, "profile", "softmax"),
            "hone profile softmax" + place +
                " --dtype bf16 --sizes 4096,8192 --option \"a=b c\" --workspace w --quick --device cpu");
}

TEST(SuggestedCommands, InATextAreCompletedOnce) {
  const Typed typed = typed_as({"run", "softmax", "--repo", "my kernels", "--workspace", "w"});
  const auto done = [&](const std::string& text) { return completed(text, typed, "softmax"); };
  const std::string flags = " --repo \"my kernels\" --workspace w";
  EXPECT_EQ(done("'hone optimize softmax' makes it"), "'hone optimize softmax" + flags + "' makes it");
  EXPECT_EQ(done("'hone optimize' makes it"), "'hone optimize softmax" + flags + "' makes it");
  EXPECT_EQ(done("run 'hone profile KERNEL' again"), "run 'hone profile softmax" + flags + "' again");
  EXPECT_EQ(done("'hone profile a' and 'hone optimize a' make them"),
            "'hone profile a" + flags + "' and 'hone optimize a" + flags + "' make them");
  EXPECT_EQ(done("profile again: hone profile a."), "profile again: hone profile a" + flags + ".");
  EXPECT_EQ(done("'hone list --repo here' shows all"), "'hone list --repo here' shows all");
  EXPECT_EQ(done("'hone list' shows all; 'hone history list'"),
            "'hone list --repo \"my kernels\"' shows all; 'hone history list --workspace w'");
  EXPECT_EQ(done("'hone doctor' shows the device, restart hone"), "'hone doctor' shows the device, restart hone");
}

TEST(SuggestedCommands, SayNothingThatAFileSets) {
  Typed typed = typed_as({"optimize", "softmax"});
  typed.defaults = {{"--workspace", {"/elsewhere"}}, {"--repo", {"/kernels"}}};
  EXPECT_EQ(suggested(typed, "finalize", "softmax"), "hone finalize softmax");
}

class Pasted : public ProgramTest {};

// What is suggested is run as it stands, by a shell.
TEST_F(Pasted, CommandsDoWhatTheyPromise) {
  const std::string workspace = folder_ / "a workspace", manifest = folder_ / "my kernels/soft max.toml";
  std::filesystem::copy(std::string(HONE_SOURCE_DIR) + "/examples/manifest", folder_ / "my kernels");
  std::filesystem::rename(folder_ / "my kernels/row_softmax_cpu.toml", manifest);
  const auto refused = run({"optimize", "--repo", manifest, "--workspace", workspace});
  expect_refused(refused, 3, "no such folder");
  const std::string command =
      "hone profile row_softmax_cpu --repo \"" + manifest + "\" --workspace \"" + workspace + "\"";
  EXPECT_THAT(refused.error, HasSubstr("'" + command + "'"));
  // It comes as far as the compiler, behind every check of the words.
  const auto pasted = run_shell("hone() { \"$HONE\" \"$@\"; }; " + command, {{"HONE_CXX", folder_ / "none"}});
  expect_refused(pasted, 3, "kernel compiler");
}

}  // namespace
}  // namespace hone::cli

// The command line as typed: every flag and command of the tables parses, and every wrong word is answered with the nearest.
#include "cli/parse.hpp"

#include <gtest/gtest.h>

#include <set>

namespace hone::cli {
namespace {

std::vector<std::string> arguments_for(const CommandSpec& command) {
  std::vector<std::string> words = {command.name};
  for (int i = 0; i < command.min_arguments; ++i) words.push_back("word" + std::to_string(i));
  return words;
}

std::string value_for(const Flag& flag) {
  if (!flag.choices.empty()) return flag.choices.back();
  if (flag.kind == FlagKind::integer) return "3";
  if (flag.kind == FlagKind::pair) return "name=value";
  if (flag.kind == FlagKind::list) return "a,b";
  if (flag.kind == FlagKind::sizes) return "512,4k";
  return "text";
}

TEST(Parse, TakesEveryFlagOfEveryCommand) {
  int checked = 0;
  for (const CommandSpec& command : all_commands())
    for (const std::string& name : command.flags) {
      const Flag* flag = find_flag(name);
      ASSERT_NE(flag, nullptr) << name;
      std::vector<std::string> words = arguments_for(command);
      words.push_back(name);
      if (flag->kind != FlagKind::boolean) words.push_back(value_for(*flag));
      auto typed = parse(words);
      ASSERT_TRUE(typed.ok()) << command.name << " " << name << ": " << base::describe(typed.error());
      EXPECT_TRUE(typed->has(name)) << command.name << " " << name;
      ++checked;
    }
  EXPECT_GT(checked, 80);
}

TEST(Parse, TakesValuesBehindAnEqualsSign) {
  auto typed = parse({"profile", "rms_norm", "--dtype=bf16"});
  ASSERT_TRUE(typed.ok());
  EXPECT_EQ(typed->text("--dtype"), "bf16");
}

TEST(Parse, SplitsLists) {
  auto typed = parse({"profile", "rms_norm", "--sizes", "1024, 4096"});
  ASSERT_TRUE(typed.ok());
  EXPECT_EQ(typed->list("--sizes"), (std::vector<std::string>{"1024", "4096"}));
}

TEST(Parse, ReadsSizesWithTheirUnits) {
  auto typed = parse({"profile", "rms_norm", "--sizes", "512, 4k,1m"});
  ASSERT_TRUE(typed.ok());
  EXPECT_EQ(typed->list("--sizes"), (std::vector<std::string>{"512", "4096", "1048576"}));
}

TEST(Parse, ABooleanCanBeTurnedOff) {
  auto typed = parse({"profile", "--quick=false", "--autonomous=true", "-v", "-v"});
  ASSERT_TRUE(typed.ok());
  EXPECT_FALSE(typed->has("--quick"));
  EXPECT_TRUE(typed->given("--quick"));
  EXPECT_TRUE(typed->has("--autonomous"));
  EXPECT_TRUE(typed->has("--verbose"));
}

TEST(Parse, TheKernelMayBeLeftToTheRepository) {
  for (const char* command : {"profile", "optimize", "finalize", "run", "bench", "verify"}) {
    auto typed = parse({command});
    ASSERT_TRUE(typed.ok()) << command;
    EXPECT_TRUE(typed->arguments.empty());
    EXPECT_EQ(typed->command->offer, Offer::kernels);
  }
}

TEST(Parse, EveryCommandTellsHelpAndVersionWithoutItsArguments) {
  for (const CommandSpec& command : all_commands()) {
    EXPECT_TRUE(parse({command.name, "-h"})->help) << command.name;
    EXPECT_TRUE(parse({command.name, "-V"})->version) << command.name;
  }
  EXPECT_EQ(parse({"-V"})->command->name, "version");
}

TEST(Parse, FlagsMayStandBeforeTheKernel) {
  auto typed = parse({"profile", "--quick", "rms_norm"});
  ASSERT_TRUE(typed.ok());
  EXPECT_EQ(typed->arguments, std::vector<std::string>{"rms_norm"});
}

TEST(Parse, GivesDefaultsOfFlagsThatWereNotTyped) {
  auto typed = parse({"profile", "rms_norm"});
  ASSERT_TRUE(typed.ok());
  EXPECT_EQ(typed->text("--device"), "auto");
  EXPECT_EQ(typed->text("--workspace"), "optimization");
}

struct Wrong {
  std::vector<std::string> words;
  std::string found, remedy;
};

TEST(Parse, AnswersWrongWordsWithWhatWasMeant) {
  const std::vector<Wrong> wrong = {
      {{"profil", "rms_norm"}, "'profil'", "profile"},
      {{"profile", "rms_norm", "--dtyp", "bf16"}, "'--dtyp'", "--dtype"},
      {{"profile", "rms_norm", "--dtype", "bf61"}, "'bf61'", "bf16"},
      {{"profile", "rms_norm", "--goal", "fast"}, "'fast'", "--help"},
      {{"profile", "rms_norm", "--seed", "-1"}, "'-1'", "--help"},
      {{"profile", "rms_norm", "--seed", "1e9"}, "'1e9'", "--help"},
      {{"profile", "rms_norm", "--seed", "9007199254740993"}, "'9007199254740993'", "--help"},
      {{"optimize", "rms_norm", "--max-variants", "0"}, "'0'", "--help"},
      {{"profile", "rms_norm", "--sizes", "4x"}, "'4x'", "--sizes 512,4k"},
      {{"profile", "rms_norm", "--sizes", "1024,,8"}, "empty", "--help"},
      {{"profile", "rms_norm", "--quick=maybe"}, "'--quick=maybe'", "--help"},
      {{"list", "-v", "--quiet"}, "both", "leave one"},
      {{"profile", "rms_norm", "--option", "gemma"}, "'gemma'", "casting_mode=gemma"},
      {{"profile", "rms_norm", "--workspace", ""}, "empty", "--help"},
      {{"profile", "rms_norm", "--workspace=", "--json"}, "empty", "--help"},
      {{"profile", "--sizes=", "rms_norm"}, "empty", "--help"},
      {{"counters"}, "none", "hone counters capture.csv"},
      {{"profile", "rms_norm", "swiglu"}, "'rms_norm swiglu'", "hone profile"},
      {{"list", "--sizes", "4"}, "belongs to other commands", "hone list"},
      {{"compare", "a"}, "'a'", "hone compare"},
      {{"--json", "list"}, "'--json' before 'list'", "'hone list --json'"},
      {{"--repo", "my kernels", "run", "softmax", "-q"},
       "'--repo' before 'run'",
       "'hone run --repo \"my kernels\" softmax -q'"},
      {{"--sizes=4k", "-v", "bench"}, "'--sizes=4k' before 'bench'", "'hone bench --sizes=4k -v'"},
      {{"--jsn", "list"}, "'--jsn' before 'list'", "'hone list --jsn'"},
      {{"--quick"}, "'--quick' and no command", "'hone COMMAND --quick'"},
      {{"--repo"}, "'--repo' and no command", "'hone COMMAND --repo'"},
      {{"man", "--json"}, "belongs to other commands", "hone man"},
      {{"completions", "bash", "--json"}, "belongs to other commands", "hone completions"},
  };
  for (const Wrong& each : wrong) {
    auto typed = parse(each.words);
    ASSERT_FALSE(typed.ok()) << each.found;
    EXPECT_EQ(typed.error().kind, base::ErrorKind::usage);
    EXPECT_NE(typed.error().found.find(each.found), std::string::npos) << typed.error().found;
    EXPECT_NE(typed.error().remedy.find(each.remedy), std::string::npos) << typed.error().remedy;
  }
}

TEST(Parse, AFlagWithoutItsValueIsAnError) { EXPECT_FALSE(parse({"profile", "rms_norm", "--dtype"}).ok()); }

TEST(Parse, HelpNeedsNoKernel) {
  auto typed = parse({"profile", "--help"});
  ASSERT_TRUE(typed.ok());
  EXPECT_TRUE(typed->help);
}

TEST(Tables, NamesAreUniqueAndEveryFlagIsUsed) {
  std::set<std::string> commands, flags, used;
  for (const CommandSpec& command : all_commands()) {
    EXPECT_TRUE(commands.insert(command.name).second) << command.name;
    for (const std::string& name : command.flags) used.insert(name);
  }
  for (const Flag& flag : all_flags()) {
    EXPECT_TRUE(flags.insert(flag.name).second) << flag.name;
    EXPECT_TRUE(used.count(flag.name)) << flag.name << " belongs to no command";
    EXPECT_FALSE(flag.help.empty() || flag.help.back() == '.') << flag.name;
    EXPECT_EQ(flag.kind == FlagKind::boolean, flag.value_name.empty()) << flag.name;
    EXPECT_EQ(flag.kind == FlagKind::integer, flag.least < flag.most) << flag.name;
    for (const std::string& other : flag.excludes) ASSERT_NE(find_flag(other), nullptr) << flag.name;
  }
}

}  // namespace
}  // namespace hone::cli

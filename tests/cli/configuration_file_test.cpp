// Configuration files: which one is found, what stands before what, and where a wrong one is wrong.
#include "cli/configuration_file.hpp"

#include <gmock/gmock.h>

#include <set>

#include "tests/cli/program_fixture.hpp"

namespace hone::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Configuration : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) { ASSERT_TRUE(files.write_atomically(path, text)); }
  base::Result<FlagDefaults> read(const std::string& command) {
    return read_configuration(files, *find_command(command), places);
  }
  std::vector<std::string> value(const std::string& command, const std::string& flag) {
    auto defaults = read(command);
    EXPECT_TRUE(defaults) << base::describe(defaults.error());
    return defaults && defaults->values.count(flag) ? defaults->values.at(flag) : std::vector<std::string>{"(none)"};
  }
  void expect_wrong(const std::string& text, const std::string& place, const std::string& found) {
    write("/disk/project/hone.toml", text);
    const auto defaults = read("profile");
    ASSERT_FALSE(defaults) << text;
    EXPECT_EQ(defaults.error().kind, base::ErrorKind::usage) << text;
    EXPECT_EQ(defaults.error().where, "/disk/project/hone.toml:" + place) << text;
    EXPECT_THAT(defaults.error().found, HasSubstr(found)) << text;
  }

  base::MemoryFiles files;
  ConfigurationPlaces places{"/disk/project/deep/folder", "", "/users/me/.config/hone/config.toml", "/users/me"};
};

TEST_F(Configuration, NoFileSetsNothing) {
  const auto defaults = read("profile");
  ASSERT_TRUE(defaults);
  EXPECT_THAT(defaults->files, IsEmpty());
  EXPECT_TRUE(defaults->values.empty());
}

TEST_F(Configuration, EveryKindOfFlagHasItsForm) {
  write("/disk/project/hone.toml", R"([defaults]
dtype = "bf16"
seed = 7
quick = true
sizes = [512, "4k"]
option = { casting_mode = "gemma", offset = 1 }
workspace = "out/tuning"
settings = "~/tuned"

[defaults.bench]
provider = ["native", "torch"]
)");
  EXPECT_THAT(value("profile", "--dtype"), ElementsAre("bf16"));
  EXPECT_THAT(value("profile", "--seed"), ElementsAre("7"));
  EXPECT_THAT(value("profile", "--quick"), IsEmpty());
  EXPECT_THAT(value("profile", "--sizes"), ElementsAre("512", "4096"));
  EXPECT_THAT(value("profile", "--option"), ElementsAre("casting_mode=gemma", "offset=1"));
  EXPECT_THAT(value("profile", "--workspace"), ElementsAre("/disk/project/out/tuning"));
  EXPECT_THAT(value("profile", "--settings"), ElementsAre("/users/me/tuned"));
  EXPECT_THAT(value("bench", "--provider"), ElementsAre("native", "torch"));
  EXPECT_THAT(value("list", "--dtype"), ElementsAre("(none)")) << "list does not take it";
}

TEST_F(Configuration, ACommandsOwnTableStandsBeforeTheGeneralOneAndTheProjectBeforeTheUser) {
  write("/disk/project/hone.toml",
        "[defaults]\ndtype = \"bf16\"\nquick = false\n[defaults.verify]\ndtype = \"fp16\"\n");
  write(places.user_file,
        "[defaults]\ndtype = \"fp32\"\nquick = true\nseed = 3\n[defaults.profile]\ndtype = \"fp16\"\n");
  EXPECT_THAT(value("verify", "--dtype"), ElementsAre("fp16"));
  EXPECT_THAT(value("profile", "--dtype"), ElementsAre("bf16"));
  EXPECT_THAT(value("profile", "--quick"), ElementsAre("(none)")) << "the project turns it off";
  EXPECT_THAT(value("profile", "--seed"), ElementsAre("3"));
  EXPECT_THAT(read("profile")->files, ElementsAre("/disk/project/hone.toml", places.user_file));
}

TEST_F(Configuration, OfTheProjectIsTheNearestWithDefaults) {
  write("/disk/hone.toml", "[defaults]\nseed = 1\n");
  write("/disk/project/hone.toml", "name = \"softmax\"\n");  // a manifest without defaults
  EXPECT_THAT(value("profile", "--seed"), ElementsAre("1"));
  write("/disk/project/deep/hone.toml", "[defaults]\nseed = 2\n");
  EXPECT_THAT(value("profile", "--seed"), ElementsAre("2"));
}

TEST_F(Configuration, OfTheRepositoryStandsBeforeThatOfTheCurrentFolder) {
  write("/disk/project/hone.toml", "[defaults]\nseed = 1\n");
  write("/kernels/softmax/hone.toml", "name = \"softmax\"\n[defaults]\nseed = 2\n");
  write("/kernels/softmax/cpu.toml", "name = \"softmax_cpu\"\n[defaults]\nseed = 3\n");
  places.repository = "/kernels/softmax";
  EXPECT_THAT(value("profile", "--seed"), ElementsAre("2"));
  places.repository = "/kernels/softmax/cpu.toml";
  EXPECT_THAT(value("profile", "--seed"), ElementsAre("3"));
  places.repository = "../../../elsewhere";
  EXPECT_THAT(value("profile", "--seed"), ElementsAre("1"));
}

TEST_F(Configuration, WhatIsWrongIsNamedWithItsPlace) {
  expect_wrong("[defaults]\ndtpye = \"bf16\"\n", "2:1", "'dtpye'");
  expect_wrong("[defaults]\n\n  variant = \"2\"\n", "3:3", "'variant'");  // of one call
  expect_wrong("[defaults.list]\nsizes = [4]\n", "2:1", "'sizes'");       // not of this command
  expect_wrong("[default]\nseed = 1\n", "1:2", "'default'");
  expect_wrong("seed = 1\n", "1:1", "'seed'");
  expect_wrong("[defaults]\ndtype = \"bf61\"\n", "2:9", "'bf61'");
  expect_wrong("[defaults]\nsizes = [512, \"4x\"]\n", "2:15", "'4x'");
  expect_wrong("[defaults]\nsizes = 512\n", "2:9", "an integer");
  expect_wrong("[defaults]\nquick = \"yes\"\n", "2:9", "a text");
  expect_wrong("[defaults]\nmax-variants = 0\n", "2:16", "'0'");
  expect_wrong("[defaults]\nmax-variants = \"8\"\n", "2:16", "a text");
  expect_wrong("[defaults]\nseed = \n", "2:8", "");
  expect_wrong("defaults = 1\n", "1:12", "an integer");
}

TEST_F(Configuration, KeysThatContradictEachOtherAreRefusedInOneTableAndTheNearerStandsOtherwise) {
  expect_wrong("[defaults]\nquiet = true\nverbose = true\n", "3:1", "both");
  expect_wrong("[defaults]\nseed = 1\n[defaults.bench]\nverbose = true\nquiet = true\n", "4:1", "both");
  expect_wrong("[defaults]\ncolor = \"always\"\nno-color = true\n", "3:1", "both");
  write("/disk/project/hone.toml", "[defaults]\nquiet = true\nverbose = false\n[defaults.list]\nverbose = true\n");
  write(places.user_file, "[defaults]\nverbose = true\n");
  EXPECT_THAT(value("profile", "--quiet"), IsEmpty());
  EXPECT_THAT(value("profile", "--verbose"), ElementsAre("(none)"));
  EXPECT_THAT(value("list", "--verbose"), IsEmpty());
  EXPECT_THAT(value("list", "--quiet"), ElementsAre("(none)"));
}

TEST_F(Configuration, AFolderWhereAFileIsLookedForIsRefused) {
  for (const std::string& path : {std::string("/disk/hone.toml"), places.user_file}) {
    ASSERT_TRUE(files.create_directories(path));
    const auto defaults = read("list");
    ASSERT_FALSE(defaults) << path;
    EXPECT_EQ(defaults.error().where, path);
    EXPECT_THAT(defaults.error().found, HasSubstr("folder"));
    EXPECT_THAT(defaults.error().remedy, HasSubstr("--no-config"));
    ASSERT_TRUE(files.remove_recursively(path));
  }
}

TEST_F(Configuration, AMisspeltKeyIsAnsweredWithTheNearest) {
  write(places.user_file, "[defaults]\nworkspce = \"w\"\n");
  const auto defaults = read("audit");  // every table is checked, whichever command asks
  ASSERT_FALSE(defaults);
  EXPECT_THAT(defaults.error().remedy, HasSubstr("did you mean workspace"));
  EXPECT_EQ(defaults.error().where, places.user_file + ":2:1");
}

TEST_F(Configuration, TheCommandLineStandsBeforeAllAndSoDoesWhatContradicts) {
  auto typed = parse({"profile", "rms_norm", "--dtype", "fp32", "--no-color", "--quick=false"});
  ASSERT_TRUE(typed);
  take_defaults(*typed, {{"--dtype", {"bf16"}}, {"--color", {"always"}}, {"--quick", {}}, {"--seed", {"5"}}});
  EXPECT_EQ(typed->text("--dtype"), "fp32");
  EXPECT_EQ(typed->text("--color"), "auto");
  EXPECT_FALSE(typed->has("--quick"));
  EXPECT_EQ(typed->text("--seed"), "5");
  EXPECT_TRUE(typed->has("--seed"));
  EXPECT_FALSE(typed->given("--seed"));
}

// A key is the name of a flag or of a command.
TEST(ConfigurationKeys, OfFlagsAndCommandsDiffer) {
  for (const CommandSpec& command : all_commands())
    EXPECT_EQ(find_flag("--" + command.name) == nullptr || find_flag("--" + command.name)->one_call, true)
        << command.name;
}

class ConfiguredProgram : public ProgramTest {
 protected:
  base::Outcome in_project(const std::string& command, const std::string& text) {
    EXPECT_TRUE(files_.write_atomically(folder_ / "project/hone.toml", text));
    std::filesystem::create_directories(folder_ / "project/below");
    return run_shell("cd \"$FOLDER/project/below\" && exec \"$HONE\" " + command);
  }
};

TEST_F(ConfiguredProgram, TakesItsDefaultsFromTheFileAndSaysWhich) {
  const std::string manifest = std::string(HONE_SOURCE_DIR) + "/examples/manifest/row_softmax_cpu.toml";
  const std::string text = "[defaults]\nrepo = \"" + manifest + "\"\n";
  const auto outcome = in_project("list --names -v", text);
  EXPECT_EQ(outcome.exit_status, 0) << outcome.error;
  EXPECT_EQ(outcome.output, "row_softmax_cpu\n");
  EXPECT_THAT(outcome.error, HasSubstr("configuration: " + folder_.path() + "/project/hone.toml"));
  EXPECT_THAT(in_project("list --names --no-config", text).output, HasSubstr("rms_norm\n"));
}

TEST_F(ConfiguredProgram, RefusesAWrongFileBeforeAnythingElse) {
  const auto outcome = in_project("run rms_norm --autonomous", "[defaults]\ndevcie = \"cpu\"\n");
  expect_refused(outcome, 2, "'devcie'");
  EXPECT_THAT(outcome.error, HasSubstr("hone.toml:2:1"));
  EXPECT_EQ(in_project("completions bash", "[defaults]\ndevcie = \"cpu\"\n").exit_status, 0) << "it needs no file";
}

TEST_F(ConfiguredProgram, AManifestMayHoldDefaultsToo) {
  const std::string source = std::string(HONE_SOURCE_DIR) + "/examples/manifest/";
  std::filesystem::copy(source, folder_ / "kernel");
  std::ofstream(folder_ / "kernel/row_softmax_cpu.toml", std::ios::app) << "\n[defaults]\njson = true\n";
  const auto outcome = run({"list", "--repo", folder_ / "kernel/row_softmax_cpu.toml"});
  EXPECT_EQ(outcome.exit_status, 0) << outcome.error;
  EXPECT_THAT(outcome.output, HasSubstr("\"hone.list/1\""));
}

}  // namespace
}  // namespace hone::cli

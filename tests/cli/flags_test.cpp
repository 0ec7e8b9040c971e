// Each flag does something: the built program says something else with it than without it. Nothing here measures.
#include "cli/flags.hpp"

#include <gmock/gmock.h>

#include "tests/cli/program_fixture.hpp"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// `words` end early, with or without the flag. `says` is said with the flag alone; or, where it begins with '!', without it alone.
struct Effect {
  std::vector<std::string> flag;  // the flag and its value
  std::vector<std::string> words;
  std::string says;
  std::map<std::string, std::string> environment = {};
};

class Flags : public ProgramTest {
 protected:
  Flags() {
    EXPECT_TRUE(files_.write_atomically(at("w/rms_norm/profile.json"), model::to_json(test::sample_profile())));
    EXPECT_TRUE(files_.write_atomically(at("w/rms_norm/comparison.json"), model::to_json(test::sample_comparison())));
    EXPECT_TRUE(files_.write_atomically(at("damaged/rms_norm.json"), "{"));
    EXPECT_TRUE(files_.write_atomically(at("configuration/hone/config.toml"), "[defaults]\ncolor = \"auto\"\n"));
    EXPECT_TRUE(files_.write_atomically(at("wrong/hone/config.toml"), "[defaults]\ncolour = \"never\"\n"));
    std::filesystem::copy(HONE_SOURCE_DIR "/examples/manifest", at("kernel"));
    const std::string source = *files_.read(at("kernel/row_softmax.cpp"));
    EXPECT_TRUE(files_.write_atomically(at("kernel/row_softmax.cpp"), source + "no C++\n"));
  }
  std::string at(const std::string& name) { return folder_ / name; }

  std::vector<Effect> effects() {
    const std::vector<std::string> optimize = {"optimize", "rms_norm", "--workspace", at("w")},
                                   finalize = {"finalize", "rms_norm", "--workspace", at("w")},
                                   verify = {"verify", "--repo", at("kernel/row_softmax_cpu.toml"), "--device", "cpu"},
                                   counters = {"counters",
                                               HONE_SOURCE_DIR "/tests/counters/fixtures/liger_ncu_details.csv"};
    const std::map<std::string, std::string> no_compiler = {{"PATH", at("bin")}, {"HONE_CXX", ""}, {"CXX", ""}};
    return {
        {{"--repo", at("nowhere")}, {"list"}, "where     " + at("nowhere")},
        {{"--device", "tpu"}, optimize, "found     'tpu'"},
        // Another request than the profile's is refused with what was understood; the advice below it repeats the words typed.
        {{"--dtype", "fp16"}, optimize, "found     --dtype fp16"},
        {{"--sizes", "3k"}, optimize, "found     --sizes 3072"},
        {{"--option", "casting_mode=gemma"}, optimize, "found     --option casting_mode=gemma"},
        {{"--goal", "memory"}, optimize, "found     --goal memory"},
        {{"--scope", "backward"}, optimize, "found     --scope backward"},
        {{"--target-gpu", "ada"}, optimize, "found     --target-gpu ada"},
        {{"--seed", "77"}, optimize, "found     --seed 77"},
        {{"--quick"}, optimize, "found     --quick given"},
        {{"--workspace", at("elsewhere")}, {"optimize", "rms_norm"}, "where     " + at("elsewhere/rms_norm")},
        {{"--settings", at("damaged")}, optimize, "where     " + at("damaged/rms_norm.json")},
        {{"--target-metric", "sideways < 1 ms"}, optimize, "sideways"},
        {{"--proposer", "no_such_program"}, optimize, "no_such_program"},
        {{"--variant", "99"}, finalize, "--variant"},
        {{"--commit"}, finalize, "--repo with --commit"},
        {{"--push"}, finalize, "--repo with --commit or --push"},
        {{"--autonomous"}, {"run", "rms_norm", "--workspace", at("new")}, "kernel compiler", no_compiler},
        {{"--provider", "cublas"}, {"bench", "rms_norm"}, "cublas", no_compiler},
        {{"--ceilings", at("none.json")}, counters, at("none.json")},
        {{"--svg", at("pictures")}, counters, at("pictures")},
        {{"--kernel", "no_such"}, {"compare", "v0", "v1", "--workspace", at("w")}, "found     'no_such'"},
        {{"--short"}, {"verify", "relu_squared", "--device", "cpu", "--dtype", "fp32", "--json"}, "16 x 256"},
        {{"--names"}, {"list"}, "rms_norm\n"},
        {{"--json"}, {"version"}, "hone.version/1"},
        {{"--quiet"}, verify, "!] verify row_softmax_cpu"},
        {{"--verbose"}, {"list"}, "configuration:"},
        {{"--color", "always"}, {"list"}, "\033["},
        {{"--no-color"}, {"list"}, "!\033[", {{"CLICOLOR_FORCE", "1"}}},
        {{"--no-config"}, {"list"}, "!colour", {{"XDG_CONFIG_HOME", at("wrong")}}},
        {{"--version"}, {"list"}, "hone 0."},
        {{"--help"}, {"list"}, "Show this help"},
    };
  }
};

// What only a whole run shows.
constexpr const char* kOfRuns[] = {"--fresh", "--max-variants"};

TEST_F(Flags, EachHasAnEffectThatIsSeen) {
  std::set<std::string> tried(std::begin(kOfRuns), std::end(kOfRuns));
  for (const Effect& effect : effects()) {
    const auto said = [&](bool with_flag) {
      std::vector<std::string> words = effect.words;
      if (with_flag) words.insert(words.end(), effect.flag.begin(), effect.flag.end());
      const base::Outcome outcome = run(words, effect.environment);
      return outcome.output + outcome.error;
    };
    const bool goes = effect.says.front() == '!';
    const std::string text = effect.says.substr(goes ? 1 : 0);
    EXPECT_THAT(said(!goes), HasSubstr(text)) << effect.flag.front();
    EXPECT_THAT(said(goes), Not(HasSubstr(text))) << effect.flag.front();
    EXPECT_TRUE(tried.insert(effect.flag.front()).second) << effect.flag.front() << " has two rows";
  }
  for (const Flag& flag : all_flags()) EXPECT_EQ(tried.count(flag.name), 1u) << flag.name << " has no row";
}

TEST_F(Flags, OfWholeRunsAreTriedInOne) {
  const std::string runs = *files_.read(HONE_SOURCE_DIR "/tests/cli/application_checkpoint_test.cpp");
  for (const char* flag : kOfRuns) EXPECT_THAT(runs, HasSubstr(std::string("\"") + flag + "\""));
}

}  // namespace
}  // namespace hone::cli

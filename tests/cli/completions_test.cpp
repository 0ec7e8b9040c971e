// Completion scripts: made from the tables, and that of bash run by bash with the words a user has typed.
#include "cli/completions.hpp"

#include <gmock/gmock.h>

#include "base/text.hpp"
#include "cli/flags.hpp"
#include "tests/cli/program_fixture.hpp"

namespace hone::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(Completions, KnowEveryCommandAndFlagInEveryShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    auto script = completion_script(shell);
    ASSERT_TRUE(script.ok()) << shell;
    for (const CommandSpec& command : all_commands()) {
      EXPECT_NE(script->find(command.name), std::string::npos) << shell << " " << command.name;
      for (const std::string& name : command.flags) {
        EXPECT_NE(script->find(name.substr(2)), std::string::npos) << shell << " " << name;
        for (const std::string& choice : find_flag(name)->choices)
          EXPECT_NE(script->find(choice), std::string::npos) << shell << " " << name << " " << choice;
      }
    }
  }
}

TEST(Completions, OfAnUnknownShellAreAUsageError) {
  auto script = completion_script("tcsh");
  ASSERT_FALSE(script.ok());
  EXPECT_EQ(script.error().kind, base::ErrorKind::usage);
}

class BashCompletions : public ProgramTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "my kernels/captures of today");
    std::filesystem::copy(std::string(HONE_SOURCE_DIR) + "/examples/manifest/hone.toml",
                          folder_ / "my kernels/hone.toml");
    for (const char* name : {"a file.csv", "a file (2).csv", "other.csv"})
      std::ofstream(folder_ / (std::string("my kernels/") + name)) << "\n";
  }

  // What bash offers for these words, the last being typed. As readline does, words are given split at '=' and ':'.
  std::vector<std::string> offered(const std::vector<std::string>& words) {
    std::string script =
        "source <(\"$HONE\" completions bash)\ncompopt() { :; }\ncd \"$FOLDER/my kernels\"\nCOMP_WORDS=(\"$HONE\"";
    for (const std::string& word : words) script += " $'" + escaped(word) + "'";
    script +=
        ")\nCOMP_CWORD=" + std::to_string(words.size()) + "\n_hone || exit 9\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    std::ofstream(folder_ / "complete.bash") << script;
    const base::Outcome outcome = run_shell("exec bash \"$FOLDER/complete.bash\"");
    EXPECT_EQ(outcome.exit_status, 0) << outcome.error;
    EXPECT_EQ(outcome.error, "");
    std::vector<std::string> lines = base::split(outcome.output, '\n');
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    return lines;
  }

 private:
  static std::string escaped(const std::string& word) {
    std::string out;
    for (char c : word) out += c == '\\' || c == '\'' ? std::string("\\") + c : std::string(1, c);
    return out;
  }
};

TEST_F(BashCompletions, OfferCommandsAndFlags) {
  EXPECT_THAT(offered({"pro"}), ElementsAre("profile"));
  EXPECT_THAT(offered({""}), IsSupersetOf({"run", "doctor", "completions"}));
  EXPECT_THAT(offered({"counters", "--c"}), ElementsAre("--ceilings", "--color"));
  EXPECT_THAT(offered({"list", "-"}), IsSupersetOf({"-v", "-q", "-V", "--names"}));
  EXPECT_THAT(offered({"list", "--max"}), IsEmpty());
}

TEST_F(BashCompletions, OfferValuesAlsoBehindAnEqualsSignAndInALists) {
  EXPECT_THAT(offered({"profile", "--dtype", ""}), ElementsAre("fp32", "fp16", "bf16"));
  EXPECT_THAT(offered({"profile", "--dtype", "=", "bf"}), ElementsAre("bf16"));
  EXPECT_THAT(offered({"profile", "--dtype", "="}), ElementsAre("fp32", "fp16", "bf16"));
  EXPECT_THAT(offered({"profile", "rms_norm", "--device", "cu"}), ElementsAre("cuda:0"));
  EXPECT_THAT(offered({"profile", "rms_norm", "--device", "cuda", ":", ""}), ElementsAre("0"));
  EXPECT_THAT(offered({"bench", "--provider", "native,to"}), ElementsAre("native,torch"));
  EXPECT_THAT(offered({"completions", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(offered({"history", "--workspace", "w", "re"}), ElementsAre("regressions"));
  EXPECT_THAT(offered({"history", "show", ""}), IsEmpty());
}

TEST_F(BashCompletions, OfferKernelsOfTheRepositoryInUse) {
  const auto built_in = offered({"run", "--quick", ""});
  EXPECT_THAT(built_in, IsSupersetOf({"rms_norm", "swiglu"}));
  EXPECT_THAT(built_in, Not(Contains("row_softmax")));
  EXPECT_THAT(offered({"bench", "rms_norm", "swi"}), ElementsAre("swiglu"));
  EXPECT_THAT(offered({"run", "--repo", ".", ""}), ElementsAre("row_softmax"));
  EXPECT_THAT(offered({"run", "--repo", "=", "../my\\ kernels", "ro"}), ElementsAre("row_softmax"));
  EXPECT_THAT(offered({"run", "--repo", "\"../my kernels\"", "--dtype", "fp32", ""}), ElementsAre("row_softmax"));
  EXPECT_THAT(offered({"history", "--kernel", "rms_n"}), ElementsAre("rms_norm"));
}

TEST_F(BashCompletions, OfferFilesWithSpacesAsTheyAreCalled) {
  EXPECT_THAT(offered({"counters", "a"}), ::testing::UnorderedElementsAre("a file.csv", "a file (2).csv"));
  EXPECT_THAT(offered({"counters", "a\\ file\\ "}), ElementsAre("a file (2).csv"));
  EXPECT_THAT(offered({"counters", "\"a file."}), ElementsAre("a file.csv"));
  EXPECT_THAT(offered({"profile", "--workspace", ""}), ElementsAre("captures of today"));
  EXPECT_THAT(offered({"profile", "--repo", "hone"}), ElementsAre("hone.toml"));
}

TEST_F(BashCompletions, RunNothingOfWhatWasTyped) {
  (void)offered({"run", "--repo", "$(touch ran)`touch ran`", ""});
  (void)offered({"counters", "$(touch ran)"});
  EXPECT_FALSE(files_.exists(folder_ / "my kernels/ran"));
}

TEST_F(BashCompletions, AreValidInEveryShellThatIsHere) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    if (!processes_.find(shell)) continue;
    const std::string name = shell;
    const auto outcome =
        run_shell("\"$HONE\" completions " + name + " >\"$FOLDER/script\" && exec " + name + " -n \"$FOLDER/script\"");
    EXPECT_EQ(outcome.exit_status, 0) << shell << ": " << outcome.error;
  }
}

}  // namespace
}  // namespace hone::cli

// The built program with bad input: one screen that says what to do, the exit code by contract, and nothing left behind.
#include <gmock/gmock.h>

#include "base/file_lock.hpp"
#include "tests/cli/program_fixture.hpp"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

class BadInput : public ProgramTest {};

TEST_F(BadInput, AnUnknownKernelIsAnsweredWithTheNearest) {
  for (const char* command : {"profile", "optimize", "finalize", "run"}) {
    const base::Outcome outcome = run({command, "rms_nrom", "--workspace", folder_ / "w"});
    expect_refused(outcome, 2, "'rms_nrom'");
    EXPECT_NE(outcome.error.find("rms_norm"), std::string::npos) << command;
  }
  EXPECT_FALSE(files_.exists(folder_ / "w"));
}

TEST_F(BadInput, ADeviceThatCanNotBeIsAnsweredWithWhatCan) {
  for (const char* device : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:0x0", "cuda:99999999999"})
    expect_refused(run({"verify", "rms_norm", "--device", device}), 2, device);
  // 1023: more GPUs than any machine has, so that the error is the same with a driver and without.
  const base::Outcome outcome = run({"verify", "rms_norm", "--device", "cuda:1023"});
  EXPECT_EQ(outcome.exit_status, 3) << outcome.error;
  EXPECT_NE(outcome.error.find("to do"), std::string::npos) << outcome.error;
}

TEST_F(BadInput, AbsurdSizesAreRefusedBeforeAnythingIsMade) {
  for (const char* size : {"0", "-4", "4x", "99999999999", "99999999999999999999999"})
    EXPECT_EQ(run({"profile", "rms_norm", std::string("--sizes=") + size, "--workspace", folder_ / "w"}).exit_status, 2)
        << size;
  EXPECT_FALSE(files_.exists(folder_ / "w"));
}

TEST_F(BadInput, UnknownFlagValuesAndOptionsAreUsageErrors) {
  expect_refused(run({"profile", "rms_norm", "--dtype", "int8"}), 2, "'int8'");
  expect_refused(run({"profile", "rms_norm", "--device", "tpu"}), 2, "'tpu'");
  expect_refused(run({"profile", "rms_norm", "--option", "casting_mode=lama", "--workspace", folder_ / "w"}), 2,
                 "lama");
  expect_refused(run({"bench", "rms_norm", "--provider", "cublas"}), 2, "'cublas'");
}

TEST_F(BadInput, AMissingCompilerIsAPreflightErrorWithItsRemedy) {
  const base::Outcome outcome =
      run({"profile", "rms_norm", "--quick", "--workspace", folder_ / "w"}, {{"HONE_CXX", folder_ / "no-compiler"}});
  expect_refused(outcome, 3, "kernel compiler");
  EXPECT_NE(outcome.error.find("apt-get install g++"), std::string::npos) << outcome.error;
  EXPECT_FALSE(files_.exists(folder_ / "w"));
}

// A script that forgets --autonomous must not take a profile for the whole job.
TEST_F(BadInput, ARunOfAllStagesNeedsSomebodyToAskOrAutonomous) {
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--json"}}) {
    std::vector<std::string> words = {"run", "relu_squared", "--quick", "--sizes", "64", "--workspace", folder_ / "w"};
    words.insert(words.end(), more.begin(), more.end());
    const base::Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_status, 2) << outcome.error;
    EXPECT_NE(outcome.error.find("add --autonomous"), std::string::npos) << outcome.error;
  }
  EXPECT_FALSE(files_.exists(folder_ / "w/relu_squared/profile.json"));
}

TEST_F(BadInput, AWorkspaceBelowAFileCanNotBeMade) {
  ASSERT_TRUE(files_.write_atomically(folder_ / "file", "text").ok());
  expect_refused(run({"profile", "rms_norm", "--quick", "--workspace", folder_ / "file"}), 3, "directory");
}

TEST_F(BadInput, AWorkspaceThatCanNotBeWrittenIsRefused) {
  expect_refused(run({"profile", "rms_norm", "--quick", "--workspace", "/proc/hone"}), 3, "/proc/hone");
}

TEST_F(BadInput, AWorkspaceWhereAnotherRunIsAtWorkIsRefused) {
  auto other = base::FileLock::claim(folder_ / "w/rms_norm");
  ASSERT_TRUE(other);
  ASSERT_TRUE((*other)->held());
  for (const char* command : {"profile", "optimize", "finalize", "run"})
    expect_refused(run({command, "rms_norm", "--quick", "--autonomous", "--workspace", folder_ / "w"}), 3,
                   "works in it");
  expect_refused(run({"compare", folder_ / "w/rms_norm/v0", folder_ / "w/rms_norm/v1"}), 3, "works in it");
  EXPECT_FALSE(files_.exists(folder_ / "w"));
}

TEST_F(BadInput, ThePassesOfAKernelRunForAProfilerOnlyAsAskedInFull) {
  const std::vector<std::string> good = {"counter-pass", "cpu",     "native", folder_ / "s", "rms_norm", "fp32",
                                         "64",           "forward", "1",      "2",           "0"};
  EXPECT_EQ(run(good).exit_status, 0) << run(good).error;
  EXPECT_EQ(run({"counter-pass"}).exit_status, 2);
  EXPECT_EQ(run({good.begin(), good.end() - 1}).exit_status, 2);
  std::vector<std::string> unknown = good;
  unknown[4] = "rms_nrom";
  const base::Outcome outcome = run(unknown);
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_NE(outcome.error.find("'rms_nrom'"), std::string::npos) << outcome.error;
}

TEST_F(BadInput, AnOutputThatTakesNothingIsAnError) {
  const base::Outcome outcome = run_shell("exec \"$HONE\" list >/dev/full");
  expect_refused(outcome, 3, "standard output");
}

TEST_F(BadInput, WithoutACompilerOnThePathTheErrorSaysWhatToInstall) {
  const std::map<std::string, std::string> nowhere = {
      {"PATH", folder_ / "bin"}, {"HONE_CXX", ""}, {"CXX", ""}, {"HONE_CACHE_DIR", folder_ / "cache"}};
  for (const char* command : {"profile", "run", "bench", "verify"}) {
    std::vector<std::string> words = {command, "rms_norm"};
    if (words[0] == "profile" || words[0] == "run")
      words.insert(words.end(), {"--quick", "--autonomous", "--workspace", folder_ / "w"});
    expect_refused(run(words, nowhere), 3, words.size() > 2 ? "kernel compiler" : "neither c++, g++ nor clang++");
  }
  EXPECT_FALSE(files_.exists(folder_ / "w"));
}

TEST_F(BadInput, AnUnknownOperationOfACheckoutIsAnsweredWithTheNearest) {
  const std::string source =
      "import triton\n\n\n@triton.jit\ndef _kernel(x_ptr):\n    pass\n\n\ndef forward(x):\n    _kernel[(1,)](x)\n";
  ASSERT_TRUE(files_.write_atomically(folder_ / "checkout/src/liger_kernel/ops/rms_norm.py", source).ok());
  for (const char* command : {"profile", "optimize", "finalize", "run"}) {
    const base::Outcome outcome =
        run({command, "rms_nrom", "--repo", folder_ / "checkout", "--workspace", folder_ / "w"});
    expect_refused(outcome, 2, "'rms_nrom'");
    EXPECT_NE(outcome.error.find("did you mean rms_norm"), std::string::npos) << command << outcome.error;
  }
  EXPECT_FALSE(files_.exists(folder_ / "w"));
}

TEST_F(BadInput, AFlagWithNothingBehindItsEqualsSignDoesNotTakeTheNextWord) {
  const base::Outcome outcome = run_shell(R"(cd "$FOLDER" && exec "$HONE" optimize rms_norm --workspace=$UNSET -v)");
  expect_refused(outcome, 2, "an empty one");
  expect_refused(run({"list", "--repo=", "-v"}), 2, "an empty one");
}

TEST_F(BadInput, AStageWithoutItsInputsNamesTheCommandThatMakesThemAndMakesNothing) {
  for (const char* command : {"optimize", "finalize"})
    expect_refused(run({command, "rms_norm", "--workspace", folder_ / "w"}), 3,
                   "'hone profile rms_norm --workspace " + (folder_ / "w") + "'");
  expect_refused(run({"compare", folder_ / "w/rms_norm/v0", folder_ / "w/rms_norm/v1"}), 3, "hone profile rms_norm");
  EXPECT_FALSE(files_.exists(folder_ / "w"));
}

TEST_F(BadInput, ATruncatedProfileIsRefused) {
  ASSERT_TRUE(
      files_.write_atomically(folder_ / "w/rms_norm/profile.json", "{\"schema\": \"hone.profile/1\", \"kernel\"").ok());
  const auto before = content_of(folder_ / "w");
  expect_refused(run({"optimize", "rms_norm", "--workspace", folder_ / "w"}), 3, "profile.json");
  EXPECT_EQ(content_of(folder_ / "w"), before);
}

// Documents as an earlier run leaves them, on another machine and for another version of the source.
class BadWorkspace : public ProgramTest {
 protected:
  BadWorkspace() {
    write("profile.json", model::to_json(test::sample_profile()));
    write("comparison.json", model::to_json(test::sample_comparison()));
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(files_.write_atomically(folder_ / ("w/rms_norm/" + name), text).ok());
  }
  // Refused with exit code 3, and every byte of the workspace as it was.
  void expect_refused_untouched(const std::string& command, const std::string& found) {
    const auto before = content_of(folder_ / "w");
    expect_refused(run({command, "rms_norm", "--workspace", folder_ / "w", "--autonomous"}), 3, found);
    EXPECT_EQ(content_of(folder_ / "w"), before) << command;
  }
};

TEST_F(BadWorkspace, OfAnotherKernelIsRefused) {
  model::Profile profile = test::sample_profile();
  profile.kernel = profile.identity.kernel = "swiglu";
  write("profile.json", model::to_json(profile));
  for (const char* command : {"profile", "optimize", "finalize", "run"}) expect_refused_untouched(command, "swiglu");
}

TEST_F(BadWorkspace, OfAnOlderSchemaIsRefused) {
  write("comparison.json", "{\"schema\": \"hone.comparison/0\", \"kernel\": \"rms_norm\"}\n");
  for (const char* command : {"profile", "optimize", "finalize", "run"})
    expect_refused_untouched(command, "hone.comparison/0");
  write("profile.json", "{\"schema\": \"hone.profile/0\", \"kernel\": \"rms_norm\"}\n");
  for (const char* command : {"profile", "optimize", "finalize", "run"})
    expect_refused_untouched(command, "hone.profile/0");
}

TEST_F(BadWorkspace, AProfileOfAnotherSourceOrDeviceIsRefused) { expect_refused_untouched("optimize", "a profile of"); }

TEST_F(BadWorkspace, AProfileEditedByHandIsRefusedWithTheField) {
  const std::string whole = model::to_json(test::sample_profile());
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    EXPECT_NE(text.find(from), std::string::npos) << from;
    return text.replace(text.find(from), from.size(), to);
  };
  write("profile.json", edited("\"memory-bound\"", "\"memory-bonud\""));
  expect_refused_untouched("optimize", "memory-bonud");
  write("profile.json", edited("\"p50\":", "\"p50\": \"fast\", \"was\":"));
  expect_refused_untouched("optimize", "p50");
  write("profile.json", edited("\"baseline\":", "\"base\":"));
  expect_refused_untouched("finalize", "baseline");
}

TEST_F(BadWorkspace, FinalizeListsEveryInputThatIsMissing) {
  const std::string winner = test::sample_comparison().winner;
  for (const std::string& name : {"rms_norm_" + winner + "_settings.json", "rms_norm_" + winner + "_notes.md",
                                  std::string("original_rms_norm.hpp")})
    expect_refused_untouched("finalize", name);
}

TEST_F(BadWorkspace, AVariantThatIsNotThereIsAUsageError) {
  const auto before = content_of(folder_ / "w");
  for (const char* variant : {"99", "v99", "4"})
    expect_refused(run({"finalize", "rms_norm", "--variant", variant, "--workspace", folder_ / "w"}), 2, "--variant");
  EXPECT_EQ(content_of(folder_ / "w"), before);
}

TEST_F(BadInput, WhatAMessageQuotesIsShortened) {
  const std::string word(100'000, 'x');
  std::string spaced, accents;
  while (spaced.size() < word.size()) spaced += "many words ";
  while (accents.size() < word.size()) accents += "\xC3\xA9";
  ASSERT_TRUE(
      files_.write_atomically(folder_ / "p/hone.toml", "[defaults]\ndtype = \"" + word.substr(0, 3000) + "\"\n"));
  for (const std::string& each : {word, spaced, accents})
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {each},
             {"--" + each},
             {"--repo", each, "list"},
             {"list", "--repo", each},
             {"explain", each},
             {"verify", each},
             {"audit", each},
             {"verify", "rms_norm", "--dtype", each},
             {"counters", each},
             {"schema", each},
             {"profile", "rms_norm", "--option", "casting_mode=" + each, "--workspace", folder_ / "w"},
             {"run", "rms_norm", "--autonomous", "--target-metric", each, "--workspace", folder_ / "w"}}) {
      std::vector<std::string> with_json = words;
      with_json.push_back("--json");
      const base::Outcome outcome = run(with_json);
      EXPECT_EQ(outcome.exit_status, 2) << words[0].substr(0, 80);
      EXPECT_THAT(outcome.error, HasSubstr("characters left out)")) << words[0].substr(0, 80);
      EXPECT_LT(outcome.error.size(), 20'000u);
      EXPECT_LT(outcome.output.size(), 20'000u);
      EXPECT_TRUE(nlohmann::json::accept(outcome.output)) << "no character is cut in two";
    }
  const base::Outcome file = run_shell("cd \"$FOLDER/p\" && exec \"$HONE\" list");
  EXPECT_THAT(file.error, HasSubstr("'xxxx"));
  EXPECT_THAT(file.error, HasSubstr("...(2702 characters left out)...xxxx"));
  EXPECT_THAT(file.error, HasSubstr("xxxx'"));
}

TEST_F(BadInput, WithJsonTheErrorIsADocumentToo) {
  const base::Outcome outcome = run({"profile", "rms_nrom", "--json"});
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_NE(outcome.output.find("\"hone.error/1\""), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace hone::cli

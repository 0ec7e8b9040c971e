// A disk that fills up under a run of the built program, and production that changes between two stages: one-screen errors,
// production whole, and the next run finishes. The disk is a small file system in memory; where the system allows no such
// mount, the same failures are tried on the file system of tests/stages alone.
#include <gmock/gmock.h>

#include "repository/native/settings_store.hpp"
#include "tests/cli/program_fixture.hpp"

namespace hone::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kRun = "relu_squared --quick --sizes 64,128 --scope forward --max-variants 1 --autonomous";

class FullDisk : public ProgramTest {
 protected:
  void SetUp() override {
    const base::Outcome mounted = run_shell(in_namespace("df \"$FOLDER/disk\" >/dev/null"));
    if (mounted.exit_status != 0) GTEST_SKIP() << "no file system in memory can be mounted here: " << mounted.error;
  }
  // The script with a disk of 20 MiB at $FOLDER/disk that nobody else sees.
  static std::string in_namespace(const std::string& script) {
    return "mkdir -p \"$FOLDER/disk\"; export SCRIPT='" + script +
           "'; exec unshare -m sh -c 'mount -t tmpfs -o size=20M hone-test \"$FOLDER/disk\" && eval \"$SCRIPT\"'";
  }
  // Installed settings that leave something to gain, so that finalize has a winner to install.
  std::string install_worse_settings(const std::string& device) {
    repository::native::InstalledEntry entry{device, "fp32", {}, "measured on another machine", "", ""};
    entry.variant.id = "v1";
    entry.variant.strategy = "parameter-sweep";
    model::SettingsFunction function;
    function.x_name = "hidden_size";
    function.rules = {{0,
                       {{"BLOCK_ROW", 1},
                        {"PREFETCH", 0},
                        {"STREAMING_STORES", 0},
                        {"UNROLL", 1},
                        {"VECTOR_BYTES", 32},
                        {"num_threads", 1}},
                       "measured on another machine"}};
    entry.variant.settings["forward"] = function;
    const repository::native::SettingsStore store(files_, folder_ / "settings");
    const auto text = store.text_with("relu_squared", entry);
    EXPECT_TRUE(text.ok());
    EXPECT_TRUE(files_.write_atomically(folder_ / "settings/relu_squared.json", *text).ok());
    return *text;
  }
  // The name under which settings of this machine are kept, as a profile tells it.
  std::string device_name() {
    const auto profile = files_.read(folder_ / "first/relu_squared/profile.json");
    EXPECT_TRUE(profile.ok());
    const auto parsed = model::parse_profile(*profile, "profile.json");
    EXPECT_TRUE(parsed.ok());
    return parsed->device.name;
  }
  std::string settings() { return *files_.read(folder_ / "settings/relu_squared.json"); }
};

TEST_F(FullDisk, WithoutSpaceAWorkspaceIsRefusedBeforeAnythingIsMade) {
  const base::Outcome outcome =
      run_shell(in_namespace("head -c 12000000 /dev/zero >\"$FOLDER/disk/other\"; \"$HONE\" profile rms_norm --quick "
                             "--workspace \"$FOLDER/disk/w\"; "
                             "code=$?; ls \"$FOLDER/disk/w\" | sed s/^/left=/ >&2; exit $code"));
  expect_refused(outcome, 3, "16 MiB free");
  EXPECT_EQ(outcome.error.find("left="), std::string::npos) << outcome.error;
}

TEST_F(FullDisk, OfTheCompiledProgramsCostsTheNextRunACompilationAndThisOneANote) {
  const base::Outcome outcome =
      run_shell(in_namespace("cat /dev/zero >\"$FOLDER/disk/other\" 2>/dev/null; "
                             "HONE_CACHE_DIR=\"$FOLDER/disk/cache\" exec \"$HONE\" verify relu_squared --device cpu"));
  EXPECT_EQ(outcome.exit_status, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("compiled programs are not kept"));
  EXPECT_THAT(outcome.error, HasSubstr("HONE_CACHE_DIR"));
}

TEST_F(FullDisk, OfTemporaryFilesIsAnErrorThatNamesTmpdir) {
  const base::Outcome outcome = run_shell(in_namespace(
      "cat /dev/zero >\"$FOLDER/disk/other\" 2>/dev/null; HONE_CACHE_DIR=\"$FOLDER/cache\" TMPDIR=\"$FOLDER/disk\" "
      "\"$HONE\" verify relu_squared --device cpu; code=$?; ls \"$FOLDER/disk\" | sed s/^/left=/ >&2; exit $code"));
  expect_refused(outcome, 3, "No space left on device");
  EXPECT_THAT(outcome.error, HasSubstr("TMPDIR"));
  EXPECT_EQ(outcome.error.find("left=hone"), std::string::npos) << outcome.error;
}

// A disk that takes nothing, with and without a workspace on it: the same answer for root and everybody else.
TEST_F(FullDisk, MountedReadOnlyIsRefusedByEveryStage) {
  const base::Outcome outcome = run_shell(in_namespace(
      R"(mkdir -p "$FOLDER/disk/w/rms_norm"; echo "{}" >"$FOLDER/disk/w/rms_norm/notes"; mount -o remount,ro "$FOLDER/disk"
for kernel in rms_norm swiglu; do for command in profile run; do
  "$HONE" $command $kernel --quick --autonomous --workspace "$FOLDER/disk/w"; echo "code=$?" >&2
done; done
for command in optimize finalize; do "$HONE" $command rms_norm --workspace "$FOLDER/disk/w"; echo "code=$?" >&2; done)"));
  int refused = 0;
  for (std::size_t at = 0; (at = outcome.error.find("Read-only file system", at)) != std::string::npos; ++at) ++refused;
  EXPECT_EQ(refused, 6) << outcome.error;
  refused = 0;
  for (std::size_t at = 0; (at = outcome.error.find("code=3", at)) != std::string::npos; ++at) ++refused;
  EXPECT_EQ(refused, 6) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("choose a folder on another disk"));
}

TEST_F(FullDisk, InTheMiddleOfOptimizeIsAnErrorAndTheNextRunGoesOn) {
  const base::Outcome outcome =
      run_shell(in_namespace(std::string("\"$HONE\" run ") + kRun + R"( --workspace "$FOLDER/disk" 2>"$FOLDER/err" &
pid=$!
while kill -0 $pid 2>/dev/null && ! test -s "$FOLDER/disk/relu_squared/journal.jsonl"; do sleep 0.01; done
cat /dev/zero >"$FOLDER/disk/other" 2>/dev/null
wait $pid; echo "first=$?" >&2
for name in profile comparison; do
  test ! -f "$FOLDER/disk/relu_squared/$name.json" || tail -c 2 "$FOLDER/disk/relu_squared/$name.json" | grep -q "}" || echo "torn=$name" >&2
done
cat "$FOLDER/err" >&2
rm "$FOLDER/disk/other"
"$HONE" run )" + kRun + R"( --workspace "$FOLDER/disk" >&2; echo "second=$?" >&2)"));
  EXPECT_THAT(outcome.error, HasSubstr("first=3")) << outcome.error;
  // On a noisy machine optimize may have had nothing to try: then it is the next stage that finds the disk full.
  EXPECT_THAT(outcome.error, AnyOf(HasSubstr("No space left on device"), HasSubstr("16 MiB free")));
  EXPECT_THAT(outcome.error, HasSubstr("to do"));
  EXPECT_THAT(outcome.error, HasSubstr("going on with the profile of"));
  EXPECT_THAT(outcome.error, AnyOf(HasSubstr("second=0"), HasSubstr("second=4")));
  EXPECT_EQ(outcome.error.find("torn="), std::string::npos);
}

TEST_F(FullDisk, InTheMiddleOfFinalizeLeavesTheOldSettingsOrTheNextRunTakesTheNewOnesBack) {
  ASSERT_EQ(run({"profile", "relu_squared", "--quick", "--sizes", "64", "--workspace", folder_ / "first"}).exit_status,
            0);
  const std::string old = install_worse_settings(device_name());
  const base::Outcome outcome =
      run_shell(in_namespace(std::string("\"$HONE\" run ") + kRun + R"( --workspace "$FOLDER/disk" 2>"$FOLDER/err" &
pid=$!
while kill -0 $pid 2>/dev/null && ! grep -q applied "$FOLDER/disk/relu_squared/install/journal.jsonl" 2>/dev/null; do sleep 0.01; done
test -d "$FOLDER/disk/relu_squared/install" && echo "installing" >&2
cat /dev/zero >"$FOLDER/disk/other" 2>/dev/null
wait $pid; echo "first=$?" >&2
cat "$FOLDER/err" >&2
cp "$FOLDER/settings/relu_squared.json" "$FOLDER/between.json"
rm "$FOLDER/disk/other"
"$HONE" run )" + kRun + R"( --workspace "$FOLDER/disk" >&2; echo "second=$?" >&2)"));
  if (outcome.error.find("installing") == std::string::npos)
    GTEST_SKIP() << "too noisy to find a winner: " << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("first=3")) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("No space left on device"));
  EXPECT_EQ(*files_.read(folder_ / "between.json"), old) << outcome.error;
  EXPECT_THAT(outcome.error, AnyOf(HasSubstr("second=0"), HasSubstr("second=4")));
}

TEST_F(ProgramTest, ProductionThatChangedSinceTheProfileStopsAnAutonomousRun) {
  const std::string workspace = folder_ / "w";
  ASSERT_EQ(run({"profile", "relu_squared", "--quick", "--sizes", "64", "--scope", "forward", "--workspace", workspace})
                .exit_status,
            0);
  ASSERT_TRUE(
      files_
          .write_atomically(folder_ / "settings/relu_squared.json",
                            "{\"schema\": \"hone.settings/1\", \"kernel\": \"relu_squared\", \"entries\": []}\n")
          .ok());
  const auto before = content_of(workspace);
  expect_refused(run({"optimize", "relu_squared", "--workspace", workspace, "--autonomous"}), 3, "source");
  EXPECT_EQ(content_of(workspace), before);
}

TEST_F(ProgramTest, AProposerThatDeletesItsFolderPrintsMegabytesAndFailsEndsNothing) {
  const std::string workspace = folder_ / "w";
  ASSERT_EQ(run({"profile", "relu_squared", "--quick", "--sizes", "64", "--scope", "forward", "--workspace", workspace})
                .exit_status,
            0);
  const base::Outcome outcome =
      run({"optimize", "relu_squared", "--workspace", workspace, "--autonomous", "--json", "--proposer",
           "sh -c 'head -c 5000000 /dev/zero | tr \"\\0\" x; rm -rf \"$1\"; echo no such model >&2; exit 1' proposer"});
  EXPECT_EQ(outcome.exit_status, 0) << outcome.error;
  const auto comparison = model::parse_comparison(outcome.output, "standard output");
  ASSERT_TRUE(comparison.ok()) << outcome.output.substr(0, 500);
  EXPECT_LT(outcome.output.size(), 1'000'000u);
  EXPECT_GE(expect_all_published(workspace), 10) << "profile, comparison, variants, and lines of the journal";
}

}  // namespace
}  // namespace hone::cli

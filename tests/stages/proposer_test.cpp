// The outside proposer: whatever it does is an answer, and nothing it does ends the run.
#include "stages/optimize/proposer.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/text.hpp"
#include "tests/stages/stage_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Runs real programs on a real disk.
class Proposer : public ::testing::Test, protected ScriptedPorts<base::SystemFiles, base::SystemProcesses> {
 protected:
  Proposer() {
    make_tunable(session);
    kernel.installed_file = folder / "production.json";
    kernel.sizes = {"1024", "4096"};
    session.held_out.clear();
    kernel.modes = {"forward"};
    profile = profile_of(session, session, {});
  }

  base::Result<stages::OptimizeOutcome> run(const std::string& script, std::int64_t deadline_ms = 20'000) {
    EXPECT_TRUE(files.write_atomically(folder / "propose.sh", script));
    stages::OptimizeOptions o;
    o.autonomous = true;
    o.proposer = "sh '" + (folder / "propose.sh") + "'";
    o.proposer_deadline_ms = deadline_ms;
    return stages::optimize(stages::Kernel::of(session), profile, o,
                            *stages::Workspace::open(files, folder / "w", kernel.name), ports);
  }

  // The finding about a proposer that gave nothing usable; the run itself must have come to its end with v1.
  std::string finding(const std::string& script, std::int64_t deadline_ms = 20'000) {
    const auto outcome = run(script, deadline_ms);
    EXPECT_TRUE(outcome) << (outcome ? "" : base::describe(outcome.error()));
    if (!outcome) return "";
    EXPECT_EQ(outcome->comparison.winner, "v1");
    EXPECT_EQ(outcome->comparison.variants.size(), 1u);
    for (const std::string& learning : outcome->comparison.learnings) {
      if (learning.rfind("proposer", 0) == 0) return learning;
    }
    return "none";
  }

  TemporaryFolder folder;
  FakeSession session{files};
  FakeKernel& kernel = session.kernel;
  model::Profile profile;
};

TEST_F(Proposer, AProposalGoesThroughTheSameGates) {
  kernel.sources["faster\n"] = {0.9, 0.9};
  const auto outcome = run(
      "cd \"$1\" || exit 3\n"
      "test -f profile.json && test -f request.json && test -f rms_norm.hpp && test -f notes/rms_norm_v1_notes.md || "
      "exit 4\n"
      "grep -q '\"v2\"' request.json && exit 10\n"
      "echo faster > variant.hpp\n"
      "printf 'fewer loads\\n\\npredict forward @ 4096 = 0.91\\npredict sideways @ 4096 = 0.5\\n' > hypothesis.md\n");
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  ASSERT_EQ(outcome->comparison.variants.size(), 2u);
  const auto& v2 = outcome->comparison.variants[1];
  EXPECT_EQ(v2.strategy, "proposer");
  EXPECT_EQ(v2.status, model::VariantStatus::accepted) << v2.reason;
  const auto& notes = documents.notes.back();
  ASSERT_EQ(notes.predictions.size(), 1u);
  EXPECT_EQ(notes.predictions[0].ratio, 0.91);
  EXPECT_THAT(notes.diff, HasSubstr("+faster"));
  EXPECT_THAT(outcome->comparison.learnings, Contains(HasSubstr("nothing more to propose")));
  EXPECT_TRUE(files.exists(folder / "w/rms_norm/rms_norm_v2.hpp"));
}

TEST_F(Proposer, AWrongProposalIsRejectedWithItsReason) {
  kernel.sources["wrong\n"] = {0.5, 0.5, 1, true, true, false, "y[0][3]: error 2 > bound 0.1", ""};
  const auto outcome = run("cd \"$1\"\necho wrong > variant.hpp\necho h > hypothesis.md\n");
  ASSERT_TRUE(outcome);
  ASSERT_GE(outcome->comparison.variants.size(), 2u);
  EXPECT_EQ(outcome->comparison.variants[1].status, model::VariantStatus::failed_gate);
  EXPECT_EQ(outcome->comparison.winner, "v1");
  EXPECT_THAT(outcome->comparison.learnings, Contains(HasSubstr("it proposed what was tried before")));
}

// What it writes beside itself is no file of whoever started hone.
TEST_F(Proposer, RunsInTheFolderOfItsRequest) {
  const auto outcome = run("pwd >pwd; echo \"$HONE_STARTED_IN\" >started; exit 10\n");
  ASSERT_TRUE(outcome);
  const std::string request = folder / "w/rms_norm/proposer/1";
  ASSERT_TRUE(files.exists(request + "/pwd"));
  EXPECT_EQ(base::trim(*files.read(request + "/pwd")), request);
  EXPECT_EQ(base::trim(*files.read(request + "/started")), base::trim(files.absolute(".")));
}

TEST_F(Proposer, WordsThatNameFilesOfTheCallerStillDo) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_TRUE(files.write_atomically(folder / "tools/propose.sh", "echo found >found; exit 10\n"));
  stages::OptimizeOptions o;
  o.autonomous = true;
  o.proposer = "sh tools/propose.sh";
  const auto outcome = stages::optimize(stages::Kernel::of(session), profile, o,
                                        *stages::Workspace::open(files, "w", kernel.name), ports);
  std::filesystem::current_path(before);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(files.exists(folder / "w/rms_norm/proposer/1/found"));
}

TEST_F(Proposer, ThatHangsIsKilledAtItsDeadline) {
  EXPECT_THAT(finding("sleep 60 & sleep 60\n", 300), HasSubstr("did not end within"));
}

TEST_F(Proposer, ThatPrintsMegabytesIsCutAndStillHeard) {
  EXPECT_THAT(finding("head -c 5000000 /dev/zero | tr '\\0' x\nhead -c 5000000 /dev/zero | tr '\\0' y >&2\nexit 10\n"),
              HasSubstr("nothing more to propose"));
}

TEST_F(Proposer, ThatWritesNothingSaysWhatIsMissing) {
  EXPECT_THAT(finding("exit 0\n"), HasSubstr("wrote no variant.* file"));
}

TEST_F(Proposer, WithoutAHypothesisIsNotTried) {
  EXPECT_THAT(finding("echo text > \"$1/variant.hpp\"\n"), HasSubstr("hypothesis.md"));
}

TEST_F(Proposer, WithAnEmptyHypothesisIsNotTried) {
  EXPECT_THAT(finding("echo text > \"$1/variant.hpp\"\n: > \"$1/hypothesis.md\"\n"), HasSubstr("is empty"));
}

TEST_F(Proposer, ThatLeavesAPipeOrADeviceInPlaceOfAFileIsNotWaitedFor) {
  EXPECT_THAT(finding("mkfifo \"$1/variant.hpp\"\necho h > \"$1/hypothesis.md\"\n"), HasSubstr("a regular file"));
  EXPECT_THAT(finding("ln -s /dev/zero \"$1/variant.hpp\"\necho h > \"$1/hypothesis.md\"\n"),
              HasSubstr("a regular file"));
}

TEST_F(Proposer, ThatDeletesItsFolderIsToldSo) { EXPECT_THAT(finding("rm -rf \"$1\"\n"), HasSubstr("folder is gone")); }

TEST_F(Proposer, ThatExitsOneIsQuoted) {
  EXPECT_THAT(finding("echo 'no such model' >&2\nexit 1\n"), HasSubstr("exited with status 1: no such model"));
}

TEST_F(Proposer, ThatDoesNotExistIsToldSo) {
  stages::OptimizeOptions o;
  o.autonomous = true;
  o.proposer = "/nonexistent/program";
  const auto outcome = stages::optimize(stages::Kernel::of(session), profile, o,
                                        *stages::Workspace::open(files, folder / "w", kernel.name), ports);
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->comparison.learnings, Contains(HasSubstr("exited with status 127")));
}

TEST_F(Proposer, WritesADirectoryInPlaceOfAFile) {
  EXPECT_THAT(finding("mkdir \"$1/variant.hpp\"\necho h > \"$1/hypothesis.md\"\n"), HasSubstr("can not be read"));
}

TEST_F(Proposer, ARefusedTextIsQuoted) {
  EXPECT_THAT(finding("echo forbidden > \"$1/variant.hpp\"\necho h > \"$1/hypothesis.md\"\n"),
              HasSubstr("no entry for forward"));
}

TEST_F(Proposer, IsNotAskedAgainWhenTheRunIsRepeated) {
  const std::string script = "echo x >> '" + (folder / "asked") + "'\nexit 10\n";
  finding(script);
  finding(script);
  EXPECT_EQ(*files.read(folder / "asked"), "x\n");
}

TEST_F(Proposer, OneThatFailedIsAskedAgainSinceItMayHaveBeenMended) {
  const std::string script = "echo x >> '" + (folder / "asked") + "'\nexit 1\n";
  finding(script);
  finding(script);
  EXPECT_EQ(*files.read(folder / "asked"), "x\nx\n");
}

// The example that is shipped, on a text as tile programs are written.
TEST_F(Proposer, TheExampleProposesOneChangeAndThenNothingMore) {
  if (!processes.find("python3")) GTEST_SKIP() << "the example needs python3";
  kernel.source = "const auto kept = block.keep(first);\n";
  kernel.sources["const auto kept = first;\n"] = {0.95, 1};
  profile = profile_of(session, session, {});
  stages::OptimizeOptions o;
  o.autonomous = true;
  o.proposer = "python3 '" HONE_SOURCE_DIR "/examples/proposer/propose.py'";
  const auto outcome = stages::optimize(stages::Kernel::of(session), profile, o,
                                        *stages::Workspace::open(files, folder / "w", kernel.name), ports);
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  ASSERT_EQ(outcome->comparison.variants.size(), 2u) << base::join_text(outcome->comparison.learnings, "; ");
  EXPECT_EQ(outcome->comparison.winner, "v2");
  EXPECT_EQ(documents.notes.back().predictions.size(), 1u);
  EXPECT_THAT(outcome->comparison.learnings, Contains(HasSubstr("nothing more to propose")));
}

TEST(ProposerPredictions, AreReadLineByLineAndOnlyForCellsThatExist) {
  const std::vector<repository::Cell> cells = {{"1024", "forward"}, {"4096", "forward"}};
  const auto predictions = stages::predictions_of(
      "text\n predict forward @ 1024 = 0.9 \npredict forward @ 4096 = zero\npredict forward @ 4096 = -1\n"
      "predict forward @ 999 = 0.9\npredict forward 4096 0.9\n",
      cells);
  ASSERT_EQ(predictions.size(), 1u);
  EXPECT_EQ(predictions[0].x_value, "1024");
  EXPECT_EQ(predictions[0].ratio, 0.9);
}

}  // namespace
}  // namespace hone::test

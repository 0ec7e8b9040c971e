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

struct InFolder {
  TemporaryFolder folder;
};

// Runs real programs on a real disk.
class Proposer : protected InFolder, public LabFixture<base::SystemFiles, base::SystemProcesses> {
 protected:
  Proposer() : LabFixture(folder / "w") { options.proposer_deadline_ms = 20'000; }

  stages::ProposerAnswer ask(const std::string& command) {
    options.proposer = command;
    stages::Lab one = lab();
    const model::Variant best = trial.original();
    auto answer = stages::ask_proposer(one, changeable, 1, best, {{"v1", "v0", "parameter-sweep", "accepted", ""}},
                                       {"rms_norm_v1_notes.md"});
    EXPECT_TRUE(answer) << base::describe(answer.error());
    return answer ? *answer : stages::ProposerAnswer{};
  }
  stages::ProposerAnswer run(const std::string& script) {
    EXPECT_TRUE(files.write_atomically(folder / "propose.sh", script));
    return ask("sh '" + (folder / "propose.sh") + "'");
  }
  // Why a proposer gave nothing usable.
  std::string finding(const std::string& script) {
    const auto answer = run(script);
    EXPECT_NE(answer.kind, stages::ProposerAnswer::Kind::proposal);
    return answer.reason;
  }

  FakeChangeable changeable;
};

TEST_F(Proposer, IsGivenTheWholeHistoryAndAnswersWithAChangeAndItsPrediction) {
  ASSERT_TRUE(work.write("rms_norm_v1_notes.md", "notes"));
  const auto answer = run(
      "cd \"$1\" || exit 3\n"
      "test -f profile.json && test -f rms_norm.hpp && test -f notes/rms_norm_v1_notes.md || exit 4\n"
      "grep -q '\"v1\"' request.json || exit 5\n"
      "echo faster > variant.hpp\n"
      "printf 'fewer loads\\n\\npredict forward @ 4096 = 0.91\\npredict sideways @ 4096 = 0.5\\n' > hypothesis.md\n");
  ASSERT_EQ(answer.kind, stages::ProposerAnswer::Kind::proposal) << answer.reason;
  ASSERT_EQ(answer.proposal.predictions.size(), 1u);
  EXPECT_EQ(answer.proposal.predictions[0].ratio, 0.91);
  EXPECT_THAT(answer.proposal.diff, HasSubstr("+faster"));
  EXPECT_EQ(answer.proposal.variant.edits.front().content, "faster\n");
}

// What it writes beside itself is no file of whoever started hone.
TEST_F(Proposer, RunsInTheFolderOfItsRequest) {
  run("pwd >pwd; echo \"$HONE_STARTED_IN\" >started; exit 10\n");
  const std::string request = folder / "w/rms_norm/proposer/1";
  ASSERT_TRUE(files.exists(request + "/pwd"));
  EXPECT_EQ(base::trim(*files.read(request + "/pwd")), request);
  EXPECT_EQ(base::trim(*files.read(request + "/started")), base::trim(files.absolute(".")));
}

TEST_F(Proposer, WordsThatNameFilesOfTheCallerStillDo) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_TRUE(files.write_atomically(folder / "tools/propose.sh", "echo found >found; exit 10\n"));
  ask("sh tools/propose.sh");
  std::filesystem::current_path(before);
  EXPECT_TRUE(files.exists(folder / "w/rms_norm/proposer/1/found"));
}

TEST_F(Proposer, ThatHangsIsKilledAtItsDeadline) {
  options.proposer_deadline_ms = 300;
  EXPECT_THAT(finding("sleep 60 & sleep 60\n"), HasSubstr("did not end within"));
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
  EXPECT_THAT(ask("/nonexistent/program").reason, HasSubstr("exited with status 127"));
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

// What it proposes is treated as any other variant.
class ProposerInOptimize : public ::testing::Test, protected ScriptedPorts<base::SystemFiles, base::SystemProcesses> {
 protected:
  ProposerInOptimize() {
    make_tunable(session);
    kernel.installed_file = folder / "production.json";
    kernel.sizes = {"1024", "4096"};
    session.held_out.clear();
    kernel.modes = {"forward"};
    profile = profile_of(session, session, {});
  }

  base::Result<stages::OptimizeOutcome> run(const std::string& command) {
    stages::OptimizeOptions o;
    o.autonomous = true;
    o.proposer = command;
    o.proposer_deadline_ms = 20'000;
    return stages::optimize(stages::Kernel::of(session), profile, o,
                            *stages::Workspace::open(files, folder / "w", kernel.name), ports);
  }

  TemporaryFolder folder;
  FakeSession session{files};
  FakeKernel& kernel = session.kernel;
  model::Profile profile;
};

TEST_F(ProposerInOptimize, AWrongProposalIsRejectedWithItsReason) {
  kernel.sources["wrong\n"] = {0.5, 0.5, 1, true, true, false, "y[0][3]: error 2 > bound 0.1", ""};
  ASSERT_TRUE(
      files.write_atomically(folder / "propose.sh", "cd \"$1\"\necho wrong > variant.hpp\necho h > hypothesis.md\n"));
  const auto outcome = run("sh '" + (folder / "propose.sh") + "'");
  ASSERT_TRUE(outcome);
  ASSERT_GE(outcome->comparison.variants.size(), 2u);
  EXPECT_EQ(outcome->comparison.variants[1].status, model::VariantStatus::failed_gate);
  EXPECT_EQ(outcome->comparison.variants[1].strategy, "proposer");
  EXPECT_TRUE(files.exists(folder / "w/rms_norm/rms_norm_v2.hpp"));
  EXPECT_EQ(outcome->comparison.winner, "v1");
  EXPECT_THAT(outcome->comparison.learnings, Contains(HasSubstr("it proposed what was tried before")));
}

// The example that is shipped, on a text as tile programs are written.
TEST_F(ProposerInOptimize, TheExampleProposesOneChangeAndThenNothingMore) {
  if (!processes.find("python3")) GTEST_SKIP() << "the example needs python3";
  kernel.source = "const auto kept = block.keep(first);\n";
  kernel.sources["const auto kept = first;\n"] = {0.95, 1};
  profile = profile_of(session, session, {});
  const auto outcome = run("python3 '" HONE_SOURCE_DIR "/examples/proposer/propose.py'");
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

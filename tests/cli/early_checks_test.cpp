// What can be refused cheaply is refused before anything is measured or made, whichever stage it is meant for.
#include "cli/early_checks.hpp"

#include <gmock/gmock.h>

#include "tests/cli/program_fixture.hpp"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Proposer, IsAProgramOrTheShellsAffair) {
  base::ScriptedProcesses processes;
  processes.programs["python3"] = "/usr/bin/python3";
  base::SystemFiles files;
  const auto ok = [&](const std::string& command) { return check_proposer(processes, files, command).ok(); };
  EXPECT_TRUE(ok("python3 propose.py --seed 1"));
  EXPECT_TRUE(ok("  python3"));
  EXPECT_TRUE(ok("/bin/sh propose.sh"));
  EXPECT_TRUE(ok("SEED=1 no_such_program_here"));
  EXPECT_TRUE(ok("cd /tmp && no_such_program_here"));
  EXPECT_FALSE(ok("pyhton3 propose.py"));
  EXPECT_FALSE(ok("./no_such_program_here"));
  EXPECT_FALSE(ok("/tmp"));
  EXPECT_FALSE(ok("/etc/passwd"));
  EXPECT_FALSE(ok("   "));
}

class EarlyChecks : public ProgramTest {
 protected:
  // Refused without a measurement, and without a trace.
  void refused(const std::vector<std::string>& flags, int code, const std::string& found) {
    std::vector<std::string> words = {"run",    "rms_norm", "--quick", "--autonomous", "--sizes",
                                      "64,128", "--device", "cpu",     "--workspace",  folder_ / "w"};
    words.insert(words.end(), flags.begin(), flags.end());
    const auto outcome = run(words);
    expect_refused(outcome, code, found);
    EXPECT_THAT(outcome.error, Not(HasSubstr("ceilings"))) << "it had begun to measure";
    EXPECT_FALSE(files_.exists(folder_ / "w"));
  }
};

TEST_F(EarlyChecks, OfRunCoverWhatOptimizeIsAskedFor) {
  refused({"--target-metric", "forward < 0.3"}, 2, "the end of the text");
  refused({"--target-metric", "sideways < 0.3 ms"}, 2, "'sideways");
  refused({"--target-metric", "forward < 0.3 ms @ hidden_size=4k"}, 2, "'4k'");
  refused({"--target-metric", "forward < 0.3 ms @ rows=64"}, 2, "'rows");
  refused({"--proposer", "no_such_program_here --fast"}, 2, "'no_such_program_here', which is not on PATH");
  refused({"--max-variants", "0"}, 2, "'0'");
  refused({"--max-variants", "1001"}, 2, "'1001'");
  refused({"--max-variants", "many"}, 2, "'many'");
}

TEST_F(EarlyChecks, OfRunCoverWhatFinalizeIsAskedFor) {
  refused({"--commit"}, 2, "built-in kernels");
  refused({"--push"}, 2, "built-in kernels");
  // A kernel whose folder is no git repository: nothing could be committed at the end.
  std::filesystem::copy(std::string(HONE_SOURCE_DIR) + "/examples/manifest", folder_ / "kernel");
  const auto outcome = run({"run", "--repo", folder_ / "kernel/row_softmax_cpu.toml", "--autonomous", "--commit",
                            "--workspace", folder_ / "w"},
                           {{"GIT_CEILING_DIRECTORIES", folder_.path()}});
  expect_refused(outcome, 3, "git repository");
  EXPECT_FALSE(files_.exists(folder_ / "w"));
}

TEST_F(EarlyChecks, OfRunCoverTheRequest) {
  refused({"--sizes", "4x"}, 2, "'4x'");
  refused({"--dtype", "fp31"}, 2, "'fp31'");
  refused({"--option", "casting_mode=lama"}, 2, "lama");
  refused({"--workspace", "/proc/hone"}, 3, "/proc/hone");
}

// Every flag of the table that names a file or a folder, with every command that takes it.
TEST_F(EarlyChecks, APathThatIsNotWhatItsFlagNamesIsRefused) {
  ASSERT_TRUE(files_.write_atomically(folder_ / "file.toml", "\x7f\1\2 no document"));
  ASSERT_TRUE(files_.create_directories(folder_ / "folder"));
  std::filesystem::create_symlink(folder_ / "nowhere", folder_ / "link");
  const std::string csv = std::string(HONE_SOURCE_DIR) + "/tests/counters/fixtures/synthetic_ncu_raw.csv";
  int checked = 0;
  for (const CommandSpec& command : all_commands())
    for (const std::string& name : command.flags) {
      const Flag& flag = *find_flag(name);
      if (flag.kind != FlagKind::path) continue;
      const bool folder = flag.offer == Offer::folders;
      EXPECT_TRUE(folder || flag.offer == Offer::files) << name << " says neither, so nothing can be checked";
      for (const char* path : folder ? std::vector<const char*>{"file.toml", "file.toml/below", "link"}
                                     : std::vector<const char*>{"nothing.toml", "folder", "file.toml", "link"}) {
        std::vector<std::string> words = {command.name};
        if (command.offer == Offer::kernels) words.push_back("rms_norm");
        if (command.name == "counters") words.push_back(csv);
        if (command.name == "compare") words.insert(words.end(), {"v0", "v1", "--kernel", "rms_norm"});
        if (name != "--workspace" && takes(command, "--workspace"))
          words.insert(words.end(), {"--workspace", folder_ / "w"});
        words.insert(words.end(), {name, folder_ / path});
        const auto before = content_of(folder_.path());
        const auto outcome = run(words);
        expect_refused(outcome, folder ? 3 : 2, folder_ / std::string(path).substr(0, std::string(path).find('/')));
        EXPECT_THAT(outcome.error, Not(HasSubstr("ceilings of")))
            << command.name << name << ": it had begun to measure";
        EXPECT_EQ(content_of(folder_.path()), before) << command.name << name;
        ++checked;
      }
    }
  EXPECT_GT(checked, 60);
}

TEST_F(EarlyChecks, OfRunAndFinalizeCoverTheFolderThatFinalizeWritesTo) {
  refused({"--settings", "/proc/hone"}, 3, "can not be written");
  expect_refused(run({"finalize", "rms_norm", "--settings", "/proc/hone"}), 3, "can not be written");
}

TEST_F(EarlyChecks, ContradictionsAreNamed) {
  expect_refused(run({"list", "-q", "-v"}), 2, "both");
  expect_refused(run({"list", "--color", "always", "--no-color"}), 2, "both");
  EXPECT_EQ(run({"list", "--color", "always", "--no-color=false"}).exit_status, 0);
}

TEST_F(EarlyChecks, JunkAmongSizesIsShownWithItsPlace) {
  const auto outcome = run({"bench", "rms_norm", "--sizes", "512,4k, 4x,8"});
  expect_refused(outcome, 2, "'4x'");
  EXPECT_THAT(outcome.error, HasSubstr("--sizes, column 8\n            512,4k, 4x,8\n                   ^"));
  EXPECT_THAT(outcome.error, HasSubstr("from 1 to 1048576m"));
  EXPECT_THAT(run({"bench", "--help"}).output, HasSubstr("1048576m"));
  EXPECT_EQ(run({"audit", "--sizes", "1048576m"}).exit_status, 2);  // the size is right, the path is missing
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "512,";
  const auto far = run({"bench", "rms_norm", "--sizes", many + "4x," + many});
  EXPECT_THAT(far.error, HasSubstr("column 40001"));
  EXPECT_THAT(far.error, HasSubstr("...512,"));
  EXPECT_LT(far.error.size(), 1000u);
}

}  // namespace
}  // namespace hone::cli

// One status for one kind of error, whichever command finds it; with --json the document says the same.
#include <gmock/gmock.h>

#include "base/file_lock.hpp"
#include "tests/cli/program_fixture.hpp"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

class ExitStatus : public ProgramTest {
 protected:
  void SetUp() override {
    std::filesystem::copy(std::string(HONE_SOURCE_DIR) + "/examples/manifest", folder_ / "kernel");
    std::ofstream(folder_ / "text.txt") << "neither a capture nor a kernel\n";
    std::ofstream(folder_ / "broken.toml") << "name = \n";
    std::filesystem::create_directory(folder_ / "empty");
    workspace_ = folder_ / "w";
    // Not the folder that other tests are started in at the same time.
    std::filesystem::create_directories(folder_ / "configuration/hone");
    std::ofstream(folder_ / "configuration/hone/config.toml") << "[defaults]\nworkspace = \"" << workspace_ << "\"\n";
  }
  void expect(int status, const std::vector<std::vector<std::string>>& commands,
              const std::map<std::string, std::string>& environment = {}) {
    for (std::vector<std::string> words : commands) {
      std::string line;
      for (const std::string& word : words) line += word + " ";
      const auto told = run(words, environment);
      EXPECT_EQ(told.exit_status, status) << line << told.error;
      EXPECT_THAT(told.error, HasSubstr("\n  to do     ")) << line;
      words.insert(words.begin() + 1, "--json");
      const auto document = run(words, environment);
      EXPECT_EQ(document.exit_status, status) << line << "--json";
      EXPECT_THAT(document.output, HasSubstr("\"hone.error/1\"")) << line;
      EXPECT_THAT(document.output, HasSubstr("\"exit_code\": " + std::to_string(status))) << line;
      EXPECT_FALSE(files_.exists(workspace_)) << line << "left something";
    }
  }
  std::string workspace_;
};

TEST_F(ExitStatus, OfWordsThatAreNone) {
  expect(2, {{"profil"},
             {"list", "--nmaes"},
             {"list", "--sizes", "4"},
             {"list", "one"},
             {"audit"},
             {"counters"},
             {"compare", "a"},
             {"completions", "tcsh"},
             {"history", "sideways"},
             {"history", "show"},
             {"profile", "rms_norm", "--dtype"},
             {"profile", "rms_norm", "--goal", "fast"},
             {"list", "--quick=maybe"},
             {"list", "-q", "-v"},
             {"list", "--repo="}});
}

TEST_F(ExitStatus, OfAKernelThatIsNotThere) {
  for (const char* command : {"profile", "optimize", "finalize", "run", "bench", "verify"}) {
    expect(2, {{command, "rms_nrom"}, {command, "rms_nrom", "--repo", folder_ / "kernel"}, {command}});
  }
  expect(2, {{"compare", "v0", "v1", "--kernel", "rms_nrom", "--workspace", workspace_}});
}

TEST_F(ExitStatus, OfAFileOrFolderThatTheCommandLineNames) {
  const std::string none = folder_ / "none", text = folder_ / "text.txt", empty = folder_ / "empty";
  expect(2, {{"audit", none},
             {"audit", text},
             {"audit", empty},
             {"counters", none},
             {"counters", text},
             {"counters", empty},
             {"counters", std::string(HONE_SOURCE_DIR) + "/tests/counters/no_such.csv"}});
  for (const char* command : {"profile", "optimize", "finalize", "run", "bench", "verify"})
    expect(2, {{command, "rms_norm", "--repo", none},
               {command, "rms_norm", "--repo", text},
               {command, "rms_norm", "--repo", empty},
               {command, "rms_norm", "--repo", folder_ / "broken.toml"}});
  expect(2, {{"list", "--repo", none}, {"list", "--repo", folder_ / "broken.toml"}});
}

TEST_F(ExitStatus, OfAValueThatTheKernelOrTheMachineHasNot) {
  for (const char* command : {"profile", "run", "bench"})
    expect(2, {{command, "rms_norm", "--sizes", "0"},
               {command, "rms_norm", "--sizes", "99999999999"},
               {command, "rms_norm", "--option", "casting_mode=lama"},
               {command, "rms_norm", "--option", "colour=red"}});
  for (const char* command : {"profile", "run", "bench", "verify"})
    expect(2, {{command, "rms_norm", "--dtype", "int8"}, {command, "rms_norm", "--device", "tpu"}});
  expect(2, {{"doctor", "--device", "tpu"},
             {"bench", "rms_norm", "--provider", "cublas"},
             {"bench", "--repo", folder_ / "kernel/row_softmax_cpu.toml", "--provider", "torch"}});
}

TEST_F(ExitStatus, OfWhatTheMachineLacks) {
  for (const char* command : {"profile", "run", "bench", "verify"})
    expect(3, {{command, "rms_norm", "--device", "cuda:1023"}});
  expect(3, {{"doctor", "--device", "cuda:1023"}});
  const std::map<std::string, std::string> bare = {{"HONE_CXX", folder_ / "none"},
                                                   {"HONE_CACHE_DIR", folder_ / "cache"}};
  for (const char* command : {"profile", "bench", "verify"}) expect(3, {{command, "rms_norm"}}, bare);
}

TEST_F(ExitStatus, OfAWorkspaceThatHasNotWhatIsNeeded) {
  for (const char* command : {"optimize", "finalize"}) expect(3, {{command, "rms_norm", "--workspace", workspace_}});
  expect(3, {{"compare", "v0", "v1", "--kernel", "rms_norm", "--workspace", workspace_},
             {"history", "--workspace", workspace_},
             {"profile", "rms_norm", "--workspace", "/proc/hone"}});
  auto other = base::FileLock::claim(workspace_ + "/rms_norm");
  ASSERT_TRUE(other);
  expect(3, {{"profile", "rms_norm", "--workspace", workspace_}});
}

}  // namespace
}  // namespace hone::cli

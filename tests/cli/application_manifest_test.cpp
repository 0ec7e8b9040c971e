// --repo with a manifest, from outside: what the program says and the status it ends with.
#include <sys/stat.h>

#include "tests/cli/program_fixture.hpp"

namespace hone::cli {
namespace {

class ManifestProgram : public ProgramTest {
 protected:
  void SetUp() override {
    std::filesystem::copy(std::string(HONE_SOURCE_DIR) + "/examples/manifest", folder_ / "kernel");
    manifest_ = folder_ / "kernel/row_softmax_cpu.toml";
  }
  void change(const std::string& file, const std::string& from, const std::string& to) {
    const std::string path = folder_ / ("kernel/" + file);
    std::string text = *files_.read(path);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    ASSERT_TRUE(files_.write_atomically(path, text.replace(at, from.size(), to)));
  }
  std::string manifest_;
};

TEST_F(ManifestProgram, IsAFileOrAFolder) {
  const auto folder = run({"list", "--repo", folder_ / "kernel"});
  EXPECT_EQ(folder.exit_status, 0) << folder.error;
  EXPECT_NE(folder.output.find("\nrow_softmax "), std::string::npos) << folder.output;
  const auto file = run({"list", "--repo", manifest_, "--json"});
  EXPECT_EQ(file.exit_status, 0) << file.error;
  EXPECT_NE(file.output.find("\"repository\": \"manifest\""), std::string::npos) << file.output;
}

TEST_F(ManifestProgram, ThatIsNeitherIsToldOfBoth) {
  std::filesystem::create_directory(folder_ / "empty");
  const auto outcome = run({"profile", "row_softmax", "--repo", folder_ / "empty", "--workspace", folder_ / "w"});
  expect_refused(outcome, 2, "a folder with neither");
  EXPECT_NE(outcome.error.find("hone.toml"), std::string::npos);
  EXPECT_NE(outcome.error.find("src/liger_kernel/ops"), std::string::npos);
  expect_refused(run({"list", "--repo", folder_ / "none.toml"}), 2, "no such file");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "w"));
}

TEST_F(ManifestProgram, WithAMistakeNamesItsPlace) {
  change("row_softmax_cpu.toml", "ceil_div(rows, ROWS)", "ceil_div(rows, RWS)");
  const auto outcome = run({"verify", "row_softmax_cpu", "--repo", manifest_});
  expect_refused(outcome, 2, "'RWS'");
  EXPECT_NE(outcome.error.find("row_softmax_cpu.toml:"), std::string::npos) << outcome.error;
  std::filesystem::remove(manifest_);
  ASSERT_EQ(::mkfifo(manifest_.c_str(), 0600), 0);
  expect_refused(run({"list", "--repo", manifest_}), 2, "a pipe");
}

TEST_F(ManifestProgram, OfAnotherKernelSaysItsName) {
  const auto outcome = run({"verify", "softmax", "--repo", manifest_});
  expect_refused(outcome, 2, "'softmax'");
  EXPECT_NE(outcome.error.find("row_softmax_cpu"), std::string::npos);
}

TEST_F(ManifestProgram, IsVerifiedAgainstItsReferenceAndAWrongKernelFails) {
  const auto right = run({"verify", "row_softmax_cpu", "--repo", manifest_, "--device", "cpu", "--short", "--json"});
  EXPECT_EQ(right.exit_status, 0) << right.error << right.output;
  EXPECT_NE(right.output.find("row_softmax_reference.cpp in double precision"), std::string::npos) << right.output;
  change("row_softmax.cpp", "1 / total", "1.001f / total");
  const auto wrong = run({"verify", "row_softmax_cpu", "--repo", manifest_, "--device", "cpu", "--short"});
  EXPECT_EQ(wrong.exit_status, 5) << wrong.error << wrong.output;
  EXPECT_NE(wrong.output.find("above the bound"), std::string::npos) << wrong.output;
}

TEST_F(ManifestProgram, ACompileErrorIsToldOnceWithTheUsersFileAndLine) {
  change("row_softmax.cpp", "1 / total", "1 / totals");
  const auto verified = run({"verify", "row_softmax_cpu", "--repo", manifest_, "--device", "cpu", "--short"});
  EXPECT_EQ(verified.exit_status, 2) << verified.error << verified.output;
  const std::string message = "error: 'totals' was not declared";
  const std::string all = verified.output + verified.error;
  const std::size_t first = all.find(message);
  ASSERT_NE(first, std::string::npos) << all;
  EXPECT_EQ(all.find(message, first + 1), std::string::npos) << all;
  EXPECT_NE(all.find("row_softmax.cpp:"), std::string::npos) << all;
  EXPECT_EQ(all.find("hone_programs.cpp"), std::string::npos) << all;
  const auto profiled =
      run({"profile", "row_softmax_cpu", "--repo", manifest_, "--device", "cpu", "--workspace", folder_ / "w"});
  EXPECT_EQ(profiled.exit_status, 2) << profiled.error;
  EXPECT_NE(profiled.error.find(message), std::string::npos) << profiled.error;
  EXPECT_NE(profiled.error.find("where     " + folder_.path()), std::string::npos) << profiled.error;
}

TEST_F(ManifestProgram, OfCudaWithoutAGpuIsProfiledFromItsSource) {
  const auto outcome = run({"profile", "row_softmax", "--repo", folder_ / "kernel", "--device", "cpu", "--workspace",
                            folder_ / "w", "--no-color"});
  EXPECT_EQ(outcome.exit_status, 0) << outcome.error;
  EXPECT_NE(outcome.output.find("from source alone"), std::string::npos) << outcome.output;
  EXPECT_GE(expect_all_published(folder_ / "w"), 1);
  // The kernel is one for a GPU, whatever machine has profiled it.
  const std::string profile = *files_.read(folder_ / "w/row_softmax/profile.json");
  EXPECT_EQ(profile.find("On a processor"), std::string::npos);
  EXPECT_EQ(profile.find("spares stores to the stack"), std::string::npos);
  EXPECT_NE(profile.find("\"kind\": \"none\""), std::string::npos);
}

}  // namespace
}  // namespace hone::cli

// A checkout without a GPU: listed, checked, profiled from source with what was recorded elsewhere.
#include "repository/liger/liger_repository.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/repository/liger/checkout_copy.hpp"

namespace hone::repository::liger {
namespace {

class WithoutGpu : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(copy.complete()) << "the liger-kernel sources are fetched by ./dev";
    auto opened = LigerRepository::open_checkout(
        {files, processes, clock, copy.scratch(), "auto", "hone-no-such-python"}, copy.path());
    ASSERT_TRUE(opened) << opened.error().found;
    repository = std::move(*opened);
  }
  model::Request request(const std::string& kernel) {
    model::Request asked;
    asked.kernel = kernel;
    return asked;
  }
  CheckoutCopy copy;
  base::SystemFiles files;
  base::SystemProcesses processes;
  base::SystemClock clock;
  std::unique_ptr<LigerRepository> repository;
};

TEST_F(WithoutGpu, ListsOperationsOfFoldersToo) {
  const auto entries = repository->list();
  const auto named = [&](const std::string& name) {
    return std::any_of(entries.begin(), entries.end(), [&](const KernelEntry& entry) { return entry.name == name; });
  };
  EXPECT_TRUE(named("rms_norm"));
  EXPECT_TRUE(named("embedding"));  // in ops/experimental
  EXPECT_GE(entries.size(), 25u);
}

TEST_F(WithoutGpu, AnUnknownOperationIsAUsageErrorWithTheNearestNames) {
  auto session = repository->open(request("rms_nrom"));
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().kind, base::ErrorKind::usage);
  EXPECT_NE(session.error().remedy.find("rms_norm"), std::string::npos);
}

TEST_F(WithoutGpu, PreflightNamesEachMissingPartWithItsRemedy) {
  const auto checks = repository->preflight(request("rms_norm"));
  for (const PreflightCheck& check : checks) {
    EXPECT_TRUE(check.passed || !check.remedy.empty()) << check.name;
    EXPECT_TRUE(check.passed || !check.required)
        << check.name << ": " << check.found;  // the profile from source needs none of them
  }
}

TEST_F(WithoutGpu, AFileThatIsNoPythonIsNotProfiled) {
  const std::string broken = base::join(copy.path(), "src/liger_kernel/ops/rms_norm.py");
  ASSERT_TRUE(files.write_atomically(broken, std::string("\x93\x00\xff)(]", 6) + "\n@@ =\n"));
  auto opened = LigerRepository::open_checkout({files, processes, clock, copy.scratch(), "auto", "hone-no-such-python"},
                                               copy.path());
  ASSERT_TRUE(opened) << opened.error().found;
  const auto refused = [&](const std::string& kernel) {
    const auto checks = (*opened)->preflight(request(kernel));
    return std::any_of(checks.begin(), checks.end(), [](const PreflightCheck& check) {
      return check.required && !check.passed && check.name == "operation's source";
    });
  };
  EXPECT_TRUE(refused("rms_norm"));
  EXPECT_FALSE(refused("layer_norm"));
}

TEST_F(WithoutGpu, NoOperationOfTheCheckoutIsTakenForBroken) {
  for (const KernelEntry& entry : repository->list())
    for (const PreflightCheck& check : repository->preflight(request(entry.name)))
      EXPECT_TRUE(check.passed || check.name != "operation's source") << entry.name;
}

TEST_F(WithoutGpu, SaysWhyNothingCanBeMeasuredAndShowsWhatWasRecorded) {
  auto session = repository->open(request("rms_norm"));
  ASSERT_TRUE(session) << session.error().found;
  EXPECT_NE((*session)->unmeasurable().find("python3"), std::string::npos) << (*session)->unmeasurable();
  const auto rows = (*session)->recorded();
  ASSERT_EQ(rows.size(), 3u);  // of rms_norm alone, GPUs apart
  for (const model::BaselineRow& row : rows) EXPECT_EQ(row.source, model::Source::recorded);
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const model::BaselineRow& row) {
    return row.provider.find("NVIDIA H100 80GB HBM3, 2025-01-02, liger-kernel 0.5.0") != std::string::npos;
  }));
  EXPECT_FALSE((*session)->source_opportunities().empty());
  EXPECT_EQ((*session)->identity().source_file.path, "src/liger_kernel/ops/rms_norm.py");
  EXPECT_TRUE((*session)->identity().benchmark_script.exists);
}

TEST_F(WithoutGpu, AGpuThatWasAskedForAndIsNotThereIsAnError) {
  const std::string python = python_with_triton();
  if (python.empty()) GTEST_SKIP() << "no python with torch: tools/fetch_python.sh installs it";
  auto opened =
      LigerRepository::open_checkout({files, processes, clock, copy.scratch(), "cuda:0", python}, copy.path());
  ASSERT_TRUE(opened);
  auto session = (*opened)->open(request("rms_norm"));
  if (session) GTEST_SKIP() << "there is a GPU here";
  EXPECT_EQ(session.error().kind, base::ErrorKind::preflight);
}

TEST_F(WithoutGpu, AnOperationWithoutAnAdapterIsReadAndSaysWhatIsMissing) {
  auto session = repository->open(request("mhc"));
  ASSERT_TRUE(session) << session.error().found;
  const auto checks = repository->preflight(request("mhc"));
  EXPECT_TRUE(std::any_of(checks.begin(), checks.end(),
                          [](const PreflightCheck& check) { return check.name == "inputs" && !check.passed; }));
}

TEST_F(WithoutGpu, NothingInTheCheckoutIsTouched) {
  const std::string before = copy.fingerprint();
  auto session = repository->open(request("layer_norm"));
  ASSERT_TRUE(session);
  (void)repository->preflight(request("layer_norm"));
  (void)(*session)->recorded();
  (void)(*session)->configuration().ok();
  EXPECT_EQ(copy.fingerprint(), before);
}

TEST(OpenCheckout, AnotherFolderIsAUsageError) {
  base::SystemFiles files;
  base::ScriptedProcesses processes;
  base::ManualClock clock;
  auto opened = LigerRepository::open_checkout({files, processes, clock, "/nowhere"}, "/");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, base::ErrorKind::usage);
}

}  // namespace
}  // namespace hone::repository::liger

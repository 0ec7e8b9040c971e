#include "repository/manifest/test_command.hpp"

#include <gmock/gmock.h>

#include "tests/repository/manifest/manifest_fixture.hpp"

namespace hone::repository::manifest {
namespace {

using ::testing::HasSubstr;

TEST(TestsInAnOutput, AreCountedForTheProgramsThatPeopleUse) {
  EXPECT_EQ(tests_in("100% tests passed, 0 tests failed out of 42\n"), 42);
  EXPECT_EQ(tests_in("[==========] 7 tests from 2 test suites ran. (3 ms total)\n"), 7);
  EXPECT_EQ(tests_in("===== 12 passed, 1 skipped in 0.31s =====\n"), 12);
  EXPECT_EQ(tests_in("Ran 3 tests in 0.001s\n\nOK\n"), 3);
  EXPECT_EQ(tests_in("test result: ok. 5 passed; 0 failed\n"), 5);
  EXPECT_EQ(tests_in("1..9\nok 1\n"), 9);
  EXPECT_EQ(tests_in("All tests passed (20 assertions in 4 test cases)\n"), 4);
  EXPECT_EQ(tests_in("No tests were found!!!\n"), 0);
  EXPECT_EQ(tests_in("collected 0 items\n"), 0);
  EXPECT_EQ(tests_in("Ran 0 tests in 0.000s\n"), 0);
  EXPECT_EQ(tests_in("make: Nothing to be done for 'test'.\n"), std::nullopt);
}

class ATestCommand : public ManifestTest {
 protected:
  launch::OwnTests run(const std::string& script, const std::vector<FileChange>& changes = {}) {
    Manifest manifest;
    manifest.folder = folder_.path();
    manifest.test = {"sh", "-c", script};
    manifest.test_timeout_s = 20;
    auto outcome = run_test_command(files_, &processes_, manifest, changes);
    EXPECT_TRUE(outcome) << base::describe(outcome.error());
    return outcome ? *outcome : launch::OwnTests{};
  }
};

TEST_F(ATestCommand, SeesTheChangedFilesAndTouchesNoneOfTheFolder) {
  const launch::OwnTests outcome =
      run("grep -q better row_scale.cpp && test -f deep/factor.hpp && rm row_scale.cpp && echo 1..4",
          {{folder_ / "row_scale.cpp", kKernelText, "// better\n", true}});
  EXPECT_EQ(outcome.passed, 4) << outcome.detail;
  EXPECT_EQ(read("row_scale.cpp"), kKernelText);
}

TEST_F(ATestCommand, FailsWithItsStatusAndItsLastWords) {
  const launch::OwnTests outcome = run("echo the row 3 differs; exit 7");
  EXPECT_EQ(outcome.failed, 1);
  EXPECT_THAT(outcome.detail, HasSubstr("status 7"));
  EXPECT_THAT(outcome.detail, HasSubstr("the row 3 differs"));
}

TEST_F(ATestCommand, ThatRunsNoTestFailsAlthoughItEndsWell) {
  EXPECT_EQ(run("echo 'Ran 0 tests in 0.000s'").failed, 1);
  const launch::OwnTests silent = run("true");
  EXPECT_EQ(silent.failed, 0);
  EXPECT_THAT(silent.detail, HasSubstr("does not say how many"));
}

TEST_F(ATestCommand, ThatDoesNotExistFails) {
  Manifest manifest;
  manifest.folder = folder_.path();
  manifest.test = {"no-such-program-at-all"};
  auto outcome = run_test_command(files_, &processes_, manifest, {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->failed, 1);
}

TEST_F(ATestCommand, DecidesTheFullGateAndNotTheSmokeGate) {
  write("hone.toml", changed("test = [\"make\", \"test\"]", "test = [\"sh\", \"-c\", \"exit 3\"]"));
  auto session = open();
  EXPECT_TRUE(gate(*session, session->original(), GateLevel::smoke).ok());
  const GateResult full = gate(*session, session->original(), GateLevel::full);
  EXPECT_FALSE(full.ok());
  EXPECT_THAT(full.first_failure, HasSubstr("status 3"));
}

}  // namespace
}  // namespace hone::repository::manifest

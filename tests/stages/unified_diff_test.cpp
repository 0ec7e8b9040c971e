// The diff is what `patch` reads: applied to the old text it gives the new one.
#include "stages/unified_diff.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/files.hpp"
#include "base/process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::test {
namespace {

TEST(UnifiedDiff, OfEqualTextsIsEmpty) { EXPECT_EQ(stages::unified_diff("a\n", "a\n", "a", "b"), ""); }

TEST(UnifiedDiff, ShowsChangesWithThreeLinesAround) {
  EXPECT_EQ(stages::unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "a/x", "b/x"),
            "--- a/x\n+++ b/x\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, OfANewFileAndOfAMissingLastNewline) {
  EXPECT_EQ(stages::unified_diff("", "x\n", "/dev/null", "b/x"), "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n");
  EXPECT_EQ(stages::unified_diff("x", "x\n", "a", "b"),
            "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n");
}

RC_GTEST_PROP(UnifiedDiff, IsAppliedByGit, ()) {
  const auto text = [] {
    std::string t;
    for (const int line : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4)))
      t += std::to_string(line) + "\n";
    return t;
  };
  const std::string before = text(), after = text();
  const std::string diff = stages::unified_diff(before, after, "a/f", "b/f");
  RC_PRE(!diff.empty() && !before.empty() && !after.empty());
  TemporaryFolder folder;
  base::SystemFiles files;
  base::SystemProcesses processes;
  RC_ASSERT(files.write_atomically(folder / "f", before).ok());
  base::Command apply;
  apply.arguments = {"git", "apply", "-"};
  apply.directory = folder.path();
  apply.input = diff;
  const auto outcome = processes.run(apply);
  RC_ASSERT(outcome.ok());
  if (outcome->exit_status != 0) RC_FAIL(outcome->error + diff);
  RC_ASSERT(*files.read(folder / "f") == after);
}

}  // namespace
}  // namespace hone::test

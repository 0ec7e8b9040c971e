// Files are the old ones or the new ones, whole, whatever ends an installation; and what is not verified is taken back.
#include "stages/finalize/install.hpp"

#include <gtest/gtest.h>

#include <climits>

#include "base/files.hpp"

namespace hone::test {
namespace {

class InstallTest : public ::testing::Test {
 protected:
  InstallTest() {
    EXPECT_TRUE(files.write_atomically("a.json", "old a"));
    EXPECT_TRUE(files.write_atomically("b.json", "old b"));
  }
  stages::Workspace workspace() { return *stages::Workspace::open(files, "w", "k"); }
  stages::Installer installer() { return *stages::Installer::open(workspace(), clock); }
  std::vector<repository::FileChange> changes() {
    return {{"a.json", "old a", "new a", true}, {"b.json", "old b", "new b", true}, {"c.json", "", "new c", false}};
  }
  std::string content(const std::string& path) { return files.exists(path) ? *files.read(path) : "(none)"; }
  std::string all() { return content("a.json") + "," + content("b.json") + "," + content("c.json"); }
  static constexpr const char* kOld = "old a,old b,(none)";
  static constexpr const char* kNew = "new a,new b,new c";

  base::MemoryFiles files;
  base::ManualClock clock;
};

TEST_F(InstallTest, AKillAtAnyWriteIsTakenBackAtTheNextStart) {
  const base::MemoryFiles prepared = files;
  for (int n = 1; n < 20; ++n) {
    files = prepared;
    auto work = workspace();
    auto first = *stages::Installer::open(work, clock);
    // After the n-th write nothing more reaches the disk, as after a kill.
    files.fail_writes_after(n);
    const bool applied = static_cast<bool>(first.apply("v1", changes()));
    files.fail_writes_after(INT_MAX);
    auto second = installer();
    ASSERT_TRUE(second.recover());
    EXPECT_EQ(all(), kOld) << n;
    EXPECT_FALSE(second.in_force());
    if (applied) return;
  }
  FAIL() << "it never came to its end";
}

TEST_F(InstallTest, VerifiedStaysAndRevertTakesItBack) {
  auto first = installer();
  ASSERT_TRUE(first.apply("v1", changes()));
  EXPECT_EQ(all(), kNew);
  ASSERT_TRUE(first.verified());
  auto second = installer();
  EXPECT_FALSE(second.recover()->has_value());
  ASSERT_TRUE(second.in_force());
  EXPECT_EQ(second.in_force()->variant, "v1");
  ASSERT_TRUE(second.revert("no longer wanted"));
  EXPECT_EQ(all(), kOld);
}

TEST_F(InstallTest, FilesThatSomebodyElseChangedAreLeftAlone) {
  ASSERT_TRUE(files.write_atomically("b.json", "mine"));
  auto planned = installer().apply("v1", changes());
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().where, "b.json");
  EXPECT_EQ(all(), "old a,mine,(none)");
  ASSERT_TRUE(files.write_atomically("b.json", "old b"));
  ASSERT_TRUE(installer().apply("v1", changes()));
  ASSERT_TRUE(files.write_atomically("b.json", "mine"));
  auto recovered = installer().recover();
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().where, "b.json");
  EXPECT_EQ(all(), "old a,mine,(none)") << "the others are restored";
}

TEST_F(InstallTest, ATornJournalLineIsNoInstallation) {
  ASSERT_TRUE(installer().apply("v1", changes()));
  const std::string path = "w/k/install/journal.jsonl";
  std::string text = *files.read(path);
  ASSERT_TRUE(files.write_atomically(path, text.substr(0, text.size() - 5)));
  auto next = installer();
  ASSERT_TRUE(next.recover());
  EXPECT_EQ(all(), kOld);
  EXPECT_EQ(installer().last()->state, "reverted") << "the line after a torn one is read";
}

}  // namespace
}  // namespace hone::test

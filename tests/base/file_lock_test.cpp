// One at a time, and freed with its holder.
#include "base/file_lock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::base {
namespace {

class FileLockTest : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  Result<std::unique_ptr<FileLock>> claim(const std::string& path) { return FileLock::claim(path, folder.path()); }
};

TEST_F(FileLockTest, ASecondClaimIsAnErrorThatNamesTheHolder) {
  auto first = claim("/somewhere/optimization/rms_norm");
  ASSERT_TRUE(first);
  EXPECT_TRUE((*first)->held());
  auto second = claim("/somewhere/optimization/rms_norm");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::preflight);
  EXPECT_NE(second.error().found.find("process " + std::to_string(::getpid())), std::string::npos);
}

TEST_F(FileLockTest, OtherFoldersAreFree) {
  auto first = claim("/somewhere/optimization/rms_norm");
  auto second = claim("/somewhere/optimization/swiglu");
  ASSERT_TRUE(first && second);
  EXPECT_TRUE((*second)->held());
}

TEST_F(FileLockTest, IsFreedWhenItsHolderLetsGo) {
  { auto first = claim("/w"); }
  auto second = claim("/w");
  ASSERT_TRUE(second);
  EXPECT_TRUE((*second)->held());
}

TEST_F(FileLockTest, IsFreedWhenItsHolderIsKilled) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto held = claim("/w");
    const char word = held && (*held)->held() ? 'y' : 'n';
    (void)!::write(ready[1], &word, 1);
    ::pause();
    ::_exit(0);
  }
  char word = 0;
  ASSERT_EQ(::read(ready[0], &word, 1), 1);
  ASSERT_EQ(word, 'y');
  EXPECT_FALSE(claim("/w"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(claim("/w"));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(FileLockTest, ALinkInItsPlaceIsNotFollowed) {
  SystemFiles files;
  std::string lock;
  {
    auto first = claim("/w");
    auto names = files.list(folder.path());
    ASSERT_TRUE(names);
    ASSERT_EQ(names->size(), 1u);
    lock = join(folder.path(), names->front());
  }
  EXPECT_FALSE(files.exists(lock)) << "removed with the lock";
  const std::string victim = join(folder.path(), "victim");
  ASSERT_TRUE(files.write_atomically(victim, "precious"));
  ASSERT_EQ(::symlink(victim.c_str(), lock.c_str()), 0);
  auto claimed = claim("/w");
  ASSERT_TRUE(claimed);
  EXPECT_FALSE((*claimed)->held());
  EXPECT_EQ(*files.read(victim), "precious");
}

TEST_F(FileLockTest, WithoutAPlaceForItWorkGoesOn) {
  auto claimed = FileLock::claim("/w", join(folder.path(), "no/such/folder"));
  ASSERT_TRUE(claimed);
  EXPECT_FALSE((*claimed)->held());
}

}  // namespace
}  // namespace hone::base

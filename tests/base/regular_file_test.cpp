// What is no file on a disk is refused at once.
#include "base/regular_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/temporary_folder.hpp"

namespace hone::base {
namespace {

TEST(RegularFile, APipeADeviceAndALargeFileAreRefusedWithoutWaiting) {
  test::TemporaryFolder folder;
  SystemFiles files;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);  // nobody writes into it: an open of it would wait for ever
  EXPECT_EQ(read_regular(files, folder / "pipe", 100).error().found, "a pipe, a socket or a device");
  EXPECT_EQ(read_regular(files, "/dev/zero", 100).error().found, "a pipe, a socket or a device");
  ASSERT_TRUE(files.write_atomically(folder / "file", std::string(101, 'x')).ok());
  EXPECT_EQ(read_regular(files, folder / "file", 100).error().found, "a larger one");
  EXPECT_EQ(read_regular(files, folder / "file", 101)->size(), 101u);
  EXPECT_FALSE(read_regular(files, folder / "nothing", 100).ok());
  EXPECT_FALSE(read_regular(files, folder / ".", 100).ok());
}

TEST(RegularFile, FilesInMemoryHaveTheSameBound) {
  MemoryFiles files;
  ASSERT_TRUE(files.write_atomically("/dev/zero", "abc").ok());  // a name in memory is none of the machine's
  EXPECT_EQ(*read_regular(files, "/dev/zero", 3), "abc");
  EXPECT_EQ(read_regular(files, "/dev/zero", 2).error().found, "a larger one");
}

}  // namespace
}  // namespace hone::base

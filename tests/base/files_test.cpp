// Both file systems keep the same promises; the disk one also keeps them against links, modes and full disks.
#include "base/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/support/temporary_folder.hpp"

namespace hone::base {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

enum class Kind { disk, memory };

class AnyFiles : public ::testing::TestWithParam<Kind> {
 protected:
  AnyFiles() {
    if (GetParam() == Kind::disk) {
      files_ = std::make_unique<SystemFiles>();
      root_ = folder_.path();
    } else {
      files_ = std::make_unique<MemoryFiles>();
      root_ = "/memory";
      EXPECT_TRUE(files_->create_directories(root_).ok());
    }
  }
  std::string at(const std::string& name) const { return root_ + "/" + name; }

  test::TemporaryFolder folder_;
  std::unique_ptr<FileSystem> files_;
  std::string root_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, AnyFiles, ::testing::Values(Kind::disk, Kind::memory),
                         [](const auto& parameter) { return parameter.param == Kind::disk ? "disk" : "memory"; });

TEST_P(AnyFiles, ReadsWhatWasWrittenByteForByte) {
  const std::string content("a\0b\r\n\xff", 6);
  ASSERT_TRUE(files_->write_atomically(at("new/folder/file"), content).ok());
  const auto read = files_->read(at("new/folder/file"));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, content);
  EXPECT_TRUE(files_->is_directory(at("new/folder")));
  EXPECT_FALSE(files_->is_directory(at("new/folder/file")));
}

TEST_P(AnyFiles, WritingReplacesTheWholeContentAndLeavesNoOtherFile) {
  ASSERT_TRUE(files_->write_atomically(at("file"), "a longer first content").ok());
  ASSERT_TRUE(files_->write_atomically(at("file"), "second").ok());
  EXPECT_EQ(*files_->read(at("file")), "second");
  EXPECT_THAT(*files_->list(root_), ElementsAre("file"));
}

TEST_P(AnyFiles, AppendingAddsAtTheEndAndCreatesWhatIsMissing) {
  ASSERT_TRUE(files_->append(at("logs/journal"), "one\n").ok());
  ASSERT_TRUE(files_->append(at("logs/journal"), "two\n").ok());
  EXPECT_EQ(*files_->read(at("logs/journal")), "one\ntwo\n");
}

TEST_P(AnyFiles, ListsNamesSortedFoldersToo) {
  ASSERT_TRUE(files_->write_atomically(at("b"), "").ok());
  ASSERT_TRUE(files_->write_atomically(at("c/deep"), "").ok());
  ASSERT_TRUE(files_->create_directories(at("a")).ok());
  EXPECT_THAT(*files_->list(root_), ElementsAre("a", "b", "c"));
}

TEST_P(AnyFiles, RemovingWhatIsMissingIsNoError) {
  EXPECT_TRUE(files_->remove(at("missing")).ok());
  EXPECT_TRUE(files_->remove_recursively(at("missing")).ok());
  EXPECT_TRUE(files_->remove(at("missing/below")).ok());
}

TEST_P(AnyFiles, RemovesAFolderWithAllBelowAndNothingBeside) {
  ASSERT_TRUE(files_->write_atomically(at("work/a/b"), "x").ok());
  ASSERT_TRUE(files_->write_atomically(at("work-not"), "x").ok());
  ASSERT_TRUE(files_->remove_recursively(at("work")).ok());
  EXPECT_FALSE(files_->exists(at("work")));
  EXPECT_FALSE(files_->exists(at("work/a/b")));
  EXPECT_TRUE(files_->exists(at("work-not")));
}

TEST_P(AnyFiles, RemoveRefusesAFolder) {
  ASSERT_TRUE(files_->create_directories(at("folder")).ok());
  const auto removed = files_->remove(at("folder"));
  ASSERT_FALSE(removed.ok());
  EXPECT_THAT(removed.error().found, HasSubstr("directory"));
}

TEST_P(AnyFiles, ErrorsNameThePathTheSystemsWordsAndARemedy) {
  const auto read = files_->read(at("missing"));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::preflight);
  EXPECT_EQ(read.error().where, at("missing"));
  EXPECT_EQ(read.error().found, "No such file or directory");
  EXPECT_FALSE(read.error().remedy.empty());
  EXPECT_FALSE(files_->list(at("missing")).ok());
}

TEST_P(AnyFiles, AFileInTheWayOfAFolderIsToldAsSuch) {
  ASSERT_TRUE(files_->write_atomically(at("file"), "x").ok());
  for (const auto& failed : {files_->write_atomically(at("file/below"), "x"), files_->append(at("file/below"), "x"),
                             files_->create_directories(at("file")), files_->create_directories(at("file/below"))}) {
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().found, "Not a directory");
    EXPECT_THAT(failed.error().remedy, HasSubstr("is a file"));
  }
  EXPECT_EQ(*files_->read(at("file")), "x");
}

TEST_P(AnyFiles, AFolderIsNotAFile) {
  ASSERT_TRUE(files_->create_directories(at("folder")).ok());
  const auto read = files_->read(at("folder"));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().found, "Is a directory");
  EXPECT_FALSE(files_->write_atomically(at("folder"), "x").ok());
  EXPECT_FALSE(files_->append(at("folder"), "x").ok());
}

TEST_P(AnyFiles, TellsFreeSpaceForAPathThatIsYetToBeMade) {
  const auto bytes = files_->free_bytes(at("not/yet/there"));
  ASSERT_TRUE(bytes.ok());
  EXPECT_GT(*bytes, 0u);
}

TEST(SystemFiles, WritesThroughALinkToTheRealFileAndKeepsItsMode) {
  test::TemporaryFolder folder;
  SystemFiles files;
  ASSERT_TRUE(files.write_atomically(folder / "real", "old").ok());
  ASSERT_EQ(::chmod((folder / "real").c_str(), 0750), 0);
  ASSERT_EQ(::symlink("real", (folder / "link").c_str()), 0);
  ASSERT_TRUE(files.write_atomically(folder / "link", "new").ok());
  struct stat status {};
  ASSERT_EQ(::lstat((folder / "link").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(::stat((folder / "real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0750u);
  EXPECT_EQ(*files.read(folder / "real"), "new");
}

TEST(SystemFiles, RemovesALinkButNotWhatItPointsTo) {
  test::TemporaryFolder folder;
  SystemFiles files;
  ASSERT_TRUE(files.write_atomically(folder / "kept/file", "x").ok());
  ASSERT_TRUE(files.create_directories(folder / "gone").ok());
  ASSERT_EQ(::symlink((folder / "kept").c_str(), (folder / "gone/link").c_str()), 0);
  ASSERT_TRUE(files.remove_recursively(folder / "gone").ok());
  EXPECT_TRUE(files.exists(folder / "kept/file"));
}

TEST(SystemFiles, AFileInAFolderThatCanNotBeWrittenIsAnErrorWithARemedy) {
  test::TemporaryFolder folder;
  // Root may write anywhere; /proc refuses even root.
  const std::string place = ::geteuid() == 0 ? "/proc/hone/file" : folder / "closed/file";
  if (::geteuid() != 0) {
    ASSERT_EQ(::mkdir((folder / "closed").c_str(), 0500), 0);
  }
  SystemFiles files;
  const auto written = files.write_atomically(place, "x");
  ASSERT_FALSE(written.ok());
  EXPECT_FALSE(written.error().found.empty());
  EXPECT_FALSE(written.error().remedy.empty());
  EXPECT_FALSE(files.exists(place));
}

// A file size limit stands in for a full disk: both stop a write in the middle. It holds for a whole process, hence a fork.
template <class Body>
int exit_status_below_file_size_limit(rlim_t bytes, Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST(SystemFiles, AWriteThatStopsInTheMiddleKeepsTheOldContentAndLeavesNoRest) {
  test::TemporaryFolder folder;
  SystemFiles files;
  ASSERT_TRUE(files.write_atomically(folder / "file", "old").ok());
  const std::string content(100'000, 'x');
  EXPECT_EQ(exit_status_below_file_size_limit(4096,
                                              [&] {
                                                const auto written = files.write_atomically(folder / "file", content);
                                                return !written.ok() && !written.error().remedy.empty();
                                              }),
            0);
  EXPECT_EQ(*files.read(folder / "file"), "old");
  EXPECT_THAT(*files.list(folder.path()), ElementsAre("file"));
}

TEST(SystemFiles, WhatAKilledWriterLeftIsRemovedByTheNextWriteAndALivingWritersFileStays) {
  test::TemporaryFolder folder;
  const std::string left = folder / ".hone-1-7.tmp", held = folder / ".hone-1-8.tmp", other = folder / ".hone-notes";
  for (const std::string& path : {left, held, other}) std::ofstream(path) << "part";
  const int writer = ::open(held.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(writer, LOCK_EX), 0);
  SystemFiles files;
  ASSERT_TRUE(files.write_atomically(folder / "a", "text"));
  EXPECT_FALSE(files.exists(left));
  EXPECT_TRUE(files.exists(held));
  EXPECT_TRUE(files.exists(other));
  ::close(writer);
}

TEST(SystemFiles, AnAppendThatStopsInTheMiddleIsTakenBack) {
  test::TemporaryFolder folder;
  SystemFiles files;
  ASSERT_TRUE(files.append(folder / "journal", "first\n").ok());
  const std::string content(100'000, 'x');
  EXPECT_EQ(exit_status_below_file_size_limit(4096, [&] { return !files.append(folder / "journal", content).ok(); }),
            0);
  EXPECT_EQ(*files.read(folder / "journal"), "first\n");
}

TEST(SystemFiles, ADeviceWithoutAnEndIsAnErrorAndNotAllOfTheMemory) {
  SystemFiles files;
  const Result<std::string> read = files.read("/dev/zero");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::usage);
  EXPECT_NE(read.error().expected.find("at most 256 MiB"), std::string::npos) << describe(read.error());
  EXPECT_EQ(read.error().where, "/dev/zero");
}

TEST(SystemFiles, AFileThatSaysItIsTooLargeIsNotReadAtAll) {
  test::TemporaryFolder folder;
  SystemFiles files;
  ASSERT_TRUE(files.write_atomically(folder / "sparse", "").ok());
  std::filesystem::resize_file(folder / "sparse", kLargestFileBytes + 1);
  const Result<std::string> read = files.read(folder / "sparse");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().expected.find("at most 256 MiB"), std::string::npos) << describe(read.error());
}

TEST(SystemFiles, AReaderSeesOldOrNewNeverAPart) {
  test::TemporaryFolder folder;
  SystemFiles files;
  const std::string path = folder / "file";
  const std::string a(50'000, 'a'), b(70'000, 'b');
  ASSERT_TRUE(files.write_atomically(path, a).ok());
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(files.write_atomically(path, i % 2 == 0 ? b : a).ok());
  });
  for (int i = 0; i < 200; ++i) {
    const auto seen = files.read(path);
    ASSERT_TRUE(seen.ok());
    EXPECT_TRUE(*seen == a || *seen == b) << "a file of " << seen->size() << " bytes";
  }
  writer.join();
}

TEST(SystemFiles, AppendsFromManyThreadsDoNotMix) {
  test::TemporaryFolder folder;
  SystemFiles files;
  std::vector<std::thread> threads;
  for (char letter : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&, letter] {
      for (int i = 0; i < 10; ++i) EXPECT_TRUE(files.append(folder / "log", std::string(1000, letter) + "\n").ok());
    });
  }
  for (auto& thread : threads) thread.join();
  const std::string log = *files.read(folder / "log");
  ASSERT_EQ(log.size(), 40u * 1001u);
  for (std::size_t line = 0; line < 40; ++line) {
    EXPECT_EQ(log.substr(line * 1001, 1001), std::string(1000, log[line * 1001]) + "\n");
  }
}

TEST(MemoryFiles, TheNthWriteAndAllLaterOnesFailAsOnAFullDisk) {
  MemoryFiles files;
  files.fail_writes_after(2);
  EXPECT_TRUE(files.write_atomically("a", "1").ok());
  const auto second = files.append("a", "2");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().found, "No space left on device");
  EXPECT_THAT(second.error().remedy, HasSubstr("free space"));
  EXPECT_FALSE(files.write_atomically("b", "3").ok());
  EXPECT_EQ(*files.read("a"), "1");
  EXPECT_FALSE(files.exists("b"));
}

TEST(MemoryFiles, OnePathHasOneFileHoweverItIsSpelled) {
  MemoryFiles files;
  ASSERT_TRUE(files.write_atomically("./a//b/", "x").ok());
  EXPECT_EQ(*files.read("a/b"), "x");
  EXPECT_THAT(*files.list("."), ElementsAre("a"));
}

TEST(Paths, JoinHasOneSlashAndLetsAnAbsoluteNameStandAlone) {
  EXPECT_EQ(join("a/b", "c"), "a/b/c");
  EXPECT_EQ(join("a/b/", "c"), "a/b/c");
  EXPECT_EQ(join("a", "/c"), "/c");
  EXPECT_EQ(join("", "c"), "c");
  EXPECT_EQ(join("a", ""), "a");
  EXPECT_EQ(join("/", "c"), "/c");
}

TEST(Paths, ParentAndNameSplitAPath) {
  EXPECT_EQ(parent("a/b/c"), "a/b");
  EXPECT_EQ(parent("c"), ".");
  EXPECT_EQ(parent("/c"), "/");
  EXPECT_EQ(parent("/"), "/");
  EXPECT_EQ(parent("a/b/"), "a");
  EXPECT_EQ(file_name("a/b/c"), "c");
  EXPECT_EQ(file_name("c"), "c");
  EXPECT_EQ(file_name("a/b/"), "b");
}

}  // namespace
}  // namespace hone::base

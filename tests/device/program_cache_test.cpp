// Keys, seals and entries of the program cache.
#include "device/program_cache.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <set>

#include "tests/support/temporary_folder.hpp"

namespace hone::device {
namespace {

ProgramSource sample() { return {"name", {{"a.hpp", "text"}, {"b.hpp", "more"}}, "a.hpp", {{"N", "1"}}}; }

TEST(CacheKey, ChangesWithEverythingThatChangesTheProgram) {
  std::set<std::string> keys = {cache_key(sample(), "compiler", "flags", "processor")};
  const auto differs = [&keys](const ProgramSource& source, const char* compiler, const char* flags,
                               const char* processor) {
    EXPECT_TRUE(keys.insert(cache_key(source, compiler, flags, processor)).second);
  };
  differs(sample(), "compiler 2", "flags", "processor");
  differs(sample(), "compiler", "flags 2", "processor");
  differs(sample(), "compiler", "flags", "processor 2");
  differs(sample(), "compilerflags", "", "processor");
  ProgramSource changed = sample();
  changed.files[1].second = "more.";
  differs(changed, "compiler", "flags", "processor");
  changed = sample();
  changed.files[1].first = "c.hpp";
  differs(changed, "compiler", "flags", "processor");
  changed = sample();
  changed.main_file = "b.hpp";
  differs(changed, "compiler", "flags", "processor");
  changed = sample();
  changed.defines = {{"N", "2"}};
  differs(changed, "compiler", "flags", "processor");
  changed.defines = {{"N", "1"}, {"N1", ""}};
  differs(changed, "compiler", "flags", "processor");
  changed.defines = {};
  differs(changed, "compiler", "flags", "processor");
}

TEST(CacheKey, IgnoresTheNameAndTheOrderOfTexts) {
  ProgramSource other = sample();
  other.name = "another name";
  std::swap(other.files[0], other.files[1]);
  EXPECT_EQ(cache_key(other, "c", "f", "p"), cache_key(sample(), "c", "f", "p"));
}

TEST(Seal, FitsOnlyTheBytesItWasMadeFor) {
  for (const std::string& image : {std::string(), std::string("image"), std::string("a\0b", 3), seal("twice")}) {
    const std::string sealed = seal(image);
    EXPECT_TRUE(is_sealed(sealed));
    for (std::size_t i = 0; i < sealed.size(); ++i) {
      std::string changed = sealed;
      changed[i] ^= 4;
      EXPECT_FALSE(is_sealed(changed)) << i;
      EXPECT_FALSE(is_sealed(sealed.substr(0, i)) && i != image.size()) << i;
    }
  }
}

TEST(ProgramCache, FindsWhatWasStoredAndNothingBroken) {
  base::MemoryFiles files;
  const ProgramCache cache("/cache", "cpu", ".so", files);
  EXPECT_FALSE(cache.find("key"));
  ASSERT_TRUE(cache.store("key", seal("image")));
  EXPECT_EQ(cache.find("key"), seal("image"));
  ASSERT_TRUE(files.write_atomically(cache.path_of("key"), "garbage"));
  EXPECT_FALSE(cache.find("key"));
}

TEST(ProgramCache, AFullDiskIsAnErrorAndLeavesNoEntry) {
  base::MemoryFiles files;
  files.fail_writes_after(0);
  const ProgramCache cache("/cache", "cpu", ".so", files);
  EXPECT_FALSE(cache.store("key", seal("image")));
  EXPECT_FALSE(cache.find("key"));
}

// Stores `count` entries, each a moment later than the one before, as the disk's clock tells it.
void store_in_turn(const ProgramCache& cache, int count, const std::string& image) {
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(cache.store("key" + std::to_string(i), image));
    ASSERT_TRUE(cache.find("key" + std::to_string(i))) << "the newest stays";
    const auto now = std::filesystem::last_write_time(cache.path_of("key" + std::to_string(i)));
    std::filesystem::last_write_time(cache.path_of("key" + std::to_string(i)), now - std::chrono::hours(count - i));
  }
}

TEST(ProgramCache, BeyondItsSizeTheOldestEntriesGo) {
  test::TemporaryFolder folder;
  base::SystemFiles files;
  const std::string image = seal(std::string(1000, 'x'));
  const ProgramCache cache(folder.path(), "cpu", ".so", files, 10 * image.size());
  store_in_turn(cache, 30, image);
  const std::size_t left = files.list(folder / "cpu")->size();
  EXPECT_LE(left, 12u);
  EXPECT_GE(left, 7u);
  EXPECT_FALSE(cache.find("key0"));
  EXPECT_TRUE(cache.find("key27"));
}

TEST(ProgramCache, AnotherProcessesEntriesCountTooAndOtherFilesAreLeftAlone) {
  test::TemporaryFolder folder;
  base::SystemFiles files;
  const std::string image = seal(std::string(1000, 'x'));
  ASSERT_TRUE(files.write_atomically(folder / "cpu/notes.txt", "mine"));
  store_in_turn(ProgramCache(folder.path(), "cpu", ".so", files), 20, image);
  EXPECT_EQ(files.list(folder / "cpu")->size(), 21u);
  ASSERT_TRUE(ProgramCache(folder.path(), "cpu", ".so", files, 10 * image.size()).store("last", image));
  EXPECT_LE(files.list(folder / "cpu")->size(), 12u);
  EXPECT_TRUE(files.exists(folder / "cpu/notes.txt"));
}

TEST(ProgramCache, SaysWhyNothingCanBeKept) {
  base::MemoryFiles files;
  EXPECT_FALSE(ProgramCache("/cache", "cpu", ".so", files).trouble());
  EXPECT_TRUE(files.files().empty());
  EXPECT_NE(ProgramCache("", "cpu", ".so", files).trouble()->remedy.find("HONE_CACHE_DIR"), std::string::npos);
  files.fail_writes_after(0);
  EXPECT_EQ(ProgramCache("/cache", "cpu", ".so", files).trouble()->where, "/cache/cpu/write_check");
}

TEST(ProgramCache, WithoutAFolderNothingIsKept) {
  base::MemoryFiles files;
  const ProgramCache cache("", "cpu", ".so", files);
  EXPECT_TRUE(cache.store("key", seal("image")));
  EXPECT_TRUE(files.files().empty());
}

}  // namespace
}  // namespace hone::device

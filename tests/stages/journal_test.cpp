// The journal only grows, and reads whatever a kill or somebody else left of it.
#include "stages/journal.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/files.hpp"

namespace hone::test {
namespace {

struct Timed {
  double ratio = 0;
  std::string error = {};
};

void fields(auto& archive, model::of<Timed> auto& timed) {
  archive.optional("ratio", timed.ratio);
  archive.optional("error", timed.error);
}

class JournalTest : public ::testing::Test {
 protected:
  stages::Journal open(const std::string& identity = "run") {
    return *stages::Journal::open(files, clock, "w/journal.jsonl", identity);
  }
  base::MemoryFiles files;
  base::ManualClock clock;
};

TEST_F(JournalTest, ATornLastLineIsSkippedAndTheNextLineStartsAfresh) {
  {
    auto journal = open();
    ASSERT_TRUE(journal.append("timed", "a", Timed{0.5}));
    ASSERT_TRUE(journal.append("timed", "b", Timed{0.6}));
  }
  const std::string whole = *files.read("w/journal.jsonl");
  for (std::size_t cut = 1; cut < 60; ++cut) {
    ASSERT_TRUE(files.write_atomically("w/journal.jsonl", whole.substr(0, whole.size() - cut)));
    auto journal = open();
    ASSERT_NE(journal.find<Timed>("timed", "a"), std::nullopt);
    EXPECT_EQ(journal.find<Timed>("timed", "a")->ratio, 0.5);
    ASSERT_TRUE(journal.append("timed", "c", Timed{0.7}));
    EXPECT_NE(open().find<Timed>("timed", "c"), std::nullopt) << "cut " << cut;
  }
}

TEST_F(JournalTest, OnlyGrows) {
  auto journal = open("first");
  ASSERT_TRUE(journal.append("timed", "a", Timed{0.5}));
  const std::string before = *files.read("w/journal.jsonl");
  auto other = open("second");
  EXPECT_EQ(other.find<Timed>("timed", "a"), std::nullopt);
  ASSERT_TRUE(other.append("timed", "a", Timed{0.9}));
  EXPECT_EQ(files.read("w/journal.jsonl")->substr(0, before.size()), before);
  EXPECT_EQ(open("first").find<Timed>("timed", "a")->ratio, 0.5);
}

TEST_F(JournalTest, ForeignLinesAndBytesDoNotBreakIt) {
  ASSERT_TRUE(files.write_atomically("w/journal.jsonl",
                                     "not json\n[1,2]\n{\"event\":5}\n{\"event\":\"x\",\"y\":{}}\n\n\xff\xfe\n"));
  auto journal = open();
  EXPECT_EQ(journal.torn_lines(), 5);
  ASSERT_TRUE(journal.append("timed", "a", Timed{1, "bytes \xff of a compiler"}));
  EXPECT_NE(open().find<Timed>("timed", "a"), std::nullopt);
}

}  // namespace
}  // namespace hone::test

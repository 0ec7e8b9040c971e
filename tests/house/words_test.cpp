// Words that mark unfinished or machine-bound text do not stand in shipped sources.
#include <gtest/gtest.h>

#include <cctype>

#include "tests/house/source_tree.hpp"

namespace hone::house {
namespace {

struct Forbidden {
  std::string word;
  std::string reason;
};

// Written in two parts where this file would otherwise find itself.
const std::vector<Forbidden>& forbidden_words() {
  static const std::vector<Forbidden> words = {
      {"TO"
       "DO",
       "finish it or file it"},
      {"FIX"
       "ME",
       "finish it or file it"},
      {"XX"
       "X",
       "finish it or file it"},
      {"/ho"
       "me/",
       "a path of one machine"},
      {"/wo"
       "rk/",
       "a path of one machine"},
      {"/Us"
       "ers/",
       "a path of one machine"},
  };
  return words;
}

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// A hit is a whole word: XXX in a name such as mkdtemp's XXXXXX pattern is none.
bool contains_word(const std::string& line, const std::string& word) {
  for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = !is_word_character(word.front()) || at == 0 || !is_word_character(line[at - 1]);
    const bool ends = !is_word_character(word.back()) || end == line.size() || !is_word_character(line[end]);
    if (begins && ends) return true;
  }
  return false;
}

std::vector<std::string> faults_of(const Files& files) {
  std::vector<std::string> faults;
  for (const auto& [path, content] : files) {
    const auto lines = lines_of(content);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (const Forbidden& forbidden : forbidden_words()) {
        if (contains_word(lines[i], forbidden.word)) {
          faults.push_back(place(path, i) + ": '" + forbidden.word + "': " + forbidden.reason);
        }
      }
    }
  }
  return faults;
}

TEST(Words, OfUnfinishedOrMachineBoundTextAreAbsent) {
  const Files files = read_files(HONE_SOURCE_DIR, {"src", "kernels", "cmake", "docs", "tools"},
                                 {".cpp", ".hpp", ".md", ".py", ".sh", ".txt", ".cmake", ".cu", ".cuh"});
  EXPECT_GT(files.size(), 20u) << "nothing was scanned below " << HONE_SOURCE_DIR;
  for (const std::string& fault : faults_of(files)) ADD_FAILURE() << fault;
}

TEST(Words, AreFoundAsWholeWordsWithTheirPlace) {
  const std::string mark = std::string("TO") + "DO";
  EXPECT_EQ(faults_of({{"a.cpp", "int a;\n// " + mark + ": later\n"}}).at(0).substr(0, 7), "a.cpp:2");
  EXPECT_TRUE(faults_of({{"a.cpp", "int " + mark + "_count;\n"}}).empty());
}

}  // namespace
}  // namespace hone::house

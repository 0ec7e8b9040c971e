// Words that do not stand in what the project ships: marks of unfinished or machine-bound text in sources, and in the texts that
// people read, wordings for which kernel engineers have a term.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
      {"/ro"
       "ot/",
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

TEST(Words, OfOneMachineAreAbsentFromPublishedResultsAndTests) {
  Files files = read_files(HONE_SOURCE_DIR, {"docs", "results", "examples", "kernels", "tests"},
                           {".md", ".html", ".toml", ".cpp", ".hpp"});
  EXPECT_GT(files.size(), 300u);
  for (const std::string& fault : faults_of(files))
    if (fault.find("a path of one machine") != std::string::npos) ADD_FAILURE() << fault;
}

TEST(Words, AreFoundAsWholeWordsWithTheirPlace) {
  const std::string mark = std::string("TO") + "DO";
  EXPECT_EQ(faults_of({{"a.cpp", "int a;\n// " + mark + ": later\n"}}).at(0).substr(0, 7), "a.cpp:2");
  EXPECT_TRUE(faults_of({{"a.cpp", "int " + mark + "_count;\n"}}).empty());
}

struct Wording {
  std::string phrase;  // lower case, single spaces; matched as whole words in any case, across line breaks too
  std::string better;
};

const std::vector<Wording>& replaced_wordings() {
  static const std::vector<Wording> wordings = {
      {"least traffic", "minimum traffic"},
      {"least bytes", "minimum traffic"},
      {"beyond doubt", "statistically significant"},
      {"whole number", "integer"},
      {"whole numbers", "integers"},
      {"the house", "the project"},
      {"over the floor", "above the roofline bound"},
      {"give back", "release"},
      {"gives back", "releases"},
      {"given back", "released"},
      {"last words", "the tail of stderr"},
      {"physics floor", "physical bound"},
      {"programs that stay", "long-lived subprocesses"},
      {"warp of its own", "producer warp"},
      {"ring of shared memory", "circular shared-memory buffer"},
      {"the one ahead of it", "the preceding launch (programmatic dependent launch)"},
      {"kernel that was never run", "untested kernel"},
      {"do not know each other", "independent"},
      {"the larger stands", "the higher one is kept"},
      {"missing part costs", "you lose without it"},
      {"kernel that is meant", "kernel, with its default"},
      {"small form of the matrix", "reduced set of shapes and dtypes"},
      {"while it is near", "data reuse"},
      {"problem's fault", "invalid input"},
  };
  return wordings;
}

// `text` with each character of [begin, end) replaced, lines kept, so that a place found in it is a place of the text. The mark
// is neither a letter nor a space: no phrase reaches over it.
void blank(std::string& text, std::size_t begin, std::size_t end, char mark = '`') {
  for (std::size_t i = begin; i < end && i < text.size(); ++i)
    if (text[i] != '\n') text[i] = mark;
}

// A document's sentences and what its commands print, without `code` and links' targets.
std::string prose_of(const std::string& document) {
  std::string prose = document;
  const auto blank_between = [&](const std::string& open, const std::string& close) {
    for (std::size_t begin = prose.find(open); begin != std::string::npos; begin = prose.find(open, begin)) {
      const std::size_t inside = begin + open.size();
      const std::size_t end = std::min(prose.find(close, inside), prose.size());
      blank(prose, begin, end + close.size(), '\x01');
      begin = std::min(end + close.size(), prose.size());
    }
  };
  // The marks of a fenced block pair off with themselves, so its text stays.
  blank_between("```", "\n");
  blank_between("`", "`");
  blank_between("](", ")");
  return prose;
}

// What a C++ source says to people: its string literals, adjacent ones as one text.
std::string literals_of(const std::string& source) {
  std::string text = source;
  blank(text, 0, text.size());
  std::size_t last_end = std::string::npos;  // behind the closing quote of the literal before
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.compare(i, 2, "//") == 0) {
      i = std::min(source.find('\n', i), source.size());
      continue;
    }
    if (source[i] == '\'') {  // a character; a digit separator stands between digits
      if (i > 0 && std::isalnum(static_cast<unsigned char>(source[i - 1])) != 0) continue;
      for (++i; i < source.size() && source[i] != '\''; ++i)
        if (source[i] == '\\') ++i;
      continue;
    }
    if (source[i] != '"') continue;
    const bool adjacent = last_end != std::string::npos && source.find_first_not_of(" \n", last_end) == i;
    if (adjacent) blank(text, last_end - 1, i + 1, '\0');
    for (++i; i < source.size() && source[i] != '"'; ++i) {
      const bool escape = source[i] == '\\';
      text[i] = escape ? ' ' : source[i];
      if (escape) text[++i] = ' ';
    }
    last_end = i + 1;
  }
  return text;
}

bool is_gap(char c) { return c == ' ' || c == '\n' || c == '\0'; }

// How many characters `phrase` takes at `at`: a space of it is any gap. 0 where it does not stand there as whole words.
std::size_t length_at(const std::string& text, std::size_t at, const std::string& phrase) {
  if (at > 0 && is_word_character(text[at - 1])) return 0;
  std::size_t i = at;
  for (const char c : phrase) {
    if (c != ' ') {
      while (i < text.size() && text[i] == '\0') ++i;  // a word that two literals share
      if (i == text.size() || std::tolower(static_cast<unsigned char>(text[i])) != c) return 0;
      ++i;
      continue;
    }
    if (i == text.size() || !is_gap(text[i])) return 0;
    while (i < text.size() && is_gap(text[i])) ++i;
  }
  return i < text.size() && is_word_character(text[i]) ? 0 : i - at;
}

std::vector<std::string> replaced_wordings_in(const std::string& path, const std::string& text) {
  std::vector<std::string> faults;
  for (const Wording& wording : replaced_wordings()) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (length_at(text, at, wording.phrase) == 0) continue;
      const auto line = static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
      faults.push_back(place(path, line) + ": '" + wording.phrase + "': better: " + wording.better);
    }
  }
  return faults;
}

TEST(Words, WithATermOfTheFieldAreNotParaphrasedInDocuments) {
  Files documents = read_files(HONE_SOURCE_DIR, {"docs", "kernels", "examples"}, {".md"});
  for (const char* name : {"README.md", "CONTRIBUTING.md"}) {
    std::ifstream file(std::string(HONE_SOURCE_DIR) + "/" + name);
    ASSERT_TRUE(file) << name;
    documents[name] = std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  ASSERT_EQ(documents.count("docs/architecture.md"), 1u);
  for (const auto& [path, text] : documents)
    for (const std::string& fault : replaced_wordings_in(path, prose_of(text))) ADD_FAILURE() << fault;
}

TEST(Words, WithATermOfTheFieldAreNotParaphrasedInMessages) {
  const Files sources = read_files(HONE_SOURCE_DIR, {"src", "kernels"}, {".cpp", ".hpp"});
  ASSERT_GT(sources.size(), 300u);
  for (const auto& [path, text] : sources)
    for (const std::string& fault : replaced_wordings_in(path, literals_of(text))) ADD_FAILURE() << fault;
}

TEST(Words, ParaphrasedAreFoundAcrossLinesAndNotInCodeOrOtherWords) {
  const auto in_prose = [](const std::string& text) { return replaced_wordings_in("a.md", prose_of(text)); };
  EXPECT_THAT(in_prose("Each pass has its\nLeast  traffic, and more.\n"),
              testing::ElementsAre("a.md:2: 'least traffic': better: minimum traffic"));
  EXPECT_THAT(in_prose("the\n  house\n"), testing::ElementsAre(testing::StartsWith("a.md:1: 'the house'")));
  EXPECT_THAT(in_prose("```cpp\n3 faster beyond doubt\n```\n"), testing::SizeIs(1)) << "what a command prints";
  EXPECT_THAT(in_prose("see `the house` and [text](docs/the house)\n"), testing::IsEmpty());
  EXPECT_THAT(in_prose("the households; at least traffics; the `x` house; tests/house/\n"), testing::IsEmpty());

  const auto in_source = [](const std::string& text) { return replaced_wordings_in("a.cpp", literals_of(text)); };
  EXPECT_THAT(in_source("f(\"a whole \"\n  \"number\");\n"),
              testing::ElementsAre(testing::StartsWith("a.cpp:1: 'whole number'")));
  EXPECT_THAT(in_source("// a whole number\nf('\"', \"whole\", \"number\", 1'000, \"\\\"\");\n"), testing::IsEmpty());
}

}  // namespace
}  // namespace hone::house

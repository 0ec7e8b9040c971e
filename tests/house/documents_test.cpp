// Paths that documents name exist: a reader who follows one arrives.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "tests/house/source_tree.hpp"

namespace hone::house {
namespace {

struct Mention {
  std::string path;
  std::size_t line_index = 0;
};

// The documents that people write about this tree; goldens and saved results speak of other trees and of files of a run.
const std::vector<std::string>& folders_of_documents() {
  static const std::vector<std::string> folders = {"docs", "kernels", "src"};
  return folders;
}

// Relative links [text](path), and `code` that begins with a folder of the repository. Patterns (<op>, {a,b}, *, $X) and
// what a run creates (build/, optimization/) name no single file.
std::vector<Mention> mentions_in(const std::string& text) {
  static const std::regex link(R"(\]\(([^)#:\s]+)(#[^)]*)?\))");
  static const std::regex code(R"(`((?:\./)?(?:src|kernels|tests|docs|tools|cmake|results)/[^`\s]*)`)");
  std::vector<Mention> mentions;
  const auto lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const auto& pattern : {link, code}) {
      for (std::sregex_iterator match(lines[i].begin(), lines[i].end(), pattern), end; match != end; ++match) {
        const std::string path = (*match)[1];
        const bool elsewhere = path.rfind("src/liger_kernel/", 0) == 0;  // a Liger-Kernel checkout's file
        if (!elsewhere && path.find_first_of("<>{}*$") == std::string::npos) mentions.push_back({path, i});
      }
    }
  }
  return mentions;
}

// A file may be meant from the root or from the document's own folder; "file.cpp:12" means the file.
bool exists(const std::string& root, const std::string& document, std::string path) {
  path = std::regex_replace(path, std::regex(R"(:\d+$)"), "");
  return std::filesystem::exists(root + "/" + path) ||
         std::filesystem::exists((std::filesystem::path(root) / document).parent_path() / path);
}

TEST(Documents, NamePathsThatExist) {
  const std::string root = HONE_SOURCE_DIR;
  Files documents = read_files(root, folders_of_documents(), {".md"});
  for (const char* name : {"README.md", "CONTRIBUTING.md"}) {
    ASSERT_TRUE(std::filesystem::exists(root + "/" + name)) << name;
    std::ifstream file(root + "/" + name);
    documents[name] = std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  std::size_t checked = 0;
  for (const auto& [document, text] : documents) {
    for (const Mention& mention : mentions_in(text)) {
      ++checked;
      EXPECT_TRUE(exists(root, document, mention.path))
          << place(document, mention.line_index) << ": " << mention.path << " does not exist";
    }
  }
  EXPECT_GT(checked, 10u) << "no path was found in the documents";
}

TEST(Documents, MentionsAreFoundInLinksAndCode) {
  const auto mentions =
      mentions_in("see [map](docs/a.md#top) and `src/base/files.hpp`\n`src/<op>/x` [web](https://x.y/z)\n");
  ASSERT_EQ(mentions.size(), 2u);
  EXPECT_EQ(mentions[0].path, "docs/a.md");
  EXPECT_EQ(mentions[1].path, "src/base/files.hpp");
  EXPECT_FALSE(exists(HONE_SOURCE_DIR, "README.md", "src/missing.hpp"));
  EXPECT_TRUE(exists(HONE_SOURCE_DIR, "README.md", "src/base/files.hpp:3"));
}

}  // namespace
}  // namespace hone::house

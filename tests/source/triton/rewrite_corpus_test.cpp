// The corpus of rewrites: each case of tests/source/rewrites/*.txt is a source, what is asked, and the text it must become
// or why nothing is changed.
//
//   === name of the case
//   % encode crlf|bom|tabs|no_final_newline                  (optional; the expected text is encoded likewise)
//   % ask programs-per-sm pass=backward programs_per_sm=3    (one line for each request)
//   % ask settings-function rows=1-4096:num_warps=4,BLOCK_SIZE=4096;4097-8192:num_warps=8 reason=measured
//   % file other/path.py                                     (optional: what follows is another file)
//   source text of pkg/op.py
//   ---
//   the expected text without the header comment, or one line `reason: PART OF THE REASON`
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/files.hpp"
#include "source/edit.hpp"
#include "source/triton/rewrite/rewrite.hpp"
#include "tests/source/triton/rewrite_requests.hpp"

namespace {

namespace fs = std::filesystem;
namespace rewrite = hone::source::rewrite;

struct RewriteCase {
  std::string name, corpus, expected;
  std::vector<std::string> encodings, asks;
  std::vector<std::pair<std::string, std::string>> files;
};

void PrintTo(const RewriteCase& c, std::ostream* out) { *out << c.corpus << ": " << c.name; }

std::vector<RewriteCase> load_rewrite_cases() {
  std::vector<RewriteCase> cases;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(HONE_SOURCE_DIR) / "tests/source/rewrites")) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    std::ifstream in(path);
    bool expected = false, inside = false;  // the lines before the first case say what the file is about
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("=== ", 0) == 0) {
        cases.push_back({line.substr(4), path.stem().string(), "", {}, {}, {{"pkg/op.py", ""}}});
        expected = false;
        inside = true;
      } else if (!inside) {
        continue;
      } else if (line == "---") {
        expected = true;
      } else if (expected) {
        cases.back().expected += line + "\n";
      } else if (line.rfind("% encode ", 0) == 0) {
        cases.back().encodings.push_back(line.substr(9));
      } else if (line.rfind("% ask ", 0) == 0) {
        cases.back().asks.push_back(line.substr(6));
      } else if (line.rfind("% file ", 0) == 0) {
        cases.back().files.emplace_back(line.substr(7), "");
      } else {
        cases.back().files.back().second += line + "\n";
      }
    }
  }
  return cases;
}

std::string encoded(std::string text, const std::vector<std::string>& encodings, bool whole_file) {
  for (const std::string& how : encodings) {
    std::string out;
    if (how == "bom") out = whole_file ? "\xEF\xBB\xBF" : "";
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (how == "crlf" && text[i] == '\n')
        out += "\r\n";
      else if (how == "tabs" && text.compare(i, 4, "    ") == 0)
        out += '\t', i += 3;
      else
        out += text[i];
    }
    if (how == "no_final_newline") {
      while (!out.empty() && out.back() == '\n') out.pop_back();
    }
    text = std::move(out);
  }
  return text;
}

// The text behind the header: its comment lines and the empty line after them.
std::string without_header(const std::string& text) {
  std::size_t at = 0;
  while (at < text.size() && (text.compare(at, 3, "\xEF\xBB\xBF") == 0 || text[at] == '#')) {
    at = text.find('\n', at);
    at = at == std::string::npos ? text.size() : at + 1;
  }
  const std::size_t end = text.find('\n', at);
  return end == std::string::npos ? "" : text.substr(end + 1);
}

class Rewrites : public ::testing::TestWithParam<RewriteCase> {};

TEST_P(Rewrites, gives_the_expected_text_or_reason) {
  const RewriteCase& c = GetParam();
  hone::base::MemoryFiles files;
  std::string source;
  for (std::size_t i = 0; i < c.files.size(); ++i) {
    const std::string text = i == 0 ? encoded(c.files[i].second, c.encodings, true) : c.files[i].second;
    if (i == 0) source = text;
    ASSERT_TRUE(files.write_atomically("/w/" + c.files[i].first, text).ok());
  }
  std::vector<rewrite::Request> requests;
  for (const std::string& ask : c.asks) requests.push_back(hone::tests::request_from(ask));
  ASSERT_FALSE(requests.empty());
  const auto variant = rewrite::compose(files, "/w/pkg/op.py", source, requests, "A variant.");
  if (c.expected.rfind("reason: ", 0) == 0) {
    const std::string reason = c.expected.substr(8, c.expected.size() - 9);
    ASSERT_FALSE(variant.ok()) << "it applies and gives\n" << variant->text;
    EXPECT_NE(variant.error().found.find(reason), std::string::npos)
        << "the reason is: " << variant.error().found << " (expected: " << variant.error().expected << ")";
    return;
  }
  ASSERT_TRUE(variant.ok()) << variant.error().expected << ", found: " << variant.error().found;
  EXPECT_EQ(without_header(variant->text), encoded(c.expected, c.encodings, false));
  EXPECT_FALSE(variant->touched.empty());
  EXPECT_TRUE(variant->facts.problems.empty());
}

std::string rewrite_name(const ::testing::TestParamInfo<RewriteCase>& info) {
  std::string name = info.param.corpus + "_" + info.param.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Rewrites, ::testing::ValuesIn(load_rewrite_cases()), rewrite_name);

TEST(RewritesItself, has_cases_both_ways_for_each_rewrite) {
  const std::vector<RewriteCase> cases = load_rewrite_cases();
  for (const rewrite::Rewrite& each : rewrite::rewrites()) {
    int applied = 0, refused = 0;
    for (const RewriteCase& c : cases) {
      if (c.asks.empty() || hone::tests::request_from(c.asks.front()).rewrite != each.name) continue;
      (c.expected.rfind("reason: ", 0) == 0 ? refused : applied) += 1;
    }
    EXPECT_GE(applied, 2) << each.name;
    EXPECT_GE(refused, 2) << each.name;
  }
}

}  // namespace

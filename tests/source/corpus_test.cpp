// The text corpus: each case of tests/source/corpus/*.txt is a source and the facts it must give.
//
//   === name of the case
//   % encode crlf|bom|tabs|latin1|no_final_newline    (optional, applied to the first file)
//   % file other/path.py                               (optional: what follows is another file)
//   source text of the first file, pkg/kernel.py (kernel.cu with `% cuda`, kernel.cpp with `% cpp`)
//   ---
//   path.in.the.json = JSON value                      (`#` is a list's length; `audit.` starts at the document)
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.hpp"
#include "diagnose/source_advice/advice.hpp"
#include "source/audit.hpp"

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

struct Case {
  std::string name, corpus;
  std::vector<std::string> encodings;
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<std::string> expected;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.corpus << ": " << c.name; }

std::vector<Case> load_cases() {
  std::vector<Case> cases;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(HONE_SOURCE_DIR) / "tests/source/corpus"))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    std::ifstream in(path);
    bool facts = false, inside = false;  // the lines before the first case say what the file is about
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("=== ", 0) == 0) {
        cases.push_back({line.substr(4), path.stem().string(), {}, {{"pkg/kernel.py", ""}}, {}});
        facts = false;
        inside = true;
      } else if (!inside) {
        continue;
      } else if (line == "---") {
        facts = true;
      } else if (facts) {
        if (!line.empty() && line[0] != '#') cases.back().expected.push_back(line);
      } else if (line.rfind("% encode ", 0) == 0) {
        cases.back().encodings.push_back(line.substr(9));
      } else if (line == "% cuda") {
        cases.back().files[0].first = "pkg/kernel.cu";
      } else if (line == "% cpp") {
        cases.back().files[0].first = "pkg/kernel.cpp";
      } else if (line.rfind("% file ", 0) == 0) {
        cases.back().files.emplace_back(line.substr(7), "");
      } else {
        cases.back().files.back().second += line + "\n";
      }
    }
  }
  return cases;
}

std::string encoded(std::string text, const std::string& how) {
  std::string out;
  if (how == "bom") return "\xEF\xBB\xBF" + text;
  if (how == "no_final_newline") {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  if (how == "latin1") {  // the two-byte UTF-8 of U+00E9 becomes the one byte of Latin-1
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\xC3' && i + 1 < text.size())
        out += static_cast<char>(static_cast<unsigned char>(text[++i]) | 0x40);
      else
        out += text[i];
    }
    return out;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (how == "crlf" && text[i] == '\n')
      out += "\r\n";
    else if (how == "tabs" && text.compare(i, 4, "    ") == 0)
      out += '\t', i += 3;
    else
      out += text[i];
  }
  return out;
}

// The value at "a.0.b.#"; nothing where the path leads nowhere.
std::optional<Json> at_path(const Json& root, const std::string& path) {
  Json value = root;
  std::stringstream parts(path);
  for (std::string part; std::getline(parts, part, '.');) {
    if (part == "#") {
      if (!value.is_array() && !value.is_object()) return std::nullopt;
      value = value.size();
    } else if (value.is_array() && !part.empty() && part.find_first_not_of("0123456789") == std::string::npos) {
      const auto index = static_cast<std::size_t>(std::stoul(part));
      if (index >= value.size()) return std::nullopt;
      value = Json(value[index]);
    } else if (value.is_object() && value.contains(part)) {
      value = Json(value[part]);
    } else {
      return std::nullopt;
    }
  }
  return value;
}

class Corpus : public ::testing::TestWithParam<Case> {};

TEST_P(Corpus, gives_the_expected_facts) {
  const Case& c = GetParam();
  hone::base::MemoryFiles files;
  for (std::size_t i = 0; i < c.files.size(); ++i) {
    std::string text = c.files[i].second;
    if (i == 0) {
      for (const std::string& how : c.encodings) text = encoded(text, how);
    }
    ASSERT_TRUE(files.write_atomically("/w/" + c.files[i].first, text).ok());
  }
  hone::model::Audit audit;
  auto found = hone::source::audit_paths(files, {"/w/" + c.files[0].first});
  if (found) audit = std::move(*found);
  hone::diagnose::advise(audit);
  const Json document = Json::parse(hone::model::to_json(audit));
  const Json op = document["kernels"].empty() ? Json::object() : document["kernels"][0];
  ASSERT_FALSE(c.expected.empty());
  for (const std::string& line : c.expected) {
    const std::size_t equals = line.find(" = ");
    ASSERT_NE(equals, std::string::npos) << line;
    const std::string path = line.substr(0, equals);
    const Json expected = Json::parse(line.substr(equals + 3));
    const auto value = path.rfind("audit.", 0) == 0 ? at_path(document, path.substr(6)) : at_path(op, path);
    if (!value) {
      ADD_FAILURE() << path << ": not there; the op is " << op.dump(1).substr(0, 6000);
      continue;
    }
    EXPECT_EQ(*value, expected) << path << "; the document begins " << document.dump().substr(0, 300);
  }
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.corpus + "_" + info.param.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Corpus, ::testing::ValuesIn(load_cases()), name_of);

TEST(CorpusItself, has_cases_for_each_file) { EXPECT_GE(load_cases().size(), 40u); }

}  // namespace

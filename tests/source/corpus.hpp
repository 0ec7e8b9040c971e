// The text corpus: each case of tests/source/corpus/*.txt is a source and the facts it must give.
//
//   === name of the case
//   % encode crlf|bom|tabs|latin1|no_final_newline    (optional, applied to the first file)
//   % file other/path.py                               (optional: what follows is another file)
//   source text of the first file, pkg/kernel.py (kernel.cu with `% cuda`, kernel.cpp with `% cpp`)
//   ---
//   path.in.the.json = JSON value                      (`#` is a list's length; `audit.` starts at the document)
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/files.hpp"
#include "diagnose/source_advice/advice.hpp"
#include "source/audit.hpp"

namespace hone::source::corpus {

using Json = nlohmann::json;

struct Case {
  std::string name, corpus;
  std::vector<std::string> encodings;
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<std::string> expected;
};

inline void PrintTo(const Case& c, std::ostream* out) { *out << c.corpus << ": " << c.name; }

// Of the files about C++ and CUDA, or of the others, which are about Triton.
inline std::vector<Case> load_cases(bool cpp) {
  std::vector<Case> cases;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/tests/source/corpus"))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) {
    const std::string corpus = path.stem().string();
    if (cpp != (corpus == "cpp" || corpus == "cuda")) continue;
    std::ifstream in(path);
    bool facts = false, inside = false;  // the lines before the first case say what the file is about
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("=== ", 0) == 0) {
        cases.push_back({line.substr(4), corpus, {}, {{"pkg/kernel.py", ""}}, {}});
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

inline std::string encoded(std::string text, const std::string& how) {
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
inline std::optional<Json> at_path(const Json& root, const std::string& path) {
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

inline model::Audit audit_of(const Case& c) {
  base::MemoryFiles files;
  for (std::size_t i = 0; i < c.files.size(); ++i) {
    std::string text = c.files[i].second;
    if (i == 0) {
      for (const std::string& how : c.encodings) text = encoded(text, how);
    }
    EXPECT_TRUE(files.write_atomically("/w/" + c.files[i].first, text).ok());
  }
  model::Audit audit;
  auto found = source::audit_paths(files, {"/w/" + c.files[0].first});
  if (found) audit = std::move(*found);
  diagnose::advise(audit);
  return audit;
}

// The facts that are not as expected.
inline std::vector<std::string> wrong_facts(const Case& c) {
  const Json document = Json::parse(model::to_json(audit_of(c)));
  const Json op = document["kernels"].empty() ? Json::object() : document["kernels"][0];
  std::vector<std::string> wrong;
  if (c.expected.empty()) wrong.push_back("the case expects nothing");
  for (const std::string& line : c.expected) {
    const std::size_t equals = line.find(" = ");
    if (equals == std::string::npos) {
      wrong.push_back("no fact: " + line);
      continue;
    }
    const std::string path = line.substr(0, equals);
    const auto value = path.rfind("audit.", 0) == 0 ? at_path(document, path.substr(6)) : at_path(op, path);
    if (!value) {
      wrong.push_back(path + ": not there; the op is " + op.dump(1).substr(0, 6000));
    } else if (*value != Json::parse(line.substr(equals + 3))) {
      wrong.push_back(line + ", but it is " + value->dump() + "; the document begins " +
                      document.dump().substr(0, 300));
    }
  }
  return wrong;
}

inline std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.corpus + "_" + info.param.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace hone::source::corpus

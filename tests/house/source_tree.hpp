// Reads the project's own files for the house checks: paths relative to the root, contents, lines.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace hone::house {

using Files = std::map<std::string, std::string>;  // path relative to the root -> content

// All files below `folders` of `root` that end in one of `endings`.
inline Files read_files(const std::string& root, const std::vector<std::string>& folders,
                        const std::vector<std::string>& endings) {
  Files files;
  for (const std::string& folder : folders) {
    std::error_code failure;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root + "/" + folder, failure)) {
      if (!entry.is_regular_file()) continue;
      const std::string path = std::filesystem::relative(entry.path(), root).string();
      const bool wanted = std::any_of(endings.begin(), endings.end(), [&](const std::string& ending) {
        return path.size() >= ending.size() && path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
      });
      if (!wanted) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      files[path] = std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    }
  }
  return files;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

inline std::string place(const std::string& path, std::size_t line_index) {
  return path + ":" + std::to_string(line_index + 1);
}

}  // namespace hone::house

// Finds the #include lines that break the floor table. A pure function of file contents, so that it is itself tested.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/house/floors.hpp"
#include "tests/house/source_tree.hpp"

namespace hone::house {

struct Include {
  std::string target;
  bool in_quotes = true;
};

// The target of an #include line, whatever the spacing; nothing for any other line.
inline std::optional<Include> parse_include(const std::string& line) {
  const auto skip_blanks = [&](std::size_t at) { return std::min(line.find_first_not_of(" \t", at), line.size()); };
  std::size_t at = skip_blanks(0);
  if (at == line.size() || line[at] != '#') return std::nullopt;
  at = skip_blanks(at + 1);
  if (line.compare(at, 7, "include") != 0) return std::nullopt;
  at = skip_blanks(at + 7);
  if (at == line.size() || (line[at] != '"' && line[at] != '<')) return std::nullopt;
  const char closing = line[at] == '"' ? '"' : '>';
  const std::size_t end = line.find(closing, at + 1);
  if (end == std::string::npos) return std::nullopt;
  return Include{line.substr(at + 1, end - at - 1), closing == '"'};
}

inline bool begins_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

// "device/*" admits "device/device.hpp", not "device/cpu/compile.hpp"; "model/" admits all below.
inline bool admits(const std::string& pattern, const std::string& target) {
  if (pattern.back() != '*') return begins_with(target, pattern);
  const std::string folder = pattern.substr(0, pattern.size() - 1);
  return begins_with(target, folder) && target.find('/', folder.size()) == std::string::npos;
}

inline const Floor* floor_of(const std::string& path) {
  const Floor* best = nullptr;
  for (const Floor& floor : floors()) {
    if (!begins_with(path, floor.folder + "/")) continue;
    if (best == nullptr || floor.folder.size() > best->folder.size()) best = &floor;
  }
  return best;
}

// Why a file may not include a target; empty when it may.
inline std::string objection(const std::string& path, const Include& include) {
  const bool is_header = path.size() > 4 && path.compare(path.size() - 4, 4, ".hpp") == 0;
  if (!include.in_quotes) {
    for (const LibraryRule& rule : library_rules()) {
      if (!begins_with(include.target, rule.header)) continue;
      bool allowed = false;
      for (const std::string& folder : rule.allowed) allowed = allowed || begins_with(path, folder);
      if (is_header && !rule.in_headers) allowed = false;
      return allowed ? "" : rule.reason;
    }
    return "";
  }
  const Floor* floor = floor_of(path);
  if (floor == nullptr) return "the file lies on no floor of tests/house/floors.hpp";
  if (include.target.find("..") != std::string::npos)
    return "includes are written from src/ or the root, never with '..'";
  const bool from_kernels = begins_with(floor->folder, "kernels");
  if (from_kernels) {
    return begins_with(include.target, "kernels/") ? "" : "kernels/ includes only kernels/ and the standard library";
  }
  const std::string own = floor->folder == "src" ? "" : floor->folder.substr(4) + "/";
  if (!own.empty() && admits(own == "device/" || own == "repository/" ? own + "*" : own, include.target)) return "";
  for (const std::string& pattern : floor->may_include) {
    if (admits(pattern, include.target)) return "";
  }
  std::string allowed;
  for (const std::string& pattern : floor->may_include) allowed += " " + pattern;
  return floor->folder + " may include only itself and" + (allowed.empty() ? " the standard library" : allowed);
}

struct IncludeReport {
  std::size_t files = 0, includes = 0;
  std::vector<std::string> faults;  // "src/a/b.cpp:3: includes \"c\": rule"
};

inline IncludeReport check_includes(const Files& files) {
  IncludeReport report;
  for (const auto& [path, content] : files) {
    ++report.files;
    const auto lines = lines_of(content);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto include = parse_include(lines[i]);
      if (!include) continue;
      ++report.includes;
      const std::string reason = objection(path, *include);
      if (!reason.empty()) report.faults.push_back(place(path, i) + ": includes " + include->target + ": " + reason);
    }
  }
  return report;
}

}  // namespace hone::house

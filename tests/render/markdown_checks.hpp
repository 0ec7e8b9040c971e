// What holds for every Markdown document hone writes, checked on its text.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace hone::test {

// Cells of a table line: '|' that is not escaped separates them.
inline std::size_t cells_of(const std::string& line) {
  std::size_t bars = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\')
      ++i;
    else if (line[i] == '|')
      ++bars;
  }
  return bars;
}

// Faults of a document, each with its line: tables whose rows differ in cells or lack a head, cells or fields without text,
// headings without text, fences left open, sentences that end in nothing.
inline std::vector<std::string> markdown_faults(const std::string& text) {
  std::vector<std::string> faults;
  const auto lines = base::split(text, '\n');
  std::string fence;
  std::size_t table_cells = 0, table_line = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const auto fault = [&](const std::string& what) {
      faults.push_back(std::to_string(i + 1) + ": " + what + ": " + line.substr(0, 120));
    };
    if (line.find_first_not_of('`') >= 3 || (line.size() >= 3 && line.find_first_not_of('`') == std::string::npos)) {
      if (base::starts_with(line, "```")) {
        const std::string ticks = line.substr(0, std::min(line.find_first_not_of('`'), line.size()));
        if (fence.empty())
          fence = ticks;
        else if (line == fence)
          fence.clear();
        continue;
      }
    }
    if (!fence.empty()) continue;
    if (base::starts_with(line, "|")) {
      const std::size_t cells = cells_of(line);
      if (table_cells == 0) {
        table_cells = cells;
        table_line = i;
        if (i > 0 && !lines[i - 1].empty()) fault("a table without an empty line before it");
      } else if (cells != table_cells) {
        fault("a row with another number of cells");
      }
      if (i == table_line + 1 && line.find_first_not_of("|-: ") != std::string::npos)
        fault("no line of dashes below the head");
      std::size_t begin = 1;
      for (std::size_t at = 1; at < line.size(); ++at) {
        if (line[at] == '\\') {
          ++at;
          continue;
        }
        if (line[at] != '|') continue;
        if (base::trim(line.substr(begin, at - begin)).empty()) fault("a cell without text");
        begin = at + 1;
      }
      continue;
    }
    if (table_cells != 0 && !line.empty()) fault("text directly below a table");
    table_cells = 0;
    const std::string bare = base::trim(line);
    if (!bare.empty() && bare.find_first_not_of('#') == std::string::npos) fault("a heading without text");
    for (const char* hole : {": .", ", .", "()", "  .", " because .", "::", ".."})
      if (bare.find(hole) != std::string::npos && bare.find("...") == std::string::npos &&
          bare.find("`") == std::string::npos)
        fault("a hole in a sentence");
    if (!bare.empty() && bare.back() == ':' && (i + 2 >= lines.size() || lines[i + 2].empty()))
      fault("a sentence that promises what does not come");
  }
  if (!fence.empty()) faults.push_back("a fence left open");
  return faults;
}

}  // namespace hone::test

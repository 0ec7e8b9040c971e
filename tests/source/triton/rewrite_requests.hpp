// Requests for rewrites as the test tables write them: "NAME pass=backward kernels=a,b rows=1-4096:num_warps=4;... KNOB=VALUE".
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "source/triton/rewrite/rewrite.hpp"

namespace hone::tests {

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

inline source::rewrite::Request request_from(const std::string& line) {
  using source::rewrite::Pass;
  source::rewrite::Request request;
  for (const std::string& word : split(line, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      EXPECT_TRUE(request.rewrite.empty()) << line;
      request.rewrite = word;
      continue;
    }
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (key == "pass") {
      EXPECT_TRUE(value == "forward" || value == "backward" || value == "any") << line;
      request.pass = value == "forward" ? Pass::forward : value == "backward" ? Pass::backward : Pass::any;
    } else if (key == "kernels") {
      request.kernels = split(value, ',');
    } else if (key == "reason") {
      request.reason = value;
    } else if (key == "rows") {
      for (const std::string& row : split(value, ';')) {
        const std::vector<std::string> parts = split(row, ':');
        const std::vector<std::string> ends = split(parts.at(0), '-');
        source::rewrite::SizeRow made;
        made.from = std::stoll(ends.at(0));
        made.to = ends.size() < 2 ? made.from : ends[1] == "any" ? source::rewrite::kAnySize : std::stoll(ends[1]);
        for (const std::string& knob : split(parts.at(1), ',')) {
          const std::size_t at = knob.find('=');
          made.values[knob.substr(0, at)] = std::stoll(knob.substr(at + 1));
        }
        request.by_size.push_back(made);
      }
    } else {
      request.values[key] = value;
    }
  }
  return request;
}

// Where the rewrites apply in the pinned liger-kernel package, and values to run them by.
struct TableRow {
  std::string op;                 // "rms_norm", "experimental/embedding"
  std::vector<std::string> asks;  // requests of one variant
};

inline void PrintTo(const TableRow& row, std::ostream* out) { *out << row.op << " " << row.asks.front(); }

// tests/source/rewrites/liger.table: "OP REQUEST [| REQUEST ...]".
inline std::vector<TableRow> rewrite_table() {
  std::vector<TableRow> rows;
  std::ifstream in(std::string(HONE_SOURCE_DIR) + "/tests/source/rewrites/liger.table");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.find(' ');
    TableRow row{line.substr(0, space), {}};
    for (std::string ask : split(line.substr(space + 1), '|')) {
      ask.erase(0, ask.find_first_not_of(' '));
      ask.erase(ask.find_last_not_of(' ') + 1);
      row.asks.push_back(ask);
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace hone::tests

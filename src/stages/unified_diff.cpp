#include "stages/unified_diff.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <vector>

namespace hone::stages {

namespace {

constexpr int kContext = 3;
constexpr int kLongestScript = 4000;

struct Line {
  char mark;  // ' ', '-', '+'
  std::string text;
};

// Each line with its newline, so that a missing one at the end is a difference.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    lines.push_back(text.substr(start, end - start));
    start = end;
  }
  return lines;
}

// Furthest points of each edit distance, kept to walk back along the path.
std::vector<std::vector<int>> furthest(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  const int most = std::min(n + m, kLongestScript);
  std::vector<std::vector<int>> trace;
  std::vector<int> v(2 * static_cast<std::size_t>(most) + 3, 0);
  const auto at = [&](int k) -> int& { return v[k + most + 1]; };
  for (int d = 0; d <= most; ++d) {
    trace.emplace_back(v.begin() + (most + 1 - d - 1), v.begin() + (most + 1 + d + 2));
    for (int k = -d; k <= d; k += 2) {
      int x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)]) ++x;
      at(k) = x;
      if (x >= n && x - k >= m) return trace;
    }
  }
  return {};
}

std::vector<Line> edit_script(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<Line> script;
  const auto trace = furthest(a, b);
  if (trace.empty()) {
    for (const std::string& line : a) script.push_back({'-', line});
    for (const std::string& line : b) script.push_back({'+', line});
    return script;
  }
  int x = static_cast<int>(a.size()), y = static_cast<int>(b.size());
  for (int d = static_cast<int>(trace.size()) - 1; d >= 0; --d) {
    const std::vector<int>& v = trace[static_cast<std::size_t>(d)];
    const auto at = [&](int k) { return v[k + d + 1]; };
    const int k = x - y;
    const int before_k = k == -d || (k != d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
    const int before_x = d == 0 ? 0 : at(before_k), before_y = d == 0 ? 0 : before_x - before_k;
    while (x > before_x && y > before_y) script.push_back({' ', a[static_cast<std::size_t>(--x)]}), --y;
    if (d == 0) break;
    if (x == before_x)
      script.push_back({'+', b[static_cast<std::size_t>(--y)]});
    else
      script.push_back({'-', a[static_cast<std::size_t>(--x)]});
  }
  std::reverse(script.begin(), script.end());
  return script;
}

std::string range(int start, int count) {
  return count == 1 ? std::to_string(start) : fmt::format("{},{}", count == 0 ? start - 1 : start, count);
}

}  // namespace

std::string unified_diff(const std::string& before, const std::string& after, const std::string& before_name,
                         const std::string& after_name) {
  if (before == after) return "";
  const std::vector<Line> script = edit_script(lines_of(before), lines_of(after));
  const int size = static_cast<int>(script.size());
  std::string diff = "--- " + before_name + "\n+++ " + after_name + "\n";
  int old_line = 1, new_line = 1;
  for (int i = 0; i < size;) {
    int next = i;
    while (next < size && script[static_cast<std::size_t>(next)].mark == ' ') ++next;
    if (next == size) break;
    const int start = std::max(i, next - kContext);
    old_line += start - i, new_line += start - i;
    int end = next, quiet = 0;
    while (end < size && quiet <= 2 * kContext)
      quiet = script[static_cast<std::size_t>(end++)].mark == ' ' ? quiet + 1 : 0;
    end -= std::max(0, quiet - kContext);
    int old_count = 0, new_count = 0;
    std::string body;
    for (int j = start; j < end; ++j) {
      const Line& line = script[static_cast<std::size_t>(j)];
      old_count += line.mark != '+', new_count += line.mark != '-';
      body += line.mark + line.text;
      if (line.text.back() != '\n') body += "\n\\ No newline at end of file\n";
    }
    diff += fmt::format("@@ -{} +{} @@\n", range(old_line, old_count), range(new_line, new_count)) + body;
    old_line += old_count, new_line += new_count;
    i = end;
  }
  return diff;
}

}  // namespace hone::stages

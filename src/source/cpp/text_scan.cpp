#include "source/cpp/text_scan.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace hone::source {

namespace {

// The end of the raw string whose quote stands at `at`, behind its R; `at` where it is none.
std::size_t skip_raw_string(const std::string& text, std::size_t at) {
  constexpr std::size_t kLongestDelimiter = 16;
  std::size_t prefix = at;
  while (prefix > 0 && base::is_word_character(text[prefix - 1])) --prefix;
  const std::string_view before = std::string_view(text).substr(prefix, at - prefix);
  if (before != "R" && before != "LR" && before != "uR" && before != "UR" && before != "u8R") return at;
  const std::size_t open = text.find('(', at);
  if (open == std::string::npos || open - at - 1 > kLongestDelimiter) return at;
  const std::string close = ")" + text.substr(at + 1, open - at - 1) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string::npos ? text.size() : end + close.size();
}

}  // namespace

std::size_t skip_literal(const std::string& text, std::size_t at) {
  if (text.compare(at, 2, "//") == 0) return std::min(text.find('\n', at), text.size());
  if (text.compare(at, 2, "/*") == 0) {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string::npos ? text.size() : end + 2;
  }
  if (text[at] == '"') {
    if (const std::size_t end = skip_raw_string(text, at); end > at) return end;
  }
  if (text[at] == '"' || (text[at] == '\'' && (at == 0 || !base::is_word_character(text[at - 1])))) {
    for (std::size_t i = at + 1; i < text.size(); ++i) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == text[at])
        return i + 1;
      else if (text[i] == '\n')
        return i;
    }
    return text.size();
  }
  return at;
}

std::size_t skip_word(const std::string& text, std::size_t at) {
  while (at < text.size() && base::is_word_character(text[at])) ++at;
  return at;
}

std::size_t after_parentheses(const std::string& text, std::size_t at) {
  std::size_t i = at;
  while (i < text.size() && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r')) ++i;
  if (i >= text.size() || text[i] != '(') return at;
  int depth = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1;
  }
  return at;
}

void blank(std::string& text, std::size_t start, std::size_t end) {
  for (std::size_t i = start; i < end && i < text.size(); ++i) {
    if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
  }
}

}  // namespace hone::source

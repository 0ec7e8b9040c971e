#include "source/cpp/unknown_tokens.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "source/cpp/text_scan.hpp"
#include "source/source_text.hpp"

namespace hone::source {

std::string with_unknown_tokens_blanked(const std::string& original) {
  static const char* with_arguments[] = {"__cluster_dims__", "__align__", "__maxnreg__", "__block_size__",
                                         "__attribute__"};
  static const char* alone[] = {"__grid_constant__", "__forceinline__", "__noinline__", "__inline_hint__",
                                "__nv_pure__"};
  std::string text = original;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = skip_literal(text, at);
    if (end > at) {
      at = end;
      continue;
    }
    if (!base::is_word_character(text[at])) {
      // A lambda's execution space: `[=] __device__ (int i) { ... }`.
      if (text[at] == ']') {
        std::size_t next = at + 1;
        while (next < text.size() && text[next] == ' ') ++next;
        for (const char* space : {"__host__", "__device__"}) {
          while (text.compare(next, std::char_traits<char>::length(space), space) == 0) {
            blank(text, next, next + std::char_traits<char>::length(space));
            while (next < text.size() && text[next] == ' ') ++next;
          }
        }
      }
      ++at;
      continue;
    }
    std::size_t stop = skip_word(text, at);
    const std::string word = text.substr(at, stop - at);
    for (const char* token : with_arguments) {
      if (word == token) {
        const std::size_t after = after_parentheses(text, stop);
        blank(text, at, after);
        stop = std::max(stop, after);
      }
    }
    for (const char* token : alone) {
      if (word == token) blank(text, at, stop);
    }
    at = stop;
  }
  return text;
}

ClusterDimensions cluster_dimensions(const std::string& text) {
  static const std::string token = "__cluster_dims__";
  ClusterDimensions found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t literal = skip_literal(text, at);
    if (literal > at) {
      at = literal;
      continue;
    }
    if (text.compare(at, token.size(), token) != 0) {
      ++at;
      continue;
    }
    const std::size_t close = after_parentheses(text, at + token.size());
    if (close > at + token.size()) {
      std::vector<std::string> dimensions;
      std::string part;
      for (std::size_t i = text.find('(', at) + 1; i < close; ++i) {
        if (text[i] == ',' || i + 1 == close) {
          dimensions.push_back(collapse_white_space(part));
          part.clear();
        } else {
          part += text[i];
        }
      }
      const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
      found.emplace_back(static_cast<int>(line), std::move(dimensions));
    }
    at += token.size();
  }
  return found;
}

}  // namespace hone::source

// A source file as bytes, and how pieces of it are shown: the bytes are never changed, what is shown is UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace hone::source {

inline constexpr std::uint64_t kLargestSource = std::uint64_t{64} << 20;  // bytes of a file that is read

bool is_utf8(std::string_view bytes);

// `bytes` as UTF-8. Bytes that are no UTF-8 are read as Latin-1, the only encoding that can not fail.
std::string to_utf8(std::string_view bytes);

// White space runs (line breaks and backslash continuations too) become one space; none is left at the ends.
std::string collapse_white_space(std::string_view text);

// Same length as `bytes`, with each byte that is no UTF-8 replaced by a letter, so that a parser for UTF-8 sees an
// identifier or plain string content there and every offset stays. Other text is returned unchanged.
std::string parseable(std::string_view bytes);

// Refuses what no compiler reads as source: UTF-16 or UTF-32, by its byte order mark (usage), and what is no text at all, by a
// zero byte or many control characters (preflight).
base::Result<void> check_source_text(std::string_view bytes, const std::string& path);

int count_lines(std::string_view bytes);  // "a\nb" and "a\nb\n" have two

}  // namespace hone::source

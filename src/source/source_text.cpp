#include "source/source_text.hpp"

#include <algorithm>

namespace hone::source {

namespace {

constexpr std::size_t kTextPerControl = 20;  // random bytes have a control character in ten

// Length of the well-formed UTF-8 sequence at `at`; 0 if there is none (over-long forms and surrogates are none).
std::size_t sequence_length(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  if (length == 0 || at + length > bytes.size()) return 0;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  if (byte(at + 1) < low || byte(at + 1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(at + i) < 0x80 || byte(at + i) > 0xBF) return 0;
  }
  return length;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = sequence_length(bytes, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string to_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = sequence_length(bytes, at);
    if (length == 0) {
      const auto latin = static_cast<unsigned char>(bytes[at++]);
      text += static_cast<char>(0xC0 | latin >> 6);
      text += static_cast<char>(0x80 | (latin & 0x3F));
    } else {
      text += bytes.substr(at, length);
      at += length;
    }
  }
  return text;
}

std::string collapse_white_space(std::string_view text) {
  std::string collapsed;
  collapsed.reserve(text.size());
  bool gap = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool continuation = c == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r');
    if (continuation || c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
      gap = true;
      continue;
    }
    if (gap && !collapsed.empty()) collapsed += ' ';
    gap = false;
    collapsed += c;
  }
  return collapsed;
}

std::string parseable(std::string_view bytes) {
  std::string text(bytes);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(bytes, at);
    if (length == 0) text[at] = '_';
    at += std::max<std::size_t>(length, 1);
  }
  return text;
}

base::Result<void> check_source_text(std::string_view bytes, const std::string& path) {
  if (bytes.substr(0, 2) == "\xFF\xFE" || bytes.substr(0, 2) == "\xFE\xFF" ||
      bytes.substr(0, 4) == std::string_view("\0\0\xFE\xFF", 4))
    return base::Error{base::ErrorKind::usage, "source text in an encoding that extends ASCII", "UTF-16 or UTF-32",
                       path, "save the file as UTF-8"};
  const auto zero = bytes.find('\0');
  constexpr std::string_view kOfTexts = "\t\n\v\f\r\x1b";
  const auto controls = std::count_if(bytes.begin(), bytes.end(), [&](char c) {
    return ((c >= 0 && c < ' ') || c == '\x7f') && kOfTexts.find(c) == std::string_view::npos;
  });
  if (zero == std::string_view::npos && static_cast<std::size_t>(controls) * kTextPerControl <= bytes.size()) return {};
  return base::Error{base::ErrorKind::preflight, "source text",
                     zero == std::string_view::npos ? "no text: " + std::to_string(controls) + " control characters"
                                                    : "no text: a zero byte at " + std::to_string(zero),
                     path, "name the source that it was built from, or restore the file"};
}

int count_lines(std::string_view bytes) {
  auto lines = static_cast<int>(std::count(bytes.begin(), bytes.end(), '\n'));
  if (!bytes.empty() && bytes.back() != '\n') ++lines;
  return lines;
}

}  // namespace hone::source

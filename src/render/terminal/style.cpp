#include "render/terminal/style.hpp"

#include <array>
#include <cstdint>

namespace hone::render {

namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 1;
};

// The code point at `at`; a byte that begins none stands for itself.
CodePoint code_point(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const std::size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
  if (length == 1 || at + length > text.size()) return {first, 1};
  std::uint32_t value = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {first, 1};
    value = (value << 6) | (byte(at + i) & 0x3F);
  }
  return {value, length};
}

struct Range {
  std::uint32_t first, last;
};

// Unicode's combining marks and joiners, as far as names and sentences use them.
constexpr std::array zero_width{Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD},
                                Range{0x064B, 0x065F}, Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF},
                                Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};
// East Asian Width W and F (Unicode Standard Annex 11), in blocks.
constexpr std::array double_width{Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},  Range{0x3041, 0x33FF},
                                  Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},  Range{0xA000, 0xA4CF},
                                  Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},  Range{0xFE30, 0xFE6F},
                                  Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},  Range{0x1F300, 0x1F64F},
                                  Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};

template <class Ranges>
bool in(const Ranges& ranges, std::uint32_t value) {
  for (const Range& range : ranges)
    if (value >= range.first && value <= range.last) return true;
  return false;
}

std::size_t width_of(std::uint32_t value) {
  if (value < 0x20 || (value >= 0x7F && value < 0xA0) || in(zero_width, value)) return 0;
  return in(double_width, value) ? 2 : 1;
}

}  // namespace

std::string Style::paint(const std::string& text, Ink ink) const {
  if (!color || ink == Ink::plain || text.empty()) return text;
  const char* code = "0";
  switch (ink) {
    case Ink::plain: break;
    case Ink::bold: code = "1"; break;
    case Ink::dim: code = "2"; break;
    case Ink::good: code = "32"; break;
    case Ink::bad: code = "31"; break;
    case Ink::warning: code = "33"; break;
  }
  return std::string("\033[") + code + "m" + text + "\033[0m";
}

std::size_t display_width(const std::string& utf8) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const CodePoint point = code_point(utf8, at);
    width += width_of(point.value);
    at += point.bytes;
  }
  return width;
}

std::string printable(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    const bool space = point.value == '\t' || point.value == '\n' || point.value == '\r';
    const bool control = point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0);
    // Marks that reverse the direction of writing can make a text read as another one.
    const bool direction =
        (point.value >= 0x202A && point.value <= 0x202E) || (point.value >= 0x2066 && point.value <= 0x2069);
    if (space)
      result += ' ';
    else if (point.bytes == 1 && point.value >= 0x80)
      result += '?';
    else if (!control && !direction)
      result.append(text, at, point.bytes);
    at += point.bytes;
  }
  return result;
}

std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  if (width == 0) width = 1;
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find(' ', at);
    if (end == std::string::npos) end = text.size();
    std::string word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    const std::size_t columns = display_width(word);
    if (used > 0 && used + 1 + columns > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) lines.back() += ' ', ++used;
    for (std::size_t i = 0; i < word.size();) {
      const CodePoint point = code_point(word, i);
      if (used + width_of(point.value) > width && used > 0) {
        lines.emplace_back();
        used = 0;
      }
      lines.back().append(word, i, point.bytes);
      used += width_of(point.value);
      i += point.bytes;
    }
  }
  return lines;
}

std::string labelled(const std::string& label, const std::string& text, const Style& style, std::size_t label_width,
                     Ink ink) {
  constexpr std::size_t kLeastText = 20;
  const std::size_t width = style.width > label_width + kLeastText ? style.width - label_width : kLeastText;
  const std::size_t used = display_width(label);
  const std::string gap(used < label_width ? label_width - used : label.empty() ? 0 : 1, ' ');
  std::string lines;
  for (const std::string& line : wrap(printable(text), width)) {
    const std::string head = lines.empty() ? style.paint(label, Ink::dim) + gap : std::string(label_width, ' ');
    lines += head + style.paint(line, ink) + "\n";
  }
  return lines;
}

}  // namespace hone::render

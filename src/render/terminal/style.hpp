// How terminal text may look: a value that cli fills from the flags and the terminal. The default is plain text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hone::render {

enum class Ink { plain, bold, dim, good, bad, warning };

struct Style {
  bool color = false;
  std::size_t width = 100;                                    // columns of the terminal
  std::string paint(const std::string& text, Ink ink) const;  // unchanged without colour
};

// Columns that UTF-8 text takes on a terminal: combining marks take none, wide East Asian characters and emoji two.
std::size_t display_width(const std::string& utf8);

// The text without control characters (a document must not be able to move the cursor): tabs and line ends become spaces.
std::string printable(const std::string& text);

// Lines of at most `width` columns, broken between words; a longer word is broken where it must be. At least one line.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

// "device    AMD EPYC": a label in a column of its own, the text beside it wrapped to the style's width, each line ended.
std::string labelled(const std::string& label, const std::string& text, const Style& style, std::size_t label_width,
                     Ink ink = Ink::plain);

}  // namespace hone::render

// One table for all outputs: aligned Markdown, terminal columns, HTML.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "render/terminal/style.hpp"

namespace hone::render {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  int drop = 0;  // a terminal that is too narrow leaves out the columns with the largest first; 0: never
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells at the end are empty; cells beyond the last column are a broken contract.
  void add_row(std::vector<std::string> cells);
  // The same, painted on a terminal (Markdown and HTML do not show it).
  void add_row(std::vector<std::string> cells, Ink ink);
  bool empty() const { return rows_.empty(); }

  // A pipe table. '|' and line ends in cells are escaped; cells over 60 columns do not widen the others.
  std::string markdown() const;
  // Columns two spaces apart, in the style's width. What does not fit: columns that may be dropped go, where wrapping between words
  // is not enough, and a last line names them; left-aligned cells wrap, then titles, then right-aligned cells; at last left-aligned
  // words are broken.
  std::string terminal(const Style& style) const;
  std::string html() const;

 private:
  class Layout;
  struct Row {
    std::vector<std::string> cells;
    Ink ink = Ink::plain;
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// Text for a Markdown paragraph or cell: what Markdown or HTML would take for markup is escaped, line ends become spaces.
// Text in backquotes stays code, with what is in it untouched.
std::string markdown_text(const std::string& text);
// The same for a table cell: '|' is escaped, inside code too (as GitHub's tables want it).
std::string markdown_cell(const std::string& text);
// Code in a line: as many backquotes as the text needs.
std::string markdown_code(const std::string& text);
// A fenced block, its fence longer than any in the text.
std::string markdown_block(const std::string& text, const std::string& language);

// '&', '<', '>', '"' and "'" as entities; what XML forbids (control characters, broken UTF-8) is left out.
std::string escape_xml(const std::string& text);

}  // namespace hone::render

#include "render/table.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <string_view>

#include "base/text.hpp"

namespace hone::render {

namespace {

constexpr std::size_t widest_padding = 60;
constexpr const char* kBetween = "  ";  // columns of a terminal

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t used = display_width(text);
  const std::string space(used < width ? width - used : 0, ' ');
  return align == Align::right ? space + text : text + space;
}

std::size_t longest_word(const std::string& cell) {
  std::size_t longest = 0;
  for (const std::string& word : base::split(printable(cell), ' ')) longest = std::max(longest, display_width(word));
  return longest;
}

// Of the pieces that end with a hyphen or a space.
std::size_t longest_piece(const std::string& cell) {
  std::size_t longest = 0;
  for (const std::string& word : base::split(printable(cell), ' '))
    for (const std::string& part : base::split(word, '-')) longest = std::max(longest, display_width(part) + 1);
  return longest;
}

// A word in pieces that end with its hyphens, as many of them as `width` holds.
std::string broken_at_hyphens(const std::string& word, std::size_t width) {
  std::string made, piece;
  for (const std::string& part : base::split(word, '-')) {
    const std::string with_hyphen = (piece.empty() && made.empty() ? "" : "-") + part;
    if (!piece.empty() && display_width(piece + with_hyphen) + 1 > width) {
      made += piece + "- ";
      piece = part;
    } else {
      piece += with_hyphen;
    }
  }
  return made + piece;
}

// The lines of a cell: an interval goes below its figure as a whole, and long words break at their hyphens first.
std::vector<std::string> lines_of(const std::string& cell, std::size_t width) {
  if (display_width(cell) <= width) return {cell};
  if (const std::size_t interval = cell.find(" ["); interval != std::string::npos) {
    std::vector<std::string> lines = wrap(cell.substr(0, interval), width);
    for (std::string& line : wrap(cell.substr(interval + 1), width)) lines.push_back(std::move(line));
    return lines;
  }
  std::vector<std::string> words;
  for (const std::string& word : base::split(cell, ' '))
    words.push_back(display_width(word) <= width || word.front() == '-' ? word : broken_at_hyphens(word, width));
  return wrap(base::join_text(words, " "), width);
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) { add_row(std::move(cells), Ink::plain); }

void Table::add_row(std::vector<std::string> cells, Ink ink) {
  assert(cells.size() <= columns_.size());
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), ink});
}

std::string Table::markdown() const {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> head;
  for (const Column& column : columns_) head.push_back(markdown_cell(column.title));
  lines.push_back(head);
  for (const Row& row : rows_) {
    std::vector<std::string> cells;
    for (const std::string& cell : row.cells) cells.push_back(markdown_cell(cell));
    lines.push_back(std::move(cells));
  }
  std::vector<std::size_t> widths(columns_.size(), 3);
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], std::min(display_width(line[i]), widest_padding));
  std::string text;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    text += '|';
    for (std::size_t i = 0; i < columns_.size(); ++i)
      text += " " + padded(lines[n][i], widths[i], columns_[i].align) + " |";
    text += '\n';
    if (n > 0) continue;
    text += '|';
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool right = columns_[i].align == Align::right;
      text += " " + std::string(widths[i] - (right ? 1 : 0), '-') + (right ? ": |" : " |");
    }
    text += '\n';
  }
  return text;
}

// Which columns a terminal shows, and how wide.
class Table::Layout {
 public:
  Layout(const std::vector<Column>& columns, const std::vector<Row>& rows, std::size_t limit)
      : columns_(columns),
        widths_(columns.size()),
        whole_cells_(columns.size()),
        whole_words_(columns.size()),
        pieces_(columns.size()) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::size_t cells = 0, figures = 0, words = longest_word(columns[i].title), pieces = words;
      for (const Row& row : rows) {
        const std::size_t width = display_width(printable(row.cells[i]));
        cells = std::max(cells, width);
        if (row.cells[i].find_first_of("0123456789") != std::string::npos) figures = std::max(figures, width);
        words = std::max(words, longest_word(row.cells[i]));
        pieces = std::max(pieces, longest_piece(row.cells[i]));
      }
      pieces_[i] = std::clamp<std::size_t>(pieces, 8, 40);
      widths_[i] = std::max(display_width(printable(columns[i].title)), cells);
      whole_cells_[i] = std::max(words, figures);
      whole_words_[i] = left(i) ? std::min(widths_[i], std::clamp<std::size_t>(words, 8, 40)) : words;
      shown_.push_back(i);
    }
    drop_what_can_not_fit(limit);
    shrink(limit, [&](std::size_t i) { return left(i) ? whole_words_[i] : widths_[i]; });
    shrink(limit, [&](std::size_t i) { return left(i) ? whole_words_[i] : whole_cells_[i]; });
    shrink(limit, [&](std::size_t i) { return left(i) ? pieces_[i] : whole_cells_[i]; });
    shrink(limit, [&](std::size_t i) { return left(i) ? pieces_[i] : whole_words_[i]; });
    shrink(limit, [&](std::size_t i) { return left(i) ? std::size_t{4} : whole_words_[i]; });
  }

  const std::vector<std::size_t>& shown() const { return shown_; }
  std::size_t width(std::size_t i) const { return widths_[i]; }
  const std::vector<std::string>& dropped() const { return dropped_; }

 private:
  bool left(std::size_t i) const { return columns_[i].align == Align::left; }

  template <class WidthOf>
  std::size_t total(const WidthOf& width_of) const {
    std::size_t sum = shown_.empty() ? 0 : std::string_view(kBetween).size() * (shown_.size() - 1);
    for (const std::size_t i : shown_) sum += width_of(i);
    return sum;
  }

  void drop_what_can_not_fit(std::size_t limit) {
    const auto least = [&](std::size_t i) { return left(i) ? whole_words_[i] : whole_cells_[i]; };
    while (total(least) > limit) {
      const auto first = std::max_element(shown_.begin(), shown_.end(), [&](std::size_t a, std::size_t b) {
        return columns_[a].drop < columns_[b].drop;
      });
      if (first == shown_.end() || columns_[*first].drop == 0) return;
      dropped_.push_back(columns_[*first].title);
      shown_.erase(first);
    }
  }

  // Takes what is too much from the widest columns, down to their least width.
  template <class Least>
  void shrink(std::size_t limit, const Least& least) {
    while (total([&](std::size_t i) { return widths_[i]; }) > limit) {
      std::optional<std::size_t> widest;
      for (const std::size_t i : shown_)
        if (widths_[i] > least(i) && (!widest || widths_[i] > widths_[*widest])) widest = i;
      if (!widest) return;
      --widths_[*widest];
    }
  }

  const std::vector<Column>& columns_;
  // Of right-aligned columns, whole_cells_ keeps a figure with its unit or interval on one line.
  std::vector<std::size_t> widths_, whole_cells_, whole_words_, pieces_, shown_;
  std::vector<std::string> dropped_;
};

std::string Table::terminal(const Style& style) const {
  const Layout layout(columns_, rows_, style.width);
  std::string text;
  const auto append = [&](const std::vector<std::string>& cells, Ink ink) {
    std::vector<std::vector<std::string>> wrapped;
    std::size_t height = 1;
    for (const std::size_t i : layout.shown()) {
      wrapped.push_back(lines_of(printable(cells[i]), std::max<std::size_t>(layout.width(i), 1)));
      height = std::max(height, wrapped.back().size());
    }
    for (std::size_t n = 0; n < height; ++n) {
      std::string line;
      for (std::size_t at = 0; at < wrapped.size(); ++at) {
        const std::size_t i = layout.shown()[at];
        if (at > 0) line += kBetween;
        line += padded(n < wrapped[at].size() ? wrapped[at][n] : "", layout.width(i), columns_[i].align);
      }
      text += style.paint(without_trailing_space(line), ink) + "\n";
    }
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  append(titles, Ink::bold);
  for (const Row& row : rows_) append(row.cells, row.ink);
  if (layout.dropped().empty()) return text;
  for (const std::string& line :
       wrap("left out in " + std::to_string(style.width) + " columns: " + base::join_text(layout.dropped(), ", "),
            style.width))
    text += style.paint(line, Ink::dim) + "\n";
  return text;
}

std::string Table::html() const {
  std::string text = "<div class=\"table\"><table>\n<thead><tr>";
  const auto attribute = [&](std::size_t i) { return columns_[i].align == Align::right ? " class=\"figure\"" : ""; };
  for (std::size_t i = 0; i < columns_.size(); ++i)
    text += std::string("<th") + attribute(i) + " scope=\"col\">" + escape_xml(columns_[i].title) + "</th>";
  text += "</tr></thead>\n<tbody>\n";
  for (const Row& row : rows_) {
    text += "<tr>";
    for (std::size_t i = 0; i < columns_.size(); ++i)
      text += std::string("<td") + attribute(i) + ">" + escape_xml(row.cells[i]) + "</td>";
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table></div>\n";
}

}  // namespace hone::render

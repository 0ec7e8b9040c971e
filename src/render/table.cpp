#include "render/table.hpp"

#include <algorithm>
#include <cassert>

#include "base/text.hpp"

namespace hone::render {

namespace {

constexpr std::size_t widest_padding = 60;

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

std::string Table::terminal(const Style& style) const {
  const std::size_t count = columns_.size();
  std::vector<std::size_t> widths(count);
  for (std::size_t i = 0; i < count; ++i) {
    widths[i] = display_width(printable(columns_[i].title));
    for (const Row& row : rows_) widths[i] = std::max(widths[i], display_width(printable(row.cells[i])));
  }
  // Take what is too much from the widest left-aligned columns, down to their longest words.
  std::vector<std::size_t> least(count);
  for (std::size_t i = 0; i < count; ++i) {
    least[i] = longest_word(columns_[i].title);
    for (const Row& row : rows_) least[i] = std::max(least[i], longest_word(row.cells[i]));
    least[i] = std::clamp<std::size_t>(least[i], 8, 40);
  }
  const auto total = [&] {
    std::size_t sum = count > 0 ? 2 * (count - 1) : 0;
    for (const std::size_t width : widths) sum += width;
    return sum;
  };
  while (total() > style.width) {
    std::size_t widest = count;
    for (std::size_t i = 0; i < count; ++i)
      if (columns_[i].align == Align::left && widths[i] > least[i] && (widest == count || widths[i] > widths[widest]))
        widest = i;
    if (widest == count) break;
    --widths[widest];
  }
  std::string text;
  const auto append = [&](const std::vector<std::string>& cells, Ink ink) {
    std::vector<std::vector<std::string>> wrapped;
    std::size_t height = 1;
    for (std::size_t i = 0; i < count; ++i) {
      wrapped.push_back(wrap(printable(cells[i]), std::max<std::size_t>(widths[i], 1)));
      height = std::max(height, wrapped.back().size());
    }
    for (std::size_t n = 0; n < height; ++n) {
      std::string line;
      for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) line += "  ";
        line += padded(n < wrapped[i].size() ? wrapped[i][n] : "", widths[i], columns_[i].align);
      }
      text += style.paint(without_trailing_space(line), ink) + "\n";
    }
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  append(titles, Ink::bold);
  for (const Row& row : rows_) append(row.cells, row.ink);
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

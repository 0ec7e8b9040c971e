// Escaping for Markdown and XML: documents carry text from source files, devices and people.
#include <algorithm>

#include "base/text.hpp"
#include "render/table.hpp"

namespace hone::render {

namespace {

std::size_t longest_run(const std::string& text, char c) {
  std::size_t longest = 0, run = 0;
  for (const char one : text) {
    run = one == c ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
}

// An underscore between letters (num_warps) is no markup; one at the edge of a word is. A star is, unless it stands alone.
bool is_markup(const std::string& text, std::size_t at) {
  const char c = text[at];
  const char before = at > 0 ? text[at - 1] : ' ';
  const char after = at + 1 < text.size() ? text[at + 1] : ' ';
  switch (c) {
    case '_': return !(is_word(before) && is_word(after)) && !(before == ' ' && after == ' ');
    case '*': return !(before == ' ' && after == ' ');
    case '<': return after != ' ' && !(after >= '0' && after <= '9');
    case '[': return text.find("](", at) != std::string::npos;
    case '\\': return true;
    default: return false;
  }
}

std::string escaped(const std::string& raw, bool cell) {
  const std::string text = printable(raw);
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '`') {
      const std::size_t run = std::min(text.find_first_not_of('`', at), text.size()) - at;
      const std::size_t close = text.find(std::string(run, '`'), at + run);
      if (close != std::string::npos) {
        const std::size_t end = std::min(text.find_first_not_of('`', close), text.size());
        for (; at < end; ++at) result += cell && text[at] == '|' ? "\\|" : std::string(1, text[at]);
        --at;
        continue;
      }
    }
    if (cell && text[at] == '|')
      result += '\\';
    else if (text[at] == '`' || is_markup(text, at))
      result += '\\';
    result += text[at];
  }
  return result;
}

// A paragraph that begins like a heading, a list or a quotation is none.
bool begins_as_block(const std::string& text) {
  return !text.empty() && (text[0] == '#' || text[0] == '>' ||
                           ((text[0] == '-' || text[0] == '+') && text.size() > 1 && text[1] == ' '));
}

}  // namespace

std::string markdown_text(const std::string& text) {
  const std::string result = escaped(text, false);
  return begins_as_block(result) ? "\\" + result : result;
}

std::string markdown_cell(const std::string& text) { return escaped(text, true); }

std::string markdown_code(const std::string& raw) {
  const std::string text = printable(raw);
  if (text.empty()) return "(empty)";
  const std::string quotes(longest_run(text, '`') + 1, '`');
  const std::string space = text.front() == '`' || text.back() == '`' ? " " : "";
  return quotes + space + text + space + quotes;
}

std::string markdown_block(const std::string& text, const std::string& language) {
  const std::string fence(std::max<std::size_t>(3, longest_run(text, '`') + 1), '`');
  return fence + language + "\n" + text + (text.empty() || text.back() != '\n' ? "\n" : "") + fence + "\n";
}

std::string escape_xml(const std::string& raw) {
  std::string text;
  for (const std::string& line : base::split(raw, '\n')) text += (text.empty() ? "" : "\n") + printable(line);
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

}  // namespace hone::render

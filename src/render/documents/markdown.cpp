#include "render/documents/markdown.hpp"

namespace hone::render {

void Markdown::separate() {
  if (!text_.empty()) text_ += '\n';
}

void Markdown::heading(int level, const std::string& text) {
  separate();
  text_ += std::string(static_cast<std::size_t>(level), '#') + " " + markdown_text(text) + "\n";
}

void Markdown::paragraph(const std::string& text) {
  if (!text.empty()) formatted(markdown_text(text));
}

void Markdown::formatted(const std::string& markup) {
  if (markup.empty()) return;
  separate();
  text_ += markup + "\n";
}

void Markdown::bullets(const std::vector<std::string>& items) {
  bool first = true;
  for (const std::string& item : items) {
    if (item.empty()) continue;
    if (first) separate();
    first = false;
    text_ += "- " + markdown_text(item) + "\n";
  }
}

void Markdown::numbered(const std::vector<std::string>& markup_items) {
  if (markup_items.empty()) return;
  separate();
  int number = 0;
  for (const std::string& item : markup_items) text_ += std::to_string(++number) + ". " + item + "\n";
}

void Markdown::table(const Table& table) {
  if (table.empty()) return;
  separate();
  text_ += table.markdown();
}

void Markdown::block(const std::string& text, const std::string& language) {
  separate();
  text_ += markdown_block(text, language);
}

void Markdown::facts(const std::vector<std::pair<std::string, std::string>>& rows) {
  Table facts({{"Field"}, {"Value"}});
  for (const auto& [name, value] : rows) facts.add_row({name, known(value, "not known")});
  table(facts);
}

std::string known(const std::string& value, const std::string& why_not) { return value.empty() ? why_not : value; }

std::string sentence(const std::string& text) {
  if (text.empty()) return text;
  std::string result = text;
  const char last = result.back();
  if (last != '.' && last != '!' && last != '?' && last != ':') result += '.';
  return result;
}

}  // namespace hone::render

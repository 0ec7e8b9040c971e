// The only place that includes toml++: it is a header of 400 KB.
#include "repository/manifest/document.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_WINDOWS_COMPAT 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace hone::repository::manifest {

namespace {

// A key of dots nests a table for each of them, and tables are destroyed by recursion.
constexpr std::size_t kLongestLine = 4000;

Place place_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

class Converter {
 public:
  explicit Converter(std::vector<std::string> lines) : lines_(std::move(lines)) {}

  Node convert(const toml::node& from) const {
    Node node;
    node.place = place_of(from.source());
    if (const toml::table* table = from.as_table()) {
      for (const auto& [key, value] : *table)
        node.members.push_back({std::string(key.str()), place_of(key.source()), convert(value)});
      std::stable_sort(node.members.begin(), node.members.end(), [](const auto& a, const auto& b) {
        return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
      });
    } else if (const toml::array* array = from.as_array()) {
      node.kind = Node::Kind::array;
      for (const toml::node& item : *array) node.items.push_back(convert(item));
    } else {
      convert_value(from, node);
    }
    return node;
  }

 private:
  void convert_value(const toml::node& from, Node& node) const {
    if (const auto* text = from.as_string()) {
      node.kind = Node::Kind::text;
      node.text = text->get();
      node.text_place = start_of_text(node.place);
    } else if (const auto* whole = from.as_integer()) {
      node.kind = Node::Kind::whole;
      node.whole = whole->get();
    } else if (const auto* real = from.as_floating_point()) {
      node.kind = Node::Kind::real;
      node.real = real->get();
    } else if (const auto* truth = from.as_boolean()) {
      node.kind = Node::Kind::truth;
      node.truth = truth->get();
    } else {
      node.kind = Node::Kind::date;
    }
  }

  // Behind one quote, or three; a text whose first line is empty begins on the next one.
  Place start_of_text(Place quote) const {
    if (quote.line < 1 || static_cast<std::size_t>(quote.line) > lines_.size()) return quote;
    const std::string& line = lines_[static_cast<std::size_t>(quote.line) - 1];
    const auto begin = static_cast<std::size_t>(std::max(quote.column, 1)) - 1;
    const std::string head = begin < line.size() ? line.substr(begin, 3) : "";
    const bool three = head == "\"\"\"" || head == "'''";
    if (three && base::trim(line.substr(begin + 3)).empty()) return {quote.line + 1, 1};
    return {quote.line, quote.column + (three ? 3 : 1)};
  }

  std::vector<std::string> lines_;
};

base::Error not_toml(const std::string& file, const Place& place, const std::string& found) {
  return {base::ErrorKind::usage, "a TOML document", found, at(file, place),
          "correct the text there (https://toml.io describes the format)"};
}

}  // namespace

std::string at(const std::string& file, const Place& place) {
  return place.line > 0 ? fmt::format("{}:{}:{}", file, place.line, place.column) : file;
}

const Node::Member* Node::find(const std::string& name) const {
  const auto found = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.name == name; });
  return found == members.end() ? nullptr : &*found;
}

const char* Node::kind_name() const {
  switch (kind) {
    case Kind::table: return "a table";
    case Kind::array: return "an array";
    case Kind::text: return "a text";
    case Kind::whole: return "a whole number";
    case Kind::real: return "a number";
    case Kind::truth: return "true or false";
    case Kind::date: return "a date";
  }
  return "";
}

base::Result<Node> parse_document(const std::string& text, const std::string& file) {
  if (text.size() > kLargestDocumentBytes)
    return not_toml(file, {}, fmt::format("{} bytes, more than {}", text.size(), kLargestDocumentBytes));
  std::vector<std::string> lines = base::split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].size() > kLongestLine)
      return not_toml(file, {static_cast<int>(i) + 1, 1},
                      fmt::format("a line of {} bytes, more than {}", lines[i].size(), kLongestLine));
  if (text.find('\0') != std::string::npos) return not_toml(file, {}, "a zero byte: this is no text");
  toml::parse_result parsed = toml::parse(std::string_view(text));
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return not_toml(file, place_of(error.source()), std::string(error.description()));
  }
  return Converter(std::move(lines)).convert(parsed.table());
}

}  // namespace hone::repository::manifest

// The only place that includes toml++: it is a header of 400 KB.
#include "repository/manifest/document.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"

namespace hone::repository::manifest {

// toml++ asserts that some malformed texts, such as "[" before a control character, can not come; they can, and are the user's
// mistake. Its assertions are exceptions here, whatever the build, and end in parse_document.
struct AssumptionBroken {};
constexpr void require_assumption(bool holds) {
  if (!holds) throw AssumptionBroken{};
}

}  // namespace hone::repository::manifest

#undef NDEBUG
#define TOML_ASSERT(expr) hone::repository::manifest::require_assumption(static_cast<bool>(expr))
#define TOML_EXCEPTIONS 1
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

// The first character outside of texts and comments that no document has there: a control character, or one that is not ASCII,
// of which toml++ sorts some by tables with gaps. Up to the first mistake this sees texts and comments where the parser does,
// and behind that the parser does not come.
class StrayCharacter {
 public:
  explicit StrayCharacter(const std::string& text) : text_(text) {}

  std::optional<Place> find() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        skip_to("\n");
      } else if (c == '"' || c == '\'') {
        const std::string quote(text_.compare(at_, 3, std::string(3, c)) == 0 ? 3 : 1, c);
        at_ += quote.size();
        skip_text(quote);
      } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') ||
                 static_cast<unsigned char>(c) >= 0x7f) {
        return place();
      } else {
        ++at_;
      }
    }
    return std::nullopt;
  }

 private:
  void skip_to(const std::string& end) { at_ = std::min(text_.find(end, at_), text_.size()); }

  void skip_text(const std::string& quote) {
    const bool escapes = quote.front() == '"', one_line = quote.size() == 1;
    while (at_ < text_.size()) {
      if (one_line && text_[at_] == '\n') return;
      if (text_.compare(at_, quote.size(), quote) == 0) {
        at_ += quote.size();
        // Up to two quotes may stand before the closing three.
        for (int more = 0; !one_line && more < 2 && at_ < text_.size() && text_[at_] == quote.front(); ++more) ++at_;
        return;
      }
      at_ += escapes && text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n' ? 2 : 1;
    }
  }

  Place place() const {
    const std::string before = text_.substr(0, at_);
    const std::size_t line_start = before.rfind('\n') == std::string::npos ? 0 : before.rfind('\n') + 1;
    return {1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
            static_cast<int>(at_ - line_start) + 1};
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

bool breaks_assumption(std::string_view text) {
  try {
    (void)toml::parse(text);
  } catch (const toml::parse_error&) {
  } catch (const AssumptionBroken&) {
    return true;
  }
  return false;
}

// The first line with which the text can not be parsed: the parser reads from the start and stops there.
int broken_line(const std::string& text, const std::vector<std::string>& lines) {
  std::size_t good = 0, bad = lines.size(), end_of_good = 0;
  while (bad - good > 1) {
    const std::size_t middle = (good + bad) / 2;
    std::size_t end = end_of_good;
    for (std::size_t i = good; i < middle; ++i) end += lines[i].size() + 1;
    if (breaks_assumption(std::string_view(text).substr(0, end)))
      bad = middle;
    else
      good = middle, end_of_good = end;
  }
  return static_cast<int>(bad);
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
  // A mark that names the encoding may stand first.
  const std::string marked = base::starts_with(text, "\xef\xbb\xbf") ? "   " + text.substr(3) : text;
  if (const auto place = StrayCharacter(marked).find())
    return not_toml(file, *place, "a character that stands in texts and comments alone");
  try {
    const toml::table root = toml::parse(std::string_view(text));
    return Converter(std::move(lines)).convert(root);
  } catch (const toml::parse_error& error) {
    return not_toml(file, place_of(error.source()), std::string(error.description()));
  } catch (const AssumptionBroken&) {
    return not_toml(file, {broken_line(text, lines), 1}, "a character that no key begins with");
  }
}

}  // namespace hone::repository::manifest

#include "repository/document/table_reader.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/document/expression_parser.hpp"

namespace hone::repository {

namespace {

constexpr std::size_t kLongestName = 64, kMostItems = 1000;

std::string shown(const Node& node) {
  switch (node.kind) {
    case Node::Kind::text: return "'" + node.text.substr(0, 80) + "'";
    case Node::Kind::whole: return std::to_string(node.whole);
    case Node::Kind::real: return fmt::format("{}", node.real);
    default: return node.kind_name();
  }
}

// An empty table, for reading on where none is.
const Node& no_table() {
  static const Node empty;
  return empty;
}

}  // namespace

void Reading::fail(const Place& place, std::string expected, std::string found, std::string remedy) {
  fail({base::ErrorKind::usage, std::move(expected), std::move(found), at(file, place), std::move(remedy)});
}

void Reading::fail(base::Error wrong) {
  if (!error) error = std::move(wrong);
}

bool is_identifier(const std::string& text) {
  return !text.empty() && text.size() <= kLongestName && !std::isdigit(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

bool is_macro_name(const std::string& text) {
  static constexpr std::string_view kKeywords =
      " "
      "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t "
      "char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr "
      "constinit continue decltype default defined delete do double dynamic_cast else enum explicit export "
      "extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq "
      "nullptr operator or or_eq private protected public register reinterpret_cast requires return short "
      "signed sizeof static static_assert static_cast struct switch template this thread_local throw true "
      "try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq ";
  return is_identifier(text) && text.size() > 1 && kKeywords.find(" " + text + " ") == std::string_view::npos;
}

TableReader::TableReader(Reading& reading, const Node& node, std::string what)
    : reading_(reading), table_(node.kind == Node::Kind::table ? node : no_table()), what_(std::move(what)) {
  if (node.kind != Node::Kind::table)
    reading_.fail(node.place, what_ + " as a table", shown(node), "write " + what_ + " with its keys below it");
}

Place TableReader::place(const std::string& key) const {
  const Node::Member* member = table_.find(key);
  return member ? member->place : table_.place;
}

const Node* TableReader::node(const std::string& key) {
  known_.insert(key);
  const Node::Member* member = table_.find(key);
  return member ? &member->value : nullptr;
}

const Node* TableReader::required(const std::string& key, const std::string& expected) {
  const Node* found = node(key);
  // A misspelt key says more than a missing one, and finish() has the names: those present that are near.
  if (!found) {
    std::vector<std::string> present;
    for (const Node::Member& member : table_.members) present.push_back(member.name);
    const auto near = base::nearest(key, present);
    const bool misspelt = !near.empty() && near.front().size() + 2 > key.size() && !known_.count(near.front());
    reading_.fail(misspelt ? place(near.front()) : table_.place, words_of(key) + ": " + expected,
                  misspelt ? "'" + near.front() + "'" : "nothing",
                  misspelt ? "correct the name of the key" : "add " + key + " = ...");
  }
  return found;
}

void TableReader::wrong_kind(const std::string& key, const Node& node, const std::string& expected) {
  reading_.fail(node.place, words_of(key) + " as " + expected, shown(node), "correct the value");
}

std::string TableReader::text(const std::string& key, const std::string& otherwise) {
  const Node* found = node(key);
  if (!found) return otherwise;
  if (found->kind != Node::Kind::text) wrong_kind(key, *found, "a text in quotes");
  return found->text;
}

std::string TableReader::required_text(const std::string& key, const std::string& expected) {
  const Node* found = required(key, expected);
  if (!found) return "";
  if (found->kind != Node::Kind::text || base::trim(found->text).empty())
    wrong_kind(key, *found, "a text in quotes: " + expected);
  return found->text;
}

std::string TableReader::identifier(const std::string& key, const std::string& expected) {
  std::string text = required_text(key, expected);
  if (!reading_.error && !is_identifier(text))
    wrong_kind(key, *node(key), "a name of letters, digits and '_' (" + expected + ")");
  return text;
}

std::string TableReader::choice(const std::string& key, const std::vector<std::string>& choices,
                                const std::string& otherwise) {
  const std::string chosen =
      otherwise.empty() ? required_text(key, "one of " + base::join_text(choices, ", ")) : text(key, otherwise);
  if (!reading_.error && std::find(choices.begin(), choices.end(), chosen) == choices.end())
    reading_.fail(node(key)->place, words_of(key) + " as one of " + base::join_text(choices, ", "), "'" + chosen + "'",
                  nearest_remedy(chosen, choices));
  return chosen;
}

std::int64_t TableReader::whole(const std::string& key, std::int64_t least, std::int64_t most, std::int64_t otherwise) {
  const Node* found = node(key);
  if (!found) return otherwise;
  if (found->kind != Node::Kind::whole || found->whole < least || found->whole > most)
    wrong_kind(key, *found, fmt::format("an integer from {} to {}", least, most));
  return found->whole;
}

bool TableReader::truth(const std::string& key, bool otherwise) {
  const Node* found = node(key);
  if (!found) return otherwise;
  if (found->kind != Node::Kind::truth) wrong_kind(key, *found, "true or false");
  return found->truth;
}

std::vector<std::string> TableReader::texts(const std::string& key) {
  std::vector<std::string> all;
  const Node* found = node(key);
  if (!found) return all;
  if (found->kind != Node::Kind::array) wrong_kind(key, *found, "an array of texts");
  if (found->items.size() > kMostItems) wrong_kind(key, *found, fmt::format("at most {} texts", kMostItems));
  for (const Node& item : found->items) {
    if (item.kind != Node::Kind::text) wrong_kind(key, item, "an array of texts");
    all.push_back(item.text);
  }
  return all;
}

std::vector<std::int64_t> TableReader::wholes(const std::string& key, std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> all;
  const Node* found = node(key);
  if (!found) return all;
  const std::string expected = fmt::format("an array of integers from {} to {}", least, most);
  if (found->kind != Node::Kind::array || found->items.empty()) wrong_kind(key, *found, expected);
  if (found->items.size() > kMostItems) wrong_kind(key, *found, fmt::format("at most {} numbers", kMostItems));
  for (const Node& item : found->items) {
    if (item.kind != Node::Kind::whole || item.whole < least || item.whole > most) wrong_kind(key, item, expected);
    if (std::find(all.begin(), all.end(), item.whole) != all.end())
      reading_.fail(item.place, words_of(key) + " with each number once", std::to_string(item.whole) + " again",
                    "leave it out");
    all.push_back(item.whole);
  }
  return all;
}

std::optional<Expression> TableReader::expression_of(const Node& node, const std::string& key) {
  const Origin origin{reading_.file, node.kind == Node::Kind::text ? node.text_place : node.place, words_of(key)};
  if (node.kind == Node::Kind::whole) return Expression(node.whole, origin);
  if (node.kind == Node::Kind::real) return Expression(node.real, origin);
  if (node.kind != Node::Kind::text) {
    wrong_kind(key, node, "a number or an expression in quotes");
    return std::nullopt;
  }
  auto parsed = Expression::parse(node.text, origin);
  if (parsed) return std::move(*parsed);
  reading_.fail(parsed.error());
  return std::nullopt;
}

std::optional<Expression> TableReader::expression(const std::string& key) {
  const Node* found = node(key);
  return found ? expression_of(*found, key) : std::nullopt;
}

std::vector<Expression> TableReader::expressions(const std::string& key, std::size_t most) {
  std::vector<Expression> all;
  const Node* found = node(key);
  if (!found) return all;
  std::vector<const Node*> items = {found};
  if (found->kind == Node::Kind::array) {
    items.clear();
    for (const Node& item : found->items) items.push_back(&item);
    if (items.empty() || items.size() > most)
      wrong_kind(key, *found, fmt::format("one expression, or an array of 1 to {}", most));
  }
  for (const Node* item : items)
    if (auto value = expression_of(*item, key)) all.push_back(std::move(*value));
  return all;
}

std::vector<std::pair<std::string, std::string>> TableReader::defines(const std::string& key) {
  std::vector<std::pair<std::string, std::string>> all;
  const Node* found = node(key);
  if (!found) return all;
  if (found->kind != Node::Kind::table) {
    wrong_kind(key, *found, "a table of macros: { NAME = \"value\" }");
    return all;
  }
  for (const Node::Member& macro : found->members) {
    if (!is_macro_name(macro.name))
      reading_.fail(
          macro.place,
          "the name of a macro: two or more letters, digits and '_', and no keyword (single letters are template "
          "parameters of the compilers' own headers)",
          "'" + macro.name + "'", "choose another name, such as SCALAR");
    if (macro.value.kind == Node::Kind::whole)
      all.emplace_back(macro.name, std::to_string(macro.value.whole));
    else if (macro.value.kind == Node::Kind::text && macro.value.text.find('\n') == std::string::npos)
      all.emplace_back(macro.name, macro.value.text);
    else
      wrong_kind(key + "." + macro.name, macro.value, "an integer, or a text of one line");
  }
  return all;
}

const Node* TableReader::table(const std::string& key) {
  const Node* found = node(key);
  if (found && found->kind != Node::Kind::table) {
    wrong_kind(key, *found, "a table");
    return nullptr;
  }
  return found;
}

void TableReader::finish() {
  for (const Node::Member& member : table_.members) {
    if (known_.count(member.name)) continue;
    reading_.fail(member.place, "a key of " + what_ + ": " + base::join_text({known_.begin(), known_.end()}, ", "),
                  "'" + member.name + "'", nearest_remedy(member.name, {known_.begin(), known_.end()}));
  }
}

}  // namespace hone::repository

#include "source/triton/module/python.hpp"

#include <charconv>

#include "source/source_text.hpp"

namespace hone::source {

namespace {
constexpr std::size_t kLongestText = 4000;  // longer texts are shown cut; no expression of a kernel comes near
}  // namespace

std::string text_of(Node node) {
  if (!node) return {};
  std::string text;
  std::uint32_t at = node.start();
  const std::string_view whole = node.text();
  for (Node inner : node.descendants()) {
    if (!inner.is(Kind::comment) || inner.start() < at) continue;
    text += whole.substr(at - node.start(), inner.start() - at);
    at = inner.end();
  }
  text += whole.substr(at - node.start());
  text = collapse_white_space(to_utf8(text));
  if (text.size() > kLongestText) {
    std::size_t cut = kLongestText;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
    text = text.substr(0, cut) + " ...";
  }
  return text;
}

std::string dotted_name(Node expression) {
  std::vector<std::string_view> parts;
  Node at = expression;
  while (at.is(Kind::attribute)) {
    parts.push_back(at.child(Field::attribute).text());
    at = at.child(Field::object);
  }
  if (!at.is(Kind::identifier)) return {};
  std::string name(at.text());
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    name += '.';
    name += *part;
  }
  return name;
}

Node strip_parentheses(Node expression) {
  while (expression.is(Kind::parenthesized_expression)) {
    const Node inner = expression.first_named_child();
    if (!inner) break;
    expression = inner;
  }
  return expression;
}

std::optional<std::string> string_value(Node expression) {
  expression = strip_parentheses(expression);
  std::string value;
  if (expression.is(Kind::concatenated_string)) {
    for (Node part : expression.children()) {
      const auto piece = string_value(part);
      if (!piece) return std::nullopt;
      value += *piece;
    }
    return value;
  }
  if (!expression.is(Kind::string)) return std::nullopt;
  for (Node part : expression.children()) {
    if (part.is(Kind::interpolation)) return std::nullopt;
    if (part.is(Kind::string_content)) value += part.text();
  }
  return to_utf8(value);
}

std::optional<long long> integer_value(Node expression) {
  expression = strip_parentheses(expression);
  if (expression.is(Kind::unary_operator)) {
    const auto operand = integer_value(expression.child(Field::argument));
    const std::string_view text = expression.text();
    if (!operand || text.empty() || (text[0] != '-' && text[0] != '+')) return std::nullopt;
    return text[0] == '-' ? -*operand : *operand;
  }
  if (!expression.is(Kind::integer)) return std::nullopt;
  std::string digits;
  for (const char c : expression.text()) {
    if (c != '_') digits += c;
  }
  int base = 10;
  std::size_t skip = 0;
  if (digits.size() > 2 && digits[0] == '0') {
    const char prefix = static_cast<char>(digits[1] | 0x20);
    base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    skip = base == 10 ? 0 : 2;
  }
  long long value = 0;
  const auto [end, error] = std::from_chars(digits.data() + skip, digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

const Node* Arguments::keyword(const std::string& name) const {
  for (const auto& [key, value] : keywords) {
    if (key == name) return &value;
  }
  return nullptr;
}

Arguments arguments_of(Node call) {
  Arguments arguments;
  const Node list = call.child(Field::arguments);
  if (!list.is(Kind::argument_list)) {
    if (list) arguments.positional.push_back(list);  // f(x for x in y)
    return arguments;
  }
  for (Node argument : list.children()) {
    switch (argument.kind()) {
      case Kind::keyword_argument:
        arguments.keywords.emplace_back(argument.child(Field::name).text(), argument.child(Field::value));
        break;
      case Kind::dictionary_splat: arguments.double_splats.push_back(argument.first_named_child()); break;
      case Kind::error: break;
      default: arguments.positional.push_back(argument);
    }
  }
  return arguments;
}

int callee_line(Node call) { return call.child(Field::function).end_line(); }

std::vector<Node> elements_of(Node collection) {
  std::vector<Node> elements;
  switch (collection.kind()) {
    case Kind::tuple:
    case Kind::list:
    case Kind::set:
    case Kind::expression_list:
    case Kind::pattern_list:
    case Kind::tuple_pattern:
    case Kind::list_pattern:
      for (Node element : collection.children()) elements.push_back(element);
      break;
    default: break;
  }
  return elements;
}

}  // namespace hone::source

#include "source/triton/module/unparse.hpp"

#include "source/source_text.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

// Binding strength, loosest first (Python Language Reference, 6.17 "Operator precedence").
enum Precedence {
  kTest = 0,
  kOr,
  kAnd,
  kNot,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kPower,
  kAtom
};

// Deeper nesting than any person writes is shown as it stands, so that the stack is bounded.
constexpr int kDeepestUnparsed = 200;

std::string write(Node node, int depth);

int precedence_of_operator(std::string_view op) {
  if (op == "|") return kBitOr;
  if (op == "^") return kBitXor;
  if (op == "&") return kBitAnd;
  if (op == "<<" || op == ">>") return kShift;
  if (op == "+" || op == "-") return kSum;
  if (op == "**") return kPower;
  return kProduct;
}

int precedence_of(Node node) {
  switch (node.kind()) {
    case Kind::lambda:
    case Kind::conditional_expression:
    case Kind::named_expression:
    case Kind::yield: return kTest;
    case Kind::boolean_operator: return node.child(Field::operator_).text() == "or" ? kOr : kAnd;
    case Kind::not_operator: return kNot;
    case Kind::comparison_operator: return kCompare;
    case Kind::binary_operator: return precedence_of_operator(node.child(Field::operator_).text());
    case Kind::unary_operator: return kUnary;
    default: return kAtom;
  }
}

std::string operand(Node node, int least, int depth) {
  node = strip_parentheses(node);
  const std::string text = write(node, depth);
  return precedence_of(node) < least ? "(" + text + ")" : text;
}

std::string joined(const std::vector<Node>& parts, int depth) {
  std::string text;
  for (const Node& part : parts) text += (text.empty() ? "" : ", ") + write(strip_parentheses(part), depth);
  return text;
}

std::vector<Node> children_of(Node node) {
  std::vector<Node> nodes;
  for (Node child : node.children()) nodes.push_back(child);
  return nodes;
}

std::string write_string(Node node) {
  const std::string original = text_of(node);
  std::string prefix, content;
  bool plain = true;
  for (Node part : node.all_children()) {
    if (part.is(Kind::string_start)) {
      for (const char c : part.text()) {
        if (c != '"' && c != '\'') prefix += c;
      }
    } else if (part.is(Kind::string_content)) {
      content += part.text();
    } else if (!part.is(Kind::string_end)) {
      plain = false;
    }
  }
  const bool simple = plain && content.find_first_of("\\'\n\"") == std::string::npos;
  return simple && (prefix.empty() || prefix == "b") ? prefix + "'" + to_utf8(content) + "'" : original;
}

std::string write_comparison(Node node, int depth) {
  std::string text;
  for (Node child : node.all_children()) {
    if (child.is(Kind::comment)) continue;
    if (child.field() == Field::operators || !child.named()) {
      text += " " + collapse_white_space(child.text()) + " ";
    } else {
      text += operand(child, kBitOr, depth);
    }
  }
  return text;
}

std::string write_parameters(Node list, int depth) {
  std::string text;
  for (Node parameter : list.children()) {
    if (!text.empty()) text += ", ";
    if (parameter.is(Kind::default_parameter)) {
      text += std::string(parameter.child(Field::name).text()) + "=" + write(parameter.child(Field::value), depth);
    } else {
      text += text_of(parameter);
    }
  }
  return text;
}

std::string write_subscript(Node node, int depth) {
  std::vector<Node> indices;
  bool trailing_comma = false;
  for (Node child : node.all_children()) {
    if (child.field() == Field::subscript && child.named()) indices.push_back(child);
    if (child.text() == ",") trailing_comma = true;
  }
  std::string inside = indices.size() == 1 && strip_parentheses(indices[0]).is(Kind::tuple)
                           ? joined(elements_of(strip_parentheses(indices[0])), depth)
                           : joined(indices, depth);
  if (indices.size() == 1 && trailing_comma) inside += ",";
  return operand(node.child(Field::value), kAtom, depth) + "[" + inside + "]";
}

std::string write_slice(Node node) {
  std::string text;
  for (Node child : node.all_children()) {
    if (child.is(Kind::comment)) continue;
    text += child.named() ? unparse(child) : std::string(child.text());
  }
  return text;
}

std::string write_comprehension(Node node, const char* open, const char* close, int depth) {
  std::string text = open;
  for (Node child : node.children()) {
    if (child.is(Kind::for_in_clause)) {
      text +=
          " for " + joined({child.child(Field::left)}, depth) + " in " + operand(child.child(Field::right), kOr, depth);
    } else if (child.is(Kind::if_clause)) {
      text += " if " + operand(child.first_named_child(), kOr, depth);
    } else {
      text += write(strip_parentheses(child), depth);
    }
  }
  return text + close;
}

std::string write_call(Node node, int depth) {
  const std::string callee = operand(node.child(Field::function), kAtom, depth);
  const Node list = node.child(Field::arguments);
  if (list.is(Kind::generator_expression)) return callee + write(list, depth);
  return callee + "(" + joined(children_of(list), depth) + ")";
}

std::string write_conditional(Node node, int depth) {
  const std::vector<Node> parts = children_of(node);
  if (parts.size() != 3) return text_of(node);
  return operand(parts[0], kOr, depth) + " if " + operand(parts[1], kOr, depth) + " else " +
         operand(parts[2], kTest, depth);
}

std::string write_binary(Node node, int depth) {
  const std::string op(node.child(Field::operator_).text());
  const int own = precedence_of_operator(op);
  // `**` binds its right side, and a sign there, first.
  const int left = own == kPower ? kPower + 1 : own;
  const int right = own == kPower ? kUnary : own + 1;
  return operand(node.child(Field::left), left, depth) + " " + op + " " +
         operand(node.child(Field::right), right, depth);
}

std::string write(Node node, int depth) {
  if (depth > kDeepestUnparsed) return text_of(node);
  ++depth;
  switch (node.kind()) {
    case Kind::parenthesized_expression: return write(strip_parentheses(node), depth);
    case Kind::string: return write_string(node);
    case Kind::attribute:
      return operand(node.child(Field::object), kAtom, depth) + "." + std::string(node.child(Field::attribute).text());
    case Kind::call: return write_call(node, depth);
    case Kind::keyword_argument:
      return std::string(node.child(Field::name).text()) + "=" +
             write(strip_parentheses(node.child(Field::value)), depth);
    case Kind::list_splat: return "*" + operand(node.first_named_child(), kBitOr, depth);
    case Kind::dictionary_splat: return "**" + operand(node.first_named_child(), kBitOr, depth);
    case Kind::subscript: return write_subscript(node, depth);
    case Kind::slice: return write_slice(node);
    case Kind::tuple:
    case Kind::expression_list: {
      const std::vector<Node> elements = elements_of(node);
      return "(" + joined(elements, depth) + (elements.size() == 1 ? ",)" : ")");
    }
    case Kind::list: return "[" + joined(elements_of(node), depth) + "]";
    case Kind::set: return "{" + joined(elements_of(node), depth) + "}";
    case Kind::dictionary: return "{" + joined(children_of(node), depth) + "}";
    case Kind::pair:
      return write(strip_parentheses(node.child(Field::key)), depth) + ": " +
             write(strip_parentheses(node.child(Field::value)), depth);
    case Kind::lambda: {
      const std::string parameters = write_parameters(node.child(Field::parameters), depth);
      return (parameters.empty() ? "lambda: " : "lambda " + parameters + ": ") +
             operand(node.child(Field::body), kTest, depth);
    }
    case Kind::conditional_expression: return write_conditional(node, depth);
    case Kind::boolean_operator: {
      const int own = precedence_of(node);
      return operand(node.child(Field::left), own, depth) + " " + std::string(node.child(Field::operator_).text()) +
             " " + operand(node.child(Field::right), own + 1, depth);
    }
    case Kind::not_operator: return "not " + operand(node.child(Field::argument), kNot, depth);
    case Kind::unary_operator:
      return std::string(node.text().substr(0, 1)) + operand(node.child(Field::argument), kUnary, depth);
    case Kind::binary_operator: return write_binary(node, depth);
    case Kind::comparison_operator: return write_comparison(node, depth);
    case Kind::list_comprehension: return write_comprehension(node, "[", "]", depth);
    case Kind::set_comprehension: return write_comprehension(node, "{", "}", depth);
    case Kind::dictionary_comprehension: return write_comprehension(node, "{", "}", depth);
    case Kind::generator_expression: return write_comprehension(node, "(", ")", depth);
    case Kind::named_expression:
      return "(" + std::string(node.child(Field::name).text()) + " := " + write(node.child(Field::value), depth) + ")";
    default: return text_of(node);
  }
}

}  // namespace

std::string unparse(Node expression) { return write(strip_parentheses(expression), 0); }

}  // namespace hone::source

// Reading Python expressions from the syntax tree: names, calls, literals.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "source/syntax/tree.hpp"

namespace hone::source {

// Shown text of a node: comments dropped, white space collapsed, UTF-8.
std::string text_of(Node node);

// "a.b.c" of a name or a chain of attributes; empty for anything else.
std::string dotted_name(Node expression);

// The expression inside any number of parentheses.
Node strip_parentheses(Node expression);

// The content of a plain string literal (adjacent ones joined); nothing for f-strings and other expressions.
std::optional<std::string> string_value(Node expression);
std::optional<long long> integer_value(Node expression);  // a literal, with a sign or not

struct Arguments {
  std::vector<Node> positional;                        // `*x` stands there as a list_splat
  std::vector<std::pair<std::string, Node>> keywords;  // in source order
  std::vector<Node> double_splats;                     // the expressions after `**`
  const Node* keyword(const std::string& name) const;
};
Arguments arguments_of(Node call);

// The line on which the callee's name ends.
int callee_line(Node call);

// The elements of a tuple, list or set, or of an expression list without parentheses.
std::vector<Node> elements_of(Node collection);

}  // namespace hone::source

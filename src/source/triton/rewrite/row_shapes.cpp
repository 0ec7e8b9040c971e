#include "source/triton/rewrite/row_shapes.hpp"

#include <algorithm>

#include "source/triton/kernel/kernel_facts.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source::rewrite {

namespace {

const std::set<std::string> kElementwise = {
    "exp",     "exp2",    "expm1",     "log",       "log2",       "log1p",     "log10", "rsqrt", "sqrt",
    "sqrt_rn", "sigmoid", "tanh",      "erf",       "sin",        "cos",       "tan",   "pow",   "div_rn",
    "fdiv",    "abs",     "clamp",     "fma",       "maximum",    "minimum",   "where", "cast",  "floor",
    "ceil",    "cdiv",    "fast_expf", "fast_logf", "fast_tanhf", "zeros_like"};
const std::set<std::string> kReductions = {"sum", "max", "min"};
const std::set<std::string> kUniformCalls = {"constexpr",    "static_assert", "static_print", "float32",
                                             "float16",      "bfloat16",      "int32",        "int64",
                                             "num_programs", "device_print"};

Shape joined(Shape a, Shape b) {
  if (a == b) return a;
  if (a == Shape::uniform) return b;
  if (b == Shape::uniform) return a;
  return Shape::matrix;
}

bool is_primary(Node node) {
  return node.is(Kind::identifier) || node.is(Kind::attribute) || node.is(Kind::call) || node.is(Kind::subscript) ||
         node.is(Kind::parenthesized_expression);
}

}  // namespace

void RowShapes::refuse(Node at, const std::string& reason) {
  if (reason_.empty())
    reason_ = subject_.function(kernel_).name + ", line " + std::to_string(at.line()) + ": " + reason;
}

std::string RowShapes::rewrite() {
  Names names;  // parameters and names of the module are the same for all rows
  block(subject_.function(kernel_).body, names);
  if (reason_.empty() && !index_statement_)
    reason_ =
        subject_.function(kernel_).name + " does not take the program's index along axis 0 into a name of its own";
  return reason_;
}

void RowShapes::block(Node block, Names& names) {
  for (Node child : block.children()) {
    if (!reason_.empty()) return;
    statement(child, names);
  }
}

void RowShapes::statement(Node node, Names& names) {
  switch (node.kind()) {
    case Kind::expression_statement: {
      for (Node child : node.children()) {
        if (child.is(Kind::assignment)) {
          statement(child, names);
        } else if (child.is(Kind::augmented_assignment)) {
          augmented(child, names);
        } else if (!child.is(Kind::string) && !child.is(Kind::concatenated_string)) {
          expression(child, names);
        }
      }
      return;
    }
    case Kind::assignment: {
      const Node target = node.child(Field::left), value = node.child(Field::right);
      if (!value) return;  // an annotation alone
      if (!target.is(Kind::identifier)) return refuse(node, "it assigns to something else than one name");
      assign(target, expression(value, names), names);
      return;
    }
    case Kind::if_statement: return branch(node, names);
    case Kind::for_statement:
    case Kind::while_statement: return refuse(node, "it has a loop: its rows are long, or it does several already");
    case Kind::return_statement: return refuse(node, "it returns early");
    default: break;
  }
  if (node.text() != "pass") refuse(node, "a statement of a kind that is not followed");
}

void RowShapes::branch(Node node, Names& names) {
  uniform(node.child(Field::condition), names, "a condition");
  std::vector<Names> ends;
  Names then = names;
  block(node.child(Field::consequence), then);
  ends.push_back(std::move(then));
  bool otherwise = false;
  for (Node child : node.children()) {
    if (!child.is(Kind::elif_clause) && !child.is(Kind::else_clause)) continue;
    Names arm = names;
    if (child.is(Kind::elif_clause)) uniform(child.child(Field::condition), names, "a condition");
    block(child.child(child.is(Kind::elif_clause) ? Field::consequence : Field::body), arm);
    ends.push_back(std::move(arm));
    otherwise = otherwise || child.is(Kind::else_clause);
  }
  if (!otherwise) ends.push_back(names);
  for (const Names& end : ends) {
    for (const auto& [name, shape] : end) {
      for (const Names& other : ends) {
        const auto known = other.find(name);
        // A name that only some branches set is read only where they ran.
        if (known != other.end() && known->second != shape)
          refuse(node, "the shape of " + name + " depends on a condition");
      }
      names[name] = shape;
    }
  }
}

void RowShapes::assign(Node target, Shape shape, Names& names) { names[std::string(target.text())] = shape; }

void RowShapes::augmented(Node node, Names& names) {
  const Node target = node.child(Field::left), value = node.child(Field::right);
  if (!target.is(Kind::identifier)) return refuse(node, "it assigns to something else than one name");
  const Shape before = expression(target, names), added = expression(value, names);
  const Shape after = joined(before, added);
  if (after != before && before != Shape::uniform) return refuse(node, std::string(target.text()) + " grows in place");
  fit(value, added, after);
  assign(target, after, names);
}

Shape RowShapes::expression(Node node, const Names& names) {
  if (!reason_.empty()) return Shape::uniform;
  switch (node.kind()) {
    case Kind::identifier: {
      const auto known = names.find(std::string(node.text()));
      return known == names.end() ? Shape::uniform : known->second;
    }
    case Kind::integer:
    case Kind::float_:
    case Kind::true_:
    case Kind::false_:
    case Kind::none:
    case Kind::string: return Shape::uniform;
    case Kind::attribute:  // x.dtype, tl.float32: no numbers
      return Shape::uniform;
    case Kind::parenthesized_expression: return expression(node.first_named_child(), names);
    case Kind::unary_operator: return expression(node.child(Field::argument), names);
    case Kind::binary_operator: return binary(node.child(Field::left), node.child(Field::right), names);
    case Kind::comparison_operator: {
      std::vector<Node> sides;
      for (Node child : node.children()) sides.push_back(child);
      if (sides.size() == 2) return binary(sides[0], sides[1], names);
      uniform(node, names, "a chain of comparisons");
      return Shape::uniform;
    }
    case Kind::call: return call(node, names);
    default: uniform(node, names, "an expression of a kind that is not followed"); return Shape::uniform;
  }
}

Shape RowShapes::binary(Node left, Node right, const Names& names) {
  const Shape a = expression(left, names), b = expression(right, names);
  const Shape both = joined(a, b);
  fit(left, a, both);
  fit(right, b, both);
  return both;
}

void RowShapes::wrap(Node node, const std::string& before, const std::string& after) {
  if (!before.empty()) editor_.insert_outside(node.start(), before);  // operands are done before what holds them
  editor_.insert(node.end(), after);
}

void RowShapes::fit(Node node, Shape from, Shape to) {
  if (from == to || from == Shape::uniform || !reason_.empty()) return;
  if (to != Shape::matrix) return refuse(node, "operands of different shapes");
  const std::string index = from == Shape::row ? "[:, None]" : "[None, :]";
  is_primary(node) ? wrap(node, "", index) : wrap(node, "(", ")" + index);
}

void RowShapes::uniform(Node node, const Names& names, const char* what) {
  const auto varies = [&](Node at) {
    if (at.is(Kind::call) && (flow_.op(at) == "program_id" || flow_.op(at) == "arange" || flow_.op(at) == "load"))
      return true;
    if (!at.is(Kind::identifier) || at.field() == Field::attribute) return false;
    const auto known = names.find(std::string(at.text()));
    const bool value = known != names.end() && known->second != Shape::uniform;
    return value && !at.parent().is(Kind::attribute);  // x.dtype is no number
  };
  bool found = varies(node);
  for (Node inner : node.descendants()) found = found || varies(inner);
  if (found) refuse(node, std::string(what) + " that differs between rows or columns");
}

Shape RowShapes::call(Node node, const Names& names) {
  const Node callee = strip_parentheses(node.child(Field::function));
  const std::string op = flow_.op(node);
  if (!op.empty()) return language_call(node, op, names);
  if (callee.is(Kind::attribute)) return method(node, callee, names);
  if (is_elementwise_helper(callee)) return elementwise(node, names);
  uniform(node, names, "a call of a function that is not followed, with a value");
  return Shape::uniform;
}

// x.to(tl.float32): the shape of x.
Shape RowShapes::method(Node node, Node callee, const Names& names) {
  const std::string_view name = callee.child(Field::attribute).text();
  const Node object = callee.child(Field::object);
  if (name == "to" || name == "cast") return expression(object, names);
  uniform(node, names, "a method that is not followed, of a value");
  return Shape::uniform;
}

Shape RowShapes::language_call(Node node, const std::string& op, const Names& names) {
  if (op == "program_id") return program_index(node);
  if (op == "load" || op == "store") return access(node, op == "store", names);
  if (kReductions.count(op) > 0) return reduction(node, names);
  if (kElementwise.count(op) > 0) return elementwise(node, names);
  const Arguments arguments = arguments_of(node);
  if (op == "arange") {
    for (Node argument : arguments.positional) uniform(argument, names, "a bound");
    return Shape::column;
  }
  if (op == "zeros" || op == "full") {
    for (Node argument : arguments.positional) uniform(argument, names, "an extent or value");
    return Shape::column;
  }
  if (kUniformCalls.count(op) > 0) {
    uniform(node, names, "an argument");
    return Shape::uniform;
  }
  refuse(node, "tl." + op + " has no form for several rows here");
  return Shape::uniform;
}

Shape RowShapes::program_index(Node node) {
  const Arguments arguments = arguments_of(node);
  Node axis = arguments.positional.empty() ? Node() : arguments.positional[0];
  if (const Node* named = arguments.keyword("axis")) axis = *named;
  if (axis && integer_value(axis) != 0) {
    if (!integer_value(axis)) refuse(node, "an axis that is no literal");
    return Shape::uniform;  // another axis stays what it was
  }
  const Node statement = statement_of(node);
  const Node assignment = statement.is(Kind::expression_statement) ? statement.first_named_child() : Node();
  Node value = assignment.child(Field::right);
  if (value.is(Kind::call) && value.child(Field::function).is(Kind::attribute) && !(value == node))
    value = value.child(Field::function).child(Field::object);  // .to(tl.int64)
  const bool own_name =
      assignment.is(Kind::assignment) && assignment.child(Field::left).is(Kind::identifier) && value == node;
  if (!own_name || index_statement_) {
    refuse(node,
           index_statement_ ? "it takes the program's index twice" : "the program's index has no name of its own");
    return Shape::row;
  }
  index_statement_ = statement;
  index_name_ = std::string(assignment.child(Field::left).text());
  const std::string rows = " * BLOCK_ROW + " + language_ + ".arange(0, BLOCK_ROW)";
  node == assignment.child(Field::right) ? wrap(node, "", rows) : wrap(node, "(", rows + ")");
  return Shape::row;
}

// Over the columns: along axis 1 of a matrix. One value for each row.
Shape RowShapes::reduction(Node node, const Names& names) {
  const Arguments arguments = arguments_of(node);
  if (arguments.positional.empty()) {
    refuse(node, "a reduction of something that is not followed");
    return Shape::uniform;
  }
  const Shape shape = expression(arguments.positional[0], names);
  Node axis = arguments.positional.size() > 1 ? arguments.positional[1] : Node();
  if (const Node* named = arguments.keyword("axis")) axis = *named;
  const auto number = axis ? integer_value(axis) : std::optional<long long>(0);
  const bool plain = arguments.positional.size() <= 2 && (!axis || axis.is(Kind::none) || number == 0 || number == -1);
  if (!plain || (shape != Shape::matrix && shape != Shape::column)) {
    refuse(node, "a reduction along something else than the columns");
    return Shape::uniform;
  }
  for (const auto& [keyword, value] : arguments.keywords) {
    if (keyword != "axis" && keyword != "dtype") refuse(node, "a reduction with " + keyword);
  }
  if (shape == Shape::column) return Shape::uniform;
  if (axis) {
    editor_.replace(axis, "1");
  } else {
    editor_.append(node.child(Field::arguments), "axis=1");
  }
  return Shape::row;
}

Shape RowShapes::access(Node node, bool store, const Names& names) {
  const Arguments arguments = arguments_of(node);
  const std::size_t value_at = 1, mask_at = store ? 2 : 1;
  if (arguments.positional.empty() || (store && arguments.positional.size() < 2)) {
    refuse(node, "an access with its pointer or value by name");
    return Shape::uniform;
  }
  const Shape pointer = expression(arguments.positional[0], names);
  Node mask = arguments.positional.size() > mask_at ? arguments.positional[mask_at] : Node();
  if (const Node* named = arguments.keyword("mask")) mask = *named;
  const Shape mask_shape = mask ? expression(mask, names) : Shape::uniform;
  if (store) {
    const Shape value = expression(arguments.positional[value_at], names);
    if (pointer != Shape::row && pointer != Shape::matrix)
      refuse(node, "it stores to a place that does not depend on the row");
    if (joined(value, pointer) != pointer) refuse(node, "it stores more values than places");
    fit(arguments.positional[value_at], value, pointer);
  } else if (const Node* other = arguments.keyword("other")) {
    uniform(*other, names, "a value for masked places");
  } else if (arguments.positional.size() > 2) {
    uniform(arguments.positional[2], names, "a value for masked places");
  }
  for (const auto& [keyword, value] : arguments.keywords) {
    if (keyword == "boundary_check") refuse(node, "a block pointer");
  }
  mask_access(node, mask, pointer, mask_shape);
  return store ? Shape::uniform : pointer;
}

// Rows beyond the last are neither read nor written.
void RowShapes::mask_access(Node node, Node mask, Shape pointer, Shape mask_shape) {
  if (pointer == Shape::uniform || pointer == Shape::column) {
    if (mask && joined(mask_shape, pointer) != pointer) refuse(node, "a mask with more values than places");
    return;
  }
  const std::string rows = pointer == Shape::matrix ? mask_ + "[:, None]" : mask_;
  if (!mask) {
    editor_.append(node.child(Field::arguments), "mask=" + rows);
    return;
  }
  if (joined(mask_shape, pointer) != pointer) return refuse(node, "a mask with more values than places");
  if (mask_shape == Shape::uniform) {
    if (!is_primary(mask)) return wrap(mask, rows + " & (", ")");
    return wrap(mask, rows + " & ", "");
  }
  const bool primary = is_primary(mask);
  const bool expands = mask_shape != pointer;
  fit(mask, mask_shape, pointer);
  if (primary || expands) {
    editor_.insert_outside(mask.start(), rows + " & ");
  } else {
    wrap(mask, rows + " & (", ")");
  }
}

// All arguments in one shape; keywords carry types and options.
Shape RowShapes::elementwise(Node node, const Names& names) {
  const Arguments arguments = arguments_of(node);
  std::vector<std::pair<Node, Shape>> values;
  Shape all = Shape::uniform;
  for (Node argument : arguments.positional) {
    if (argument.is(Kind::list_splat)) {
      refuse(node, "arguments with a star");
      return all;
    }
    values.emplace_back(argument, expression(argument, names));
    all = joined(all, values.back().second);
  }
  for (const auto& [keyword, value] : arguments.keywords) uniform(value, names, "an option");
  for (const auto& [argument, shape] : values) fit(argument, shape, all);
  return all;
}

// A jit function that only computes: what it does to one number it does to any shape.
bool RowShapes::is_elementwise_helper(Node callee) const {
  if (!callee.is(Kind::identifier)) return false;
  const FunctionRef helper = subject_.modules().function_named(subject_.module(), callee, kernel_);
  if (!helper || !is_jit(*helper.module, *helper)) return false;
  for (Node inner : helper->body.descendants()) {
    if (is_loop(inner) || inner.is(Kind::subscript) || inner.is(Kind::if_statement)) return false;
    if (!inner.is(Kind::call)) continue;
    const std::string op = language_op(*helper.module, strip_parentheses(inner.child(Field::function)));
    const Node function = inner.child(Field::function);
    const std::string_view name = function.child(Field::attribute).text();
    if (kElementwise.count(op) == 0 && !(op.empty() && (name == "to" || name == "cast"))) return false;
  }
  return true;
}

}  // namespace hone::source::rewrite

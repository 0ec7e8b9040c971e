// Steps of indices are followed through the names of one function: a declaration or an assignment gives a name the step of its
// value, and the last one before an access counts. What is not understood is unknown, never unit.
#include "source/cpp/element_accesses.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

using model::Step;

bool starts(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }
bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string last_part(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

bool is_loop(Node node) {
  return node.is(Kind::for_statement) || node.is(Kind::while_statement) || node.is(Kind::do_statement) ||
         node.is(Kind::for_range_loop);
}

bool is_64_bit(const std::string& type) {
  return has(type, "64") || has(type, "size_t") || has(type, "ptrdiff_t") || has(type, "long");
}
bool is_32_bit(const std::string& type) {
  for (const char* name : {"int", "unsigned", "unsigned int", "int32_t", "uint32_t", "std::int32_t", "std::uint32_t"})
    if (type == name) return true;
  return false;
}
bool is_float(const std::string& type) { return has(type, "float") || has(type, "half") || has(type, "bfloat16"); }

Step added(Step a, Step b) {
  if (a == Step::same) return b;
  if (b == Step::same) return a;
  return a == Step::unknown || b == Step::unknown ? Step::unknown : Step::strided;
}

// The mathematical library's functions that no processor has an instruction for.
bool is_math_call(std::string name) {
  static const std::set<std::string> functions = {"exp",  "exp2",  "expm1", "log",  "log2", "log10", "log1p", "pow",
                                                  "tanh", "sinh",  "cosh",  "sin",  "cos",  "tan",   "erf",   "erfc",
                                                  "atan", "atan2", "asin",  "acos", "cbrt", "hypot"};
  if (functions.count(name) == 0 && !name.empty() && name.back() == 'f') name.pop_back();
  return functions.count(name) > 0;
}

// "1.0", "1e-6"; not "1.0f", "3", "0x1p3".
bool is_double_literal(std::string_view text) {
  if (starts(text, "0x") || starts(text, "0X") || text.empty()) return false;
  const char last = text.back();
  if (last == 'f' || last == 'F' || last == 'h' || last == 'l' || last == 'L' || has(text, "_")) return false;
  return has(text, ".") || has(text, "e") || has(text, "E");
}

bool is_macro_name(std::string_view text) {
  if (text.size() < 2 || !(text[0] >= 'A' && text[0] <= 'Z')) return false;
  for (const char c : text)
    if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
  for (const char* standard : {"INFINITY", "NAN", "NULL", "EOF"})
    if (text == standard) return false;
  return !text.ends_with("_MAX") && !text.ends_with("_MIN") && !text.ends_with("_EPSILON") && !starts(text, "M_") &&
         !starts(text, "CUDART_");
}

class BodyReader {
 public:
  BodyReader(Node definition, CppLanguage language, const std::set<std::string>& defined, model::CppKernelFact& kernel)
      : body_(definition.child(Field::body)),
        cuda_(language == CppLanguage::cuda),
        defined_(defined),
        kernel_(kernel) {}

  void read() {
    for (const model::CppParameter& parameter : kernel_.params) {
      types_[parameter.name] = parameter.type;
      const bool view = has(parameter.type, "span") || has(parameter.type, "vector<");
      if (parameter.pointer || view) aliases_[parameter.name] = {parameter.name, Node()};
      floats_ = floats_ || is_float(parameter.type);
      doubles_ = doubles_ || has(parameter.type, "double");
    }
    std::set<std::string> macros;
    for (Node node : body_.descendants()) {
      switch (node.kind()) {
        case Kind::declaration: read_declaration(node); break;
        case Kind::for_statement: enter_loop(node); break;
        case Kind::assignment_expression: read_assignment(node); break;
        case Kind::subscript_expression: read_subscript(node); break;
        case Kind::binary_expression: read_binary(node); break;
        case Kind::call_expression: read_call(node); break;
        case Kind::number_literal: read_literal(node); break;
        case Kind::preproc_call: read_pragma(node); break;
        case Kind::identifier:
          if (const std::string name(node.text());
              is_macro_name(name) && defined_.count(name) == 0 && types_.count(name) == 0 && macros.insert(name).second)
            kernel_.free_macros.push_back(name);
          break;
        default: break;
      }
    }
  }

 private:
  // A pointer that leads to a parameter. `value`: what it was set to; none: it is the parameter itself.
  struct Alias {
    std::string base;
    Node value;
  };

  std::vector<Node> loops_around(Node node) const {
    std::vector<Node> loops;  // the innermost first
    for (Node at = node.parent(); at && !(at == body_) && body_.contains(at); at = at.parent())
      if (is_loop(at)) loops.push_back(at);
    return loops;
  }

  static std::string loop_variable(Node loop) {
    const Node initializer = loop.child(Field::initializer);
    if (initializer.is(Kind::declaration)) {
      for (Node child : initializer.children())
        if (child.field() == Field::declarator) return text_of(cpp_name_of(child));
    }
    return text_of(initializer.is(Kind::assignment_expression) ? initializer.child(Field::left) : Node());
  }

  static bool goes_on_by_one(Node loop, const std::string& variable) {
    const std::string update = text_of(loop.child(Field::update));
    return update == "++" + variable || update == variable + "++" || update == variable + " += 1";
  }

  // In C++ the innermost loop around an access is what its step is told for, so its variable is the source of all change.
  std::optional<Step> source_of(Node expression, const std::vector<Node>& loops) const {
    const std::string_view text = expression.text();
    if (cuda_) return text == "threadIdx.x" ? std::optional(Step::unit) : std::nullopt;
    if (loops.empty() || !loops.front().is(Kind::for_statement)) return std::nullopt;
    const std::string variable = loop_variable(loops.front());
    if (variable.empty() || text != variable) return std::nullopt;
    return goes_on_by_one(loops.front(), variable) ? Step::unit : Step::unknown;
  }

  // A name of the loop's body takes its value anew in each turn; any other keeps it over the turns of the innermost loop.
  Step step_of_name(const std::string& name, const std::vector<Node>& loops) const {
    const auto known = values_.find(name);
    if (known == values_.end()) return Step::same;
    if (cuda_) return step_of(known->second, loops);
    if (loops.empty() || !loops.front().contains(known->second)) return Step::same;
    return step_of(known->second, loops);
  }

  Step step_of_alias(const Alias& alias, const std::vector<Node>& loops) const {
    if (!alias.value) return Step::same;
    const bool set_in_loop = cuda_ || (!loops.empty() && loops.front().contains(alias.value));
    return set_in_loop ? step_of(alias.value, loops) : Step::same;
  }

  bool changes(Node expression, const std::vector<Node>& loops) const {
    if (source_of(expression, loops)) return true;
    for (Node node : expression.descendants()) {
      if (--looks_left_ < 0) return true;
      if (source_of(node, loops)) return true;
      if (node.is(Kind::identifier) && values_.count(std::string(node.text())) > 0 &&
          step_of_name(std::string(node.text()), loops) != Step::same)
        return true;
    }
    return false;
  }

  // Names lead to names that lead to names: what takes more than a bounded number of looks is unknown.
  Step step_of(Node expression, const std::vector<Node>& loops) const {
    if (--looks_left_ < 0) return Step::unknown;
    return step_within(expression, loops);
  }

  Step step_within(Node expression, const std::vector<Node>& loops) const {
    expression = strip_parentheses(expression);
    if (!expression) return Step::unknown;
    if (const auto source = source_of(expression, loops)) return *source;
    if (expression.is(Kind::identifier)) {
      const auto alias = aliases_.find(std::string(expression.text()));
      return alias != aliases_.end() ? step_of_alias(alias->second, loops)
                                     : step_of_name(std::string(expression.text()), loops);
    }
    if (expression.is(Kind::cast_expression)) return step_of(expression.child(Field::value), loops);
    if (expression.is(Kind::call_expression)) {
      const std::string name = text_of(expression.child(Field::function));
      std::vector<Node> arguments;
      for (Node argument : expression.child(Field::arguments).children()) arguments.push_back(argument);
      const bool cast = starts(name, "static_cast") || starts(name, "reinterpret_cast") || is_64_bit(last_part(name)) ||
                        name == "int" || name == "unsigned";
      if (cast && arguments.size() == 1) return step_of(arguments.front(), loops);
    }
    if (expression.is(Kind::binary_expression)) return step_of_operation(expression, loops);
    return changes(expression, loops) ? Step::unknown : Step::same;
  }

  Step step_of_operation(Node expression, const std::vector<Node>& loops) const {
    const std::string_view sign = expression.child(Field::operator_).text();
    const Step left = step_of(expression.child(Field::left), loops);
    const Step right = step_of(expression.child(Field::right), loops);
    if (sign == "+" || sign == "-") return added(left, right);
    if (left == Step::same && right == Step::same) return Step::same;
    if (left == Step::unknown || right == Step::unknown) return Step::unknown;
    if (sign == "*") return Step::strided;
    return sign == "<<" && right == Step::same ? Step::strided : Step::unknown;
  }

  // The parameter that a pointer expression leads to.
  std::optional<Alias> alias_of(Node expression) const {
    const auto known = [&](Node node) {
      return node.is(Kind::identifier) ? aliases_.find(std::string(node.text())) : aliases_.end();
    };
    auto found = known(expression);
    Node at = expression;
    for (Node node : expression.descendants()) {
      if (found != aliases_.end()) break;
      found = known(node);
      at = node;
    }
    if (found == aliases_.end()) return std::nullopt;
    for (Node up = at.parent(); up && expression.contains(up); up = up.parent())
      if (up.is(Kind::subscript_expression) && !up.parent().is(Kind::pointer_expression)) return std::nullopt;
    return at == expression ? found->second : Alias{found->second.base, expression};
  }

  void read_declaration(Node declaration) {
    const std::string type = text_of(declaration.child(Field::type));
    for (Node child : declaration.children()) {
      if (child.field() != Field::declarator) continue;
      const std::string name = text_of(cpp_name_of(child));
      types_[name] = type;
      declared_[name] = child;
      aliases_.erase(name);
      if (floats_ && !doubles_ && has(type, "double")) kernel_.double_lines.push_back(child.line());
      const Node value = child.child(Field::value);
      if (!value) continue;
      bool pointer = false;
      for (Node part : child.descendants()) {
        if (part == value) break;
        pointer = pointer || part.is(Kind::pointer_declarator);
      }
      const bool is_cast_to_pointer = has(text_of(value), "_cast<") && has(text_of(value), "*>");
      if (pointer || (type == "auto" && is_cast_to_pointer)) {
        if (auto alias = alias_of(value)) aliases_[name] = *alias;
        continue;
      }
      values_[name] = value;
    }
  }

  void enter_loop(Node loop) {
    const Node initializer = loop.child(Field::initializer);
    if (initializer.is(Kind::declaration)) return;  // read as a declaration
    if (initializer.is(Kind::assignment_expression))
      values_[text_of(initializer.child(Field::left))] = initializer.child(Field::right);
  }

  void read_assignment(Node assignment) {
    const Node left = strip_parentheses(assignment.child(Field::left)), right = assignment.child(Field::right);
    if (!left.is(Kind::identifier)) return;
    const std::string name(left.text());
    const std::string_view sign = assignment.child(Field::operator_).text();
    read_accumulation(assignment, name, sign, right);
    if (sign == "=" && values_.count(name) > 0 && !right.contains(left)) values_[name] = right;
  }

  static bool reads(Node expression, const std::string& name) {
    for (Node node : expression.descendants())
      if (node.is(Kind::identifier) && node.text() == name) return true;
    return false;
  }

  // A floating-point scalar that the innermost loop carries from turn to turn.
  void read_accumulation(Node assignment, const std::string& name, std::string_view sign, Node right) {
    const std::vector<Node> loops = loops_around(assignment);
    const auto declared = declared_.find(name);
    if (loops.empty() || declared == declared_.end() || loops.front().contains(declared->second)) return;
    const std::string& type = types_[name];
    if (!is_float(type) && !has(type, "double")) return;
    std::string op;
    if (sign == "+=" || sign == "-=") op = "sum";
    if (sign == "*=") op = "product";
    if (sign == "=") {
      const Node value = strip_parentheses(right);
      const bool carries = reads(value, name);
      if (carries && value.is(Kind::binary_expression))
        op = value.child(Field::operator_).text() == "*" ? "product" : "sum";
      if (carries && value.is(Kind::call_expression)) {
        const std::string callee = last_part(text_of(value.child(Field::function)));
        if (has(callee, "max")) op = "max";
        if (has(callee, "min")) op = "min";
        if (callee == "fma" || callee == "fmaf") op = "sum";
      }
    }
    if (op.empty()) return;
    model::ReductionFact fact;
    fact.line = assignment.line();
    fact.op = op;
    fact.kind = "accumulation";
    if (const std::string variable = loop_variable(loops.front()); !variable.empty()) fact.axis = variable;
    fact.text = text_of(assignment);
    kernel_.accumulations.push_back(std::move(fact));
  }

  void read_subscript(Node subscript) {
    if (subscript.parent().is(Kind::subscript_expression) && subscript.field() == Field::argument) return;
    Node base = subscript;
    while (base.is(Kind::subscript_expression)) base = strip_parentheses(base.child(Field::argument));
    if (!base.is(Kind::identifier)) return;
    const auto alias = aliases_.find(std::string(base.text()));
    if (alias == aliases_.end()) return;
    if (kernel_.accesses.size() >= kMostAccesses) return;
    const std::vector<Node> loops = loops_around(subscript);
    looks_left_ = kMostLooks;
    model::ElementAccess access;
    access.line = subscript.line();
    access.base = alias->second.base;
    const Node index = subscript.child(Field::indices).first_named_child();
    access.index = text_of(index);
    access.loop_depth = static_cast<int>(loops.size());
    if (!loops.empty()) access.loop_line = loops.front().line();
    access.step = added(step_of_alias(alias->second, loops), step_of(index, loops));
    note_narrow_offset(index);
    Node user = subscript.parent();
    while (user && user.text() == "(" + std::string(subscript.text()) + ")") user = user.parent();
    if (user.is(Kind::pointer_expression)) return;  // an address: who uses it is not followed
    const bool target = user.is(Kind::assignment_expression) && user.child(Field::left).contains(subscript);
    const bool updated =
        user.is(Kind::update_expression) || (target && user.child(Field::operator_).text() != std::string_view("="));
    if (!target || updated) kernel_.accesses.push_back(access);
    access.store = true;
    if (target || updated) kernel_.accesses.push_back(std::move(access));
  }

  // A product of two names of 32 bits, or of one and the number of a block.
  void note_narrow_offset(Node index) {
    std::vector<Node> nodes = {index};
    for (Node node : index.descendants()) nodes.push_back(node);
    for (const Node node : nodes) {
      if (!node.is(Kind::binary_expression) || node.child(Field::operator_).text() != std::string_view("*")) continue;
      int narrow = 0;
      for (const Field side : {Field::left, Field::right}) {
        const Node operand = strip_parentheses(node.child(side));
        const std::string text = text_of(operand);
        const auto type = types_.find(text);
        const bool number = starts(text, "blockIdx.") || starts(text, "threadIdx.") || starts(text, "blockDim.");
        narrow += number || (operand.is(Kind::identifier) && type != types_.end() && is_32_bit(type->second)) ? 1 : 0;
      }
      const int line = node.line();
      std::vector<int>& lines = kernel_.int32_offset_lines;
      if (narrow == 2 && (lines.empty() || lines.back() != line)) lines.push_back(line);
    }
  }

  void read_binary(Node binary) {
    if (binary.child(Field::operator_).text() != std::string_view("/")) return;
    const Node divisor = strip_parentheses(binary.child(Field::right));
    const std::vector<Node> loops = loops_around(binary);
    if (loops.empty() || !divisor.is(Kind::identifier)) return;
    const std::string name(divisor.text());
    const auto type = types_.find(name);
    const auto declared = declared_.find(name);
    if (type == types_.end() || !is_float(type->second) || kernel_.invariant_division_lines.size() >= kMostLines)
      return;
    if (loops.front().subtree_end() - loops.front().index() > kLargestLoop) return;
    if (declared != declared_.end() && loops.front().contains(declared->second)) return;
    for (Node node : loops.front().descendants())
      if (node.is(Kind::assignment_expression) && text_of(node.child(Field::left)) == name) return;
    kernel_.invariant_division_lines.push_back(binary.line());
  }

  void read_call(Node call) {
    const std::string spelled = text_of(call.child(Field::function)), name = last_part(spelled);
    if (!loops_around(call).empty() && is_math_call(name)) kernel_.math_calls.push_back({call.line(), name, spelled});
  }

  // As an operand it makes its whole expression double; as a plain value of a float the compiler converts it.
  void read_literal(Node literal) {
    if (!floats_ || doubles_ || !is_double_literal(literal.text())) return;
    Node user = literal.parent();
    while (user.is(Kind::parenthesized_expression) || user.is(Kind::unary_expression)) user = user.parent();
    if (user.is(Kind::binary_expression)) kernel_.double_lines.push_back(literal.line());
  }

  void read_pragma(Node node) {
    const std::string text = text_of(node);
    if (!has(text, "omp") || !has(text, "simd")) return;
    for (const model::LoopFact& loop : kernel_.loops)
      if (loop.line > node.line() && loop.line <= node.line() + 2) kernel_.simd_lines.push_back(loop.line);
  }

  static constexpr int kMostLooks = 2000;             // at expressions, for one access
  static constexpr std::size_t kMostAccesses = 1000;  // of one kernel; a generated one may have any number
  static constexpr std::size_t kMostLines = 100;
  static constexpr std::uint32_t kLargestLoop = 20'000;  // nodes

  Node body_;
  bool cuda_;
  const std::set<std::string>& defined_;
  model::CppKernelFact& kernel_;
  std::map<std::string, std::string> types_;
  std::map<std::string, Node> declared_, values_;
  std::map<std::string, Alias> aliases_;
  bool floats_ = false, doubles_ = false;
  mutable int looks_left_ = kMostLooks;
};

}  // namespace

Node cpp_name_of(Node declarator) {
  while (declarator && !declarator.is(Kind::identifier) && !declarator.is(Kind::field_identifier) &&
         !declarator.is(Kind::qualified_identifier)) {
    const Node inner = declarator.child(Field::declarator);
    if (inner) {
      declarator = inner;
      continue;
    }
    Node last;
    for (Node child : declarator.children()) last = child;
    if (!last || last == declarator) break;
    declarator = last;
  }
  return declarator;
}

std::set<std::string> defined_names(Node root) {
  std::set<std::string> names;
  for (Node node : root.descendants()) {
    if (node.is(Kind::preproc_def)) names.insert(text_of(node.child(Field::name)));
    const bool declares = node.field() == Field::declarator || node.parent().is(Kind::template_parameter_list) ||
                          node.parent().is(Kind::optional_parameter_declaration);
    if (declares) names.insert(text_of(cpp_name_of(node)));
    if (node.field() == Field::name) names.insert(text_of(node));
  }
  return names;
}

void read_element_accesses(Node definition, CppLanguage language, const std::set<std::string>& defined,
                           model::CppKernelFact& kernel) {
  BodyReader(definition, language, defined, kernel).read();
}

}  // namespace hone::source

#include "source/triton/module/module.hpp"

#include <set>

#include "source/source_text.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

Parameter make_parameter(Node name, const char* kind) {
  Parameter parameter;
  parameter.name = std::string(name.text());
  parameter.kind = kind;
  return parameter;
}

// The plain name in `x`, `*x` or `**x`.
Node bare_name(Node node) {
  while (node && !node.is(Kind::identifier)) node = node.first_named_child();
  return node;
}

const char* kind_of(Node node, bool keyword_only) {
  if (node.is(Kind::list_splat_pattern)) return "vararg";
  if (node.is(Kind::dictionary_splat_pattern)) return "kwarg";
  return keyword_only ? "keyword_only" : "positional";
}

std::string prefixed(Node splat, std::string_view name) {
  if (splat.is(Kind::list_splat_pattern)) return "*" + std::string(name);
  if (splat.is(Kind::dictionary_splat_pattern)) return "**" + std::string(name);
  return std::string(name);
}

// Names that `from triton.language import *` brings, hiding builtins of the same name.
bool is_language_name(const std::string& name) {
  static const std::set<std::string, std::less<>> names = {"abs",
                                                           "arange",
                                                           "argmax",
                                                           "argmin",
                                                           "associative_scan",
                                                           "atomic_add",
                                                           "atomic_and",
                                                           "atomic_cas",
                                                           "atomic_max",
                                                           "atomic_min",
                                                           "atomic_or",
                                                           "atomic_xchg",
                                                           "atomic_xor",
                                                           "bfloat16",
                                                           "broadcast_to",
                                                           "cast",
                                                           "cdiv",
                                                           "clamp",
                                                           "constexpr",
                                                           "cos",
                                                           "cumprod",
                                                           "cumsum",
                                                           "debug_barrier",
                                                           "dot",
                                                           "erf",
                                                           "exp",
                                                           "exp2",
                                                           "extra",
                                                           "flip",
                                                           "float16",
                                                           "float32",
                                                           "float64",
                                                           "floor",
                                                           "fma",
                                                           "full",
                                                           "int16",
                                                           "int32",
                                                           "int64",
                                                           "int8",
                                                           "load",
                                                           "log",
                                                           "log2",
                                                           "make_block_ptr",
                                                           "math",
                                                           "max",
                                                           "max_contiguous",
                                                           "maximum",
                                                           "min",
                                                           "minimum",
                                                           "multiple_of",
                                                           "num_programs",
                                                           "program_id",
                                                           "range",
                                                           "reduce",
                                                           "rsqrt",
                                                           "sigmoid",
                                                           "sin",
                                                           "softmax",
                                                           "sort",
                                                           "sqrt",
                                                           "sqrt_rn",
                                                           "static_assert",
                                                           "static_range",
                                                           "store",
                                                           "sum",
                                                           "tanh",
                                                           "trans",
                                                           "where",
                                                           "zeros",
                                                           "zeros_like"};
  return names.count(name) > 0;
}

}  // namespace

std::vector<Parameter> parameters_of(Node list) {
  std::vector<Parameter> parameters;
  bool keyword_only = false;
  for (Node node : list.children()) {
    Parameter parameter;
    switch (node.kind()) {
      case Kind::identifier: parameter = make_parameter(node, kind_of(node, keyword_only)); break;
      case Kind::default_parameter:
      case Kind::typed_default_parameter:
        parameter = make_parameter(node.child(Field::name), kind_of(node, keyword_only));
        parameter.annotation = node.child(Field::type);
        parameter.default_value = node.child(Field::value);
        break;
      case Kind::typed_parameter: {
        const Node inner = node.first_named_child();
        parameter = make_parameter(bare_name(inner), kind_of(inner, keyword_only));
        parameter.name = prefixed(inner, parameter.name);
        parameter.annotation = node.child(Field::type);
        if (inner.is(Kind::list_splat_pattern)) keyword_only = true;
        break;
      }
      case Kind::list_splat_pattern:
      case Kind::dictionary_splat_pattern:
        parameter = make_parameter(bare_name(node), kind_of(node, keyword_only));
        parameter.name = prefixed(node, parameter.name);
        if (node.is(Kind::list_splat_pattern)) keyword_only = true;
        break;
      case Kind::keyword_separator: keyword_only = true; continue;
      default: continue;
    }
    parameter.node = node;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

const Parameter* Function::param(std::string_view wanted) const {
  for (const Parameter& parameter : params) {
    if (parameter.name == wanted) return &parameter;
  }
  return nullptr;
}

base::Result<std::unique_ptr<Module>> Module::read(std::string path, const std::string& bytes) {
  HONE_PROPAGATE(check_source_text(bytes, path));
  HONE_TRY(tree, parse(Language::python, parseable(bytes), path));
  std::unique_ptr<Module> module(new Module());
  module->path_ = std::move(path);
  module->bytes_ = bytes;
  module->tree_ = std::move(*tree);
  module->index();
  return module;
}

void Module::index() {
  const auto count = static_cast<std::uint32_t>(tree_->records().size());
  assignments_.resize(1);
  statements_.resize(1);
  calls_.resize(1);
  scope_of_node_.assign(count, kNoFunction);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Node node = tree_->node(i);
    if (i > 0) {
      const std::uint32_t parent = node.parent().index();
      scope_of_node_[i] = scope_of_node_[parent];
      if (node.field() == Field::body) {
        const auto function = function_by_node_.find(parent);
        if (function != function_by_node_.end()) scope_of_node_[i] = function->second;
      }
    }
    if (!node.named()) continue;
    const int scope = scope_of_node_[i];
    switch (node.kind()) {
      case Kind::function_definition:
        add_function(node, node.parent().is(Kind::decorated_definition) ? node.parent() : node);
        break;
      case Kind::class_definition:
        add_class(node, node.parent().is(Kind::decorated_definition) ? node.parent() : node);
        break;
      case Kind::import_statement:
      case Kind::import_from_statement: add_imports(node); break;
      case Kind::assignment:
      case Kind::augmented_assignment: add_assignment(node); break;
      case Kind::named_expression:
        add_binding(node.child(Field::name), node.child(Field::value), node, -1, Assignment::How::plain);
        break;
      case Kind::for_statement:
      case Kind::for_in_clause:
        add_binding(node.child(Field::left), node.child(Field::right), node, -1, Assignment::How::loop);
        break;
      case Kind::as_pattern:
        if (const Node alias = node.child(Field::alias)) {
          add_binding(alias.first_named_child(), node.first_named_child(), node, -1, Assignment::How::with_item);
        }
        break;
      case Kind::call:
        calls_[scope + 1].push_back(node);
        statements_[scope + 1].push_back(node);
        break;
      default: break;
    }
  }
  for (std::size_t scope = 0; scope < calls_.size(); ++scope) {
    for (const Node& call : calls_[scope]) {
      const Node callee = strip_parentheses(call.child(Field::function));
      if (callee.is(Kind::identifier))
        calls_by_name_[std::string(callee.text())].push_back({static_cast<int>(scope) - 1, call});
    }
  }
  for (const Node& call : calls_[0]) {
    if (canonical(call.child(Field::function)) != "triton.jit") continue;
    for (const Node& argument : arguments_of(call).positional) {
      const int function = argument.is(Kind::identifier) ? find_function(argument.text()) : kNoFunction;
      if (function != kNoFunction) functions_[static_cast<std::size_t>(function)].compiled_by_call = true;
    }
  }
}

void Module::add_function(Node definition, Node outer) {
  Function function;
  function.definition = definition;
  function.outer = outer;
  function.body = definition.child(Field::body);
  function.name = to_utf8(definition.child(Field::name).text());
  function.parent = scope_of_node_[definition.index()];
  function.params = parameters_of(definition.child(Field::parameters));
  const int index = static_cast<int>(functions_.size());
  for (Node at = outer.parent(); at; at = at.parent()) {
    if (at.is(Kind::function_definition)) break;
    const auto owner = class_by_node_.find(at.index());
    if (owner != class_by_node_.end()) {
      function.class_index = owner->second;
      classes_[owner->second].methods.push_back(index);
      break;
    }
  }
  std::string prefix;
  if (function.class_index != kNoClass) {
    prefix = classes_[function.class_index].name + ".";
  } else if (function.parent != kNoFunction) {
    prefix = functions_[function.parent].qualified_name + ".";
  }
  function.qualified_name = prefix + function.name;
  if (outer.is(Kind::decorated_definition)) {
    for (Node child : outer.children()) {
      if (!child.is(Kind::decorator)) continue;
      Decorator decorator;
      decorator.node = child;
      decorator.expression = child.first_named_child();
      decorator.called = decorator.expression.is(Kind::call);
      decorator.name =
          dotted_name(decorator.called ? decorator.expression.child(Field::function) : decorator.expression);
      function.decorators.push_back(std::move(decorator));
    }
  }
  function_by_node_[definition.index()] = index;
  if (function.class_index == kNoClass) functions_by_name_[function.name].push_back(index);
  functions_.push_back(std::move(function));
  assignments_.emplace_back();
  statements_.emplace_back();
  calls_.emplace_back();
}

void Module::add_class(Node definition, Node outer) {
  Class made;
  made.definition = definition;
  made.outer = outer;
  made.name = to_utf8(definition.child(Field::name).text());
  made.parent = scope_of_node_[definition.index()];
  for (Node base : definition.child(Field::superclasses).children()) made.bases.push_back(base);
  class_by_node_[definition.index()] = static_cast<int>(classes_.size());
  classes_.push_back(std::move(made));
}

void Module::add_imports(Node statement) {
  Import from;
  const bool is_from = statement.is(Kind::import_from_statement);
  Node source = statement.child(Field::module_name);
  if (is_from) {
    if (source.is(Kind::relative_import)) {
      for (Node part : source.children()) {
        if (part.is(Kind::import_prefix)) from.level = static_cast<int>(part.text().size());
        if (part.is(Kind::dotted_name)) from.module = part.text();
      }
    } else {
      from.module = collapse_white_space(source.text());
    }
  }
  for (Node child : statement.children()) {
    if (child == source) continue;
    if (child.is(Kind::wildcard_import)) {
      star_imports_.push_back(from);
      continue;
    }
    Node name = child, alias;
    if (child.is(Kind::aliased_import)) {
      name = child.child(Field::name);
      alias = child.child(Field::alias);
    }
    if (!name.is(Kind::dotted_name)) continue;
    const std::string symbol(name.text());
    if (is_from) {
      Import imported = from;
      imported.symbol = symbol;
      imports_.emplace(alias ? std::string(alias.text()) : symbol, imported);
    } else if (alias) {
      imports_.emplace(std::string(alias.text()), Import{symbol, "", 0});
    } else {
      // `import a.b` binds "a".
      const std::string root = symbol.substr(0, symbol.find('.'));
      imports_.emplace(root, Import{root, "", 0});
    }
  }
}

void Module::add_binding(Node target, Node value, Node statement, int element, Assignment::How how) {
  if (target.is(Kind::identifier)) {
    const int scope = scope_of_node_[statement.index()];
    assignments_[scope + 1][std::string(target.text())].push_back(Assignment{target, value, statement, element, how});
    return;
  }
  const std::vector<Node> parts = elements_of(target);
  if (parts.empty()) return;
  const std::vector<Node> values =
      how == Assignment::How::plain ? elements_of(strip_parentheses(value)) : std::vector<Node>();
  bool pairwise = values.size() == parts.size();
  for (const Node& v : values) pairwise = pairwise && !v.is(Kind::list_splat);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Node part = parts[i];
    if (part.is(Kind::list_splat_pattern)) part = bare_name(part);
    if (!part.is(Kind::identifier)) continue;  // nested patterns and attributes name no single value
    if (pairwise) {
      add_binding(part, values[i], statement, -1, how);
    } else {
      add_binding(part, value, statement, static_cast<int>(i), how);
    }
  }
}

void Module::add_assignment(Node assignment) {
  const Node left = assignment.child(Field::left);
  Node value = assignment.child(Field::right);
  while (value.is(Kind::assignment)) value = value.child(Field::right);  // a = b = 1
  if (!value) return;                                                    // a bare annotation
  const auto how = assignment.is(Kind::augmented_assignment) ? Assignment::How::augmented : Assignment::How::plain;
  add_binding(left, value, assignment, -1, how);
  statements_[scope_of_node_[assignment.index()] + 1].push_back(assignment);
}

int Module::function_at(Node node) const { return node ? scope_of_node_[node.index()] : kNoFunction; }

int Module::find_function(std::string_view name, int scope) const {
  const auto named = functions_by_name_.find(std::string(name));
  if (named == functions_by_name_.end()) return kNoFunction;
  for (;;) {
    // The last definition wins, as it does at run time; conditional definitions count as definitions.
    for (auto index = named->second.rbegin(); index != named->second.rend(); ++index) {
      if (functions_[static_cast<std::size_t>(*index)].parent == scope) return *index;
    }
    if (scope == kNoFunction) return kNoFunction;
    scope = functions_[static_cast<std::size_t>(scope)].parent;
  }
}

const std::vector<Assignment>& Module::assignments(int scope, const std::string& name) const {
  static const std::vector<Assignment> none;
  const auto& names = assignments_[scope + 1];
  const auto found = names.find(name);
  return found == names.end() ? none : found->second;
}

const std::vector<Node>& Module::statements(int scope) const { return statements_[scope + 1]; }
const std::vector<NamedCall>& Module::calls_named(const std::string& name) const {
  static const std::vector<NamedCall> none;
  const auto found = calls_by_name_.find(name);
  return found == calls_by_name_.end() ? none : found->second;
}

const std::vector<Node>& Module::calls(int scope) const { return calls_[scope + 1]; }

std::string Module::canonical(Node expression) const {
  const std::string name = dotted_name(strip_parentheses(expression));
  return name.empty() ? name : canonical_name(name, 0);
}

std::string Module::canonical_name(const std::string& name, int depth) const {
  const std::size_t dot = name.find('.');
  const std::string root = name.substr(0, dot);
  const std::string rest = dot == std::string::npos ? "" : name.substr(dot);
  const auto imported = imports_.find(root);
  if (imported != imports_.end()) {
    const Import& import = imported->second;
    std::string full = std::string(static_cast<std::size_t>(import.level), '.') + import.module;
    if (!import.symbol.empty()) full += (full.empty() || full.back() == '.' ? "" : ".") + import.symbol;
    return full + rest;
  }
  if (find_function(root) != kNoFunction) return name;
  const std::vector<Assignment>& values = assignments(kNoFunction, root);
  if (!values.empty()) {
    // An alias at module level: `tl = triton.language`, `load = tl.load`.
    const std::string target = dotted_name(strip_parentheses(values.front().value));
    if (values.front().element < 0 && !target.empty() && target != root && depth < 8) {
      return canonical_name(target, depth + 1) + rest;
    }
    return name;
  }
  for (const Import& star : star_imports_) {
    const bool triton_language =
        star.level == 0 && (star.module == "triton.language" || star.module.rfind("triton.language.", 0) == 0);
    if (triton_language && is_language_name(root)) return star.module + "." + name;
  }
  return name;
}

}  // namespace hone::source

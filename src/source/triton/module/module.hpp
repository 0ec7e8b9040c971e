// One Python file with its names: functions, classes, imports and assignments, each by the scope it belongs to.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "source/syntax/tree.hpp"

namespace hone::source {

inline constexpr int kNoFunction = -1;  // module level
inline constexpr int kNoClass = -1;

struct Parameter {
  std::string name;
  Node node, annotation, default_value;
  std::string kind;  // positional, keyword_only, vararg, kwarg
};

struct Decorator {
  Node node;         // the whole, from "@"
  Node expression;   // after "@"
  std::string name;  // dotted, of the callee where it is called
  bool called = false;
};

struct Function {
  Node definition;  // the function_definition
  Node outer;       // with its decorators
  Node body;
  std::string name, qualified_name;  // "Class.method", "outer.inner"
  int parent = kNoFunction;          // the function it is nested in
  int class_index = kNoClass;        // the class whose method it is
  std::vector<Decorator> decorators;
  std::vector<Parameter> params;
  bool compiled_by_call = false;  // handed to triton.jit at module level: `kernel = triton.jit(function)`

  const Parameter* param(std::string_view name) const;
};

struct Class {
  Node definition, outer;
  std::string name;
  int parent = kNoFunction;
  std::vector<Node> bases;
  std::vector<int> methods;
};

// `import a.b as c`: module "a.b", symbol "". `from ..x import y as z`: module "x", level 2, symbol "y".
struct Import {
  std::string module, symbol;
  int level = 0;
};

// One binding of a name. `element` is the index when a tuple is unpacked from a single value, else -1.
struct Assignment {
  enum class How { plain, augmented, loop, with_item };
  Node target, value, statement;
  int element = -1;
  How how = How::plain;
};

// A call of a plain name and the function it stands in.
struct NamedCall {
  int scope = kNoFunction;
  Node call;
};

class Module {
 public:
  // `path` is what facts name the file by. Fails only where the text can not be parsed at all.
  static base::Result<std::unique_ptr<Module>> read(std::string path, const std::string& bytes);

  const std::string& path() const { return path_; }
  const std::string& bytes() const { return bytes_; }
  const SyntaxTree& tree() const { return *tree_; }
  const std::vector<Function>& functions() const { return functions_; }
  const std::vector<Class>& classes() const { return classes_; }
  const std::map<std::string, Import>& imports() const { return imports_; }
  const std::vector<Import>& star_imports() const { return star_imports_; }

  // The innermost function around a node, not counting one that the node itself defines.
  int function_at(Node node) const;
  // The function that `name` means where `scope` is the function looked from; kNoFunction if it is no function of this
  // file.
  int find_function(std::string_view name, int scope = kNoFunction) const;
  const std::vector<Assignment>& assignments(int scope, const std::string& name) const;
  // Expressions assigned to keys or attributes (`d["k"] = v`, `ctx.x = v`) and statements, by the function they are in.
  const std::vector<Node>& statements(int scope) const;  // calls and assignments whose target is no plain name
  const std::vector<Node>& calls(int scope) const;
  // The calls `name(...)` of the whole file, by scope and in source order within one.
  const std::vector<NamedCall>& calls_named(const std::string& name) const;

  // The name an expression stands for, from the root of its package: "triton.language.sum" for `tl.sum`, for a bare
  // `sum` imported from there, for one brought by a star import, and for an alias. Names this file defines stay as they
  // are.
  std::string canonical(Node expression) const;

 private:
  Module() = default;
  void index();
  void add_function(Node definition, Node outer);
  void add_class(Node definition, Node outer);
  void add_imports(Node statement);
  void add_binding(Node target, Node value, Node statement, int element, Assignment::How how);
  void add_assignment(Node assignment);
  std::string canonical_name(const std::string& name, int depth) const;

  std::string path_, bytes_;
  std::unique_ptr<SyntaxTree> tree_;
  std::vector<Function> functions_;
  std::vector<Class> classes_;
  std::unordered_map<std::uint32_t, int> function_by_node_;
  std::unordered_map<std::uint32_t, int> class_by_node_;
  std::unordered_map<std::string, std::vector<int>> functions_by_name_;  // those of no class
  std::map<std::string, Import> imports_;
  std::vector<Import> star_imports_;
  std::vector<std::unordered_map<std::string, std::vector<Assignment>>> assignments_;  // [scope + 1]
  std::vector<std::vector<Node>> statements_, calls_;                                  // [scope + 1]
  std::unordered_map<std::string, std::vector<NamedCall>> calls_by_name_;
  std::vector<int> scope_of_node_;
};

// Parameters of a `def` or of a lambda.
std::vector<Parameter> parameters_of(Node list);

}  // namespace hone::source

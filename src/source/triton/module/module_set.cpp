#include "source/triton/module/module_set.hpp"

#include <algorithm>

#include "base/regular_file.hpp"
#include "source/source_text.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {
constexpr int kDeepestAlias = 8;
constexpr int kHighestPackage = 12;  // folders above a file in which its package may start
}  // namespace

bool is_jit(const Module& module, const Function& function) {
  if (function.compiled_by_call) return true;
  for (const Decorator& decorator : function.decorators) {
    const Node callee = decorator.called ? decorator.expression.child(Field::function) : decorator.expression;
    const std::string name = module.canonical(callee);
    if (name == "triton.jit" || name == "triton.runtime.jit" || name == "triton.runtime.jit.jit" ||
        name == "triton.jit.jit" || name == "triton.experimental.gluon.jit") {
      return true;
    }
  }
  return false;
}

std::string ModuleSet::shown(const std::string& path) const {
  if (!root_.empty() && path.size() > root_.size() && path.compare(0, root_.size(), root_) == 0) {
    std::size_t at = root_.size();
    while (at < path.size() && path[at] == '/') ++at;
    if (root_.back() == '/' || path[root_.size()] == '/') return path.substr(at);
  }
  return path;
}

const Module* ModuleSet::load(const std::string& path) {
  const auto known = modules_.find(path);
  if (known != modules_.end()) return known->second.get();
  auto bytes = base::read_regular(files_, path, kLargestSource);
  if (!bytes) {
    problems_.push_back({shown(path), 0, 0, "can not be read: " + bytes.error().found});
    modules_[path] = nullptr;
    return nullptr;
  }
  return add(path, *bytes);
}

const Module* ModuleSet::add(const std::string& path, const std::string& bytes) {
  auto module = Module::read(shown(path), bytes);
  if (!module) {
    problems_.push_back({shown(path), 0, 0, "expected " + module.error().expected + ", found " + module.error().found});
    modules_[path] = nullptr;
    return nullptr;
  }
  real_paths_[shown(path)] = path;
  return (modules_[path] = std::move(*module)).get();
}

const Module* ModuleSet::import_path(const Module& from, int level, const std::string& dotted) {
  const auto real = real_paths_.find(from.path());
  const std::string folder = base::parent(real == real_paths_.end() ? from.path() : real->second);
  const std::string key = folder + "|" + std::to_string(level) + "|" + dotted;
  const auto known = imports_.find(key);
  if (known != imports_.end()) return known->second;

  std::string relative = dotted;
  std::replace(relative.begin(), relative.end(), '.', '/');
  const Module* found = nullptr;
  const auto look_in = [&](const std::string& base_folder) {
    const std::string target = relative.empty() ? base_folder : base::join(base_folder, relative);
    for (const std::string& candidate : {target + ".py", base::join(target, "__init__.py")}) {
      if (files_.exists(candidate) && !files_.is_directory(candidate)) {
        found = load(candidate);
        return true;
      }
    }
    return false;
  };
  std::string base_folder = folder;
  if (level > 0) {
    for (int i = 1; i < level; ++i) base_folder = base::parent(base_folder);
    look_in(base_folder);
  } else {
    // Absolute: from the folder that holds the package's first component, looking outward from the file.
    const std::string first = relative.substr(0, relative.find('/'));
    for (int i = 0; i < kHighestPackage; ++i) {
      if (files_.exists(base::join(base_folder, first)) || files_.exists(base::join(base_folder, first + ".py"))) {
        if (look_in(base_folder)) break;
      }
      const std::string above = base::parent(base_folder);
      if (above == base_folder) break;
      base_folder = above;
    }
  }
  imports_[key] = found;
  return found;
}

const Module* ModuleSet::import(const Module& from, const Import& import) {
  static const char* elsewhere[] = {"torch", "triton",    "typing",   "numpy",    "math",
                                    "os",    "functools", "operator", "importlib"};
  const std::string first = import.module.substr(0, import.module.find('.'));
  if (import.level == 0 &&
      std::any_of(std::begin(elsewhere), std::end(elsewhere), [&](const char* e) { return first == e; })) {
    return nullptr;
  }
  return import_path(from, import.level, import.module);
}

std::vector<FunctionRef> ModuleSet::by_name(const Module& module, const std::string& name, int scope, int depth) {
  if (depth > kDeepestAlias) return {};
  // Local aliases first: `kernel = _a if c else _b`.
  for (int at = scope; at != kNoFunction; at = module.functions()[static_cast<std::size_t>(at)].parent) {
    const auto& values = module.assignments(at, name);
    if (values.empty()) continue;
    std::vector<FunctionRef> all;
    for (const Assignment& value : values) {
      if (value.how != Assignment::How::plain || value.element >= 0) continue;
      for (const FunctionRef& ref : by_expression(module, value.value, at, depth + 1)) {
        if (std::find(all.begin(), all.end(), ref) == all.end()) all.push_back(ref);
      }
    }
    return all;
  }
  if (const int own = module.find_function(name, scope); own != kNoFunction) return {FunctionRef{&module, own}};
  const auto imported = module.imports().find(name);
  if (imported != module.imports().end()) {
    if (imported->second.symbol.empty()) return {};
    const Module* source = import(module, imported->second);
    return source ? by_name(*source, imported->second.symbol, kNoFunction, depth + 1) : std::vector<FunctionRef>();
  }
  const auto& values = module.assignments(kNoFunction, name);
  if (!values.empty()) {
    std::vector<FunctionRef> all;
    for (const Assignment& value : values) {
      if (value.how != Assignment::How::plain || value.element >= 0) continue;
      for (const FunctionRef& ref : by_expression(module, value.value, kNoFunction, depth + 1)) {
        if (std::find(all.begin(), all.end(), ref) == all.end()) all.push_back(ref);
      }
    }
    return all;
  }
  for (const Import& star : module.star_imports()) {
    if (const Module* source = import(module, star)) {
      auto found = by_name(*source, name, kNoFunction, depth + 1);
      if (!found.empty()) return found;
    }
  }
  return {};
}

std::vector<FunctionRef> ModuleSet::by_expression(const Module& module, Node expression, int scope, int depth) {
  expression = strip_parentheses(expression);
  if (depth > kDeepestAlias || !expression) return {};
  switch (expression.kind()) {
    case Kind::identifier: return by_name(module, std::string(expression.text()), scope, depth);
    case Kind::conditional_expression: {
      std::vector<FunctionRef> all;
      int position = 0;
      for (Node part : expression.children()) {
        if (position++ == 1) continue;  // the condition
        for (const FunctionRef& ref : by_expression(module, part, scope, depth + 1)) all.push_back(ref);
      }
      return all;
    }
    case Kind::call: {
      // kernel = triton.jit(function), triton.autotune(...)(function)
      std::vector<FunctionRef> all;
      if (module.canonical(expression.child(Field::function)).rfind("triton.", 0) != 0) return {};
      for (Node argument : arguments_of(expression).positional) {
        for (const FunctionRef& ref : by_expression(module, argument, scope, depth + 1)) all.push_back(ref);
      }
      return all;
    }
    case Kind::attribute: {
      const std::string dotted = dotted_name(expression);
      const std::size_t last = dotted.rfind('.');
      if (dotted.empty()) return {};
      const std::string root = dotted.substr(0, dotted.find('.'));
      const auto imported = module.imports().find(root);
      if (imported == module.imports().end()) return {};
      std::string path = imported->second.module;
      if (!imported->second.symbol.empty()) path += (path.empty() ? "" : ".") + imported->second.symbol;
      const std::size_t dot = dotted.find('.');
      if (dot < last) path += dotted.substr(dot, last - dot);
      const Module* source = import(module, Import{path, "", imported->second.level});
      return source ? by_name(*source, dotted.substr(last + 1), kNoFunction, depth + 1) : std::vector<FunctionRef>();
    }
    default: return {};
  }
}

std::vector<FunctionRef> ModuleSet::functions_named(const Module& from, Node name, int scope) {
  return by_expression(from, name, scope, 0);
}

FunctionRef ModuleSet::function_named(const Module& from, Node name, int scope) {
  const std::vector<FunctionRef> all = functions_named(from, name, scope);
  return all.size() == 1 ? all.front() : FunctionRef{};
}

std::pair<const Module*, const std::vector<Assignment>*> ModuleSet::constant(const Module& from,
                                                                             const std::string& name) {
  const Module* module = &from;
  std::string wanted = name;
  for (int depth = 0; depth < kDeepestAlias; ++depth) {
    const auto& own = module->assignments(kNoFunction, wanted);
    if (!own.empty()) return {module, &own};
    const auto imported = module->imports().find(wanted);
    if (imported == module->imports().end() || imported->second.symbol.empty()) break;
    const Module* source = import(*module, imported->second);
    if (source == nullptr) break;
    wanted = imported->second.symbol;
    module = source;
  }
  return {nullptr, nullptr};
}

bool ModuleSet::is_unresolved_import(const Module& from, const std::string& name) {
  const auto imported = from.imports().find(name);
  return imported != from.imports().end() && import(from, imported->second) == nullptr;
}

}  // namespace hone::source

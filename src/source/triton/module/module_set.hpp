// The modules of an audit, loaded when a name leads to them, and names resolved across them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "model/source_facts.hpp"
#include "source/triton/module/module.hpp"

namespace hone::source {

// A function of some module; `module` is null where a name leads nowhere.
struct FunctionRef {
  const Module* module = nullptr;
  int index = kNoFunction;

  explicit operator bool() const { return module != nullptr; }
  const Function& operator*() const { return module->functions()[static_cast<std::size_t>(index)]; }
  const Function* operator->() const { return &**this; }
  bool operator==(const FunctionRef& other) const { return module == other.module && index == other.index; }
  bool operator<(const FunctionRef& other) const {
    return module != other.module ? module < other.module : index < other.index;
  }
};

class ModuleSet {
 public:
  // `root`: paths are shown relative to it when they lie below it; empty: as given.
  explicit ModuleSet(base::FileSystem& files, std::string root = "") : files_(files), root_(std::move(root)) {}

  // The module of a file, read once. Null when it can not be read; the reason is in problems().
  const Module* load(const std::string& path);
  // Takes a text in place of the file, for audits of a text that is in no file yet.
  const Module* add(const std::string& path, const std::string& bytes);

  // What `name` (a name or a chain of attributes, looked from function `scope`) stands for. Follows imports,
  // re-exports, aliases and `a if c else b`; several when it depends on a condition.
  std::vector<FunctionRef> functions_named(const Module& from, Node name, int scope);
  FunctionRef function_named(const Module& from, Node name, int scope);  // the only one, or none

  // The module and the assignments of a module-level constant, here or imported.
  std::pair<const Module*, const std::vector<Assignment>*> constant(const Module& from, const std::string& name);

  // Whether the import of `name` leads to a file that is not here.
  bool is_unresolved_import(const Module& from, const std::string& name);

  const std::vector<model::SourceProblem>& problems() const { return problems_; }

 private:
  const Module* import(const Module& from, const Import& import);
  const Module* import_path(const Module& from, int level, const std::string& dotted);
  std::vector<FunctionRef> by_name(const Module& module, const std::string& name, int scope, int depth);
  std::vector<FunctionRef> by_expression(const Module& module, Node expression, int scope, int depth);
  std::string shown(const std::string& path) const;

  base::FileSystem& files_;
  std::string root_;
  std::map<std::string, std::unique_ptr<Module>> modules_;  // by real path; null: unreadable
  std::map<std::string, std::string> real_paths_;           // shown path -> real path
  std::map<std::string, const Module*> imports_;            // folder, level and dotted name -> module
  std::vector<model::SourceProblem> problems_;
};

// Is the function compiled by Triton: does a decorator resolve to triton.jit (or another package's `jit` of that name)?
bool is_jit(const Module& module, const Function& function);

}  // namespace hone::source

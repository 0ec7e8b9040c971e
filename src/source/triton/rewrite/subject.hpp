// The file that is rewritten, parsed once: its launches and kernels with the autograd pass that each serves.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "source/triton/launch/launch_facts.hpp"
#include "source/triton/module/module_set.hpp"
#include "source/triton/rewrite/rewrite.hpp"

namespace hone::source::rewrite {

class Subject {
 public:
  // Fails where the text has syntax errors: spans in such a text are not to be trusted.
  static base::Result<std::unique_ptr<Subject>> read(base::FileSystem& files, const std::string& path,
                                                     const std::string& text);

  const std::string& path() const { return module_->path(); }
  const std::string& text() const { return module_->bytes(); }
  const Module& module() const { return *module_; }
  ModuleSet& modules() const { return modules_; }
  const std::vector<Launch>& launches() const { return launches_; }  // in source order
  const std::vector<int>& kernels() const { return kernels_; }  // functions of this file that are compiled by Triton
  const Function& function(int index) const { return module_->functions()[static_cast<std::size_t>(index)]; }
  const model::KernelFact& kernel_facts(int index) const { return catalog_.facts({module_, index}); }
  const model::KernelFact& facts_of(const FunctionRef& kernel) const { return catalog_.facts(kernel); }

  // Of a host function: from the autograd method that reaches it, else from its name. Of a kernel: from its launches and
  // from the kernels that call it.
  Pass pass_of_function(int index) const;
  Pass pass_of_kernel(int index) const;
  std::vector<const Launch*> launches_in(int function) const;
  std::vector<const Launch*> launches_of(int kernel) const;

  bool is_crlf() const { return crlf_; }
  // `wanted`, or `wanted` with a number, so that it is no identifier of the text yet.
  std::string fresh_name(const std::string& wanted) const;

 private:
  explicit Subject(base::FileSystem& files) : modules_(files), catalog_(modules_) {}
  void find_passes();
  void mark(int function, Pass pass, std::map<int, std::set<Pass>>& passes) const;

  mutable ModuleSet modules_;
  mutable KernelCatalog catalog_;
  const Module* module_ = nullptr;
  std::vector<Launch> launches_;
  std::vector<int> kernels_;
  std::map<int, std::set<Pass>> passes_;  // of host functions and of kernels
  bool crlf_ = false;
};

// The statement that a node is part of: the ancestor whose parent is a block or the module.
Node statement_of(Node node);
// Identifiers `name` below `root` that are read or written as names: no attributes, no names of keyword arguments.
std::vector<Node> names_in(Node root, std::string_view name);
bool wants(const Request& request, Pass pass, const std::string& kernel);
bool is_power_of_two(long long value);

// The error of a rewrite that does not apply.
base::Error not_here(const Subject& subject, const Rewrite& rewrite, std::string reason);
base::Error bad_value(const Subject& subject, const Rewrite& rewrite, std::string expected, std::string found);

}  // namespace hone::source::rewrite

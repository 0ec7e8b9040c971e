#include "source/triton/rewrite/subject.hpp"

#include <algorithm>

#include "source/triton/launch/setting_source.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source::rewrite {

namespace {

// The pass that a name speaks of; `any` where it names none or both.
Pass pass_named(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  const bool forward = has("forward") || has("fwd"), backward = has("backward") || has("bwd");
  return forward == backward ? Pass::any : forward ? Pass::forward : Pass::backward;
}

Pass the_only(const std::set<Pass>& passes) { return passes.size() == 1 ? *passes.begin() : Pass::any; }

}  // namespace

base::Result<std::unique_ptr<Subject>> Subject::read(base::FileSystem& files, const std::string& path,
                                                     const std::string& text) {
  std::unique_ptr<Subject> subject(new Subject(files));
  subject->module_ = subject->modules_.add(path, text);
  if (subject->module_ == nullptr) {
    const auto& problems = subject->modules_.problems();
    return base::Error{base::ErrorKind::usage, "a Python source text",
                       problems.empty() ? "one that can not be read" : problems.back().what, path,
                       "correct the file first"};
  }
  const Node root = subject->module_->tree().root();
  Node wrong = root.is(Kind::error) ? root : Node();  // a text that is no Python as a whole has no wrong place in it
  for (Node node : root.descendants()) {
    if (!wrong && (node.is(Kind::error) || node.missing())) wrong = node;
  }
  if (wrong) {
    return base::Error{base::ErrorKind::usage, "a text without syntax errors",
                       "one in line " + std::to_string(wrong.line()), path,
                       "correct the file first; nothing is rewritten in it until then"};
  }
  subject->crlf_ = text.find("\r\n") != std::string::npos;
  const Module& module = *subject->module_;
  for (int i = 0; i < static_cast<int>(module.functions().size()); ++i) {
    if (is_jit(module, subject->function(i))) subject->kernels_.push_back(i);
  }
  subject->launches_ = read_launches(subject->modules_, subject->catalog_, module);
  subject->find_passes();
  return subject;
}

// Marks a function and all that it calls in this file.
void Subject::mark(int function, Pass pass, std::map<int, std::set<Pass>>& passes) const {
  std::vector<int> open = {function};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (!passes[at].insert(pass).second) continue;
    for (Node call : module_->calls(at)) {
      const Node callee = strip_parentheses(call.child(Field::function));
      if (!callee.is(Kind::identifier)) continue;
      const FunctionRef called = modules_.function_named(*module_, callee, at);
      if (called && called.module == module_) open.push_back(called.index);
    }
    for (int i = 0; i < static_cast<int>(module_->functions().size()); ++i) {
      if (this->function(i).parent == at) open.push_back(i);
    }
  }
}

void Subject::find_passes() {
  for (const Class& candidate : module_->classes()) {
    if (!is_autograd_class(*module_, candidate)) continue;
    for (const int method : candidate.methods) {
      const std::string& name = function(method).name;
      if (name == "forward") mark(method, Pass::forward, passes_);
      if (name == "backward") mark(method, Pass::backward, passes_);
    }
  }
  std::map<int, std::set<Pass>> of_kernels;
  for (const Launch& launch : launches_) {
    if (launch.kernel.module != module_) continue;
    const Pass pass = pass_of_function(launch.scope);
    if (pass != Pass::any) {
      mark(launch.kernel.index, pass, of_kernels);
    } else {
      mark(launch.kernel.index, Pass::forward, of_kernels);
      mark(launch.kernel.index, Pass::backward, of_kernels);
    }
  }
  for (auto& [kernel, passes] : of_kernels) passes_[kernel].insert(passes.begin(), passes.end());
}

Pass Subject::pass_of_function(int index) const {
  if (index == kNoFunction) return Pass::any;
  const auto known = passes_.find(index);
  return known != passes_.end() ? the_only(known->second) : pass_named(function(index).name);
}

Pass Subject::pass_of_kernel(int index) const { return pass_of_function(index); }

std::vector<const Launch*> Subject::launches_in(int function) const {
  std::vector<const Launch*> found;
  for (const Launch& launch : launches_) {
    if (launch.scope == function) found.push_back(&launch);
  }
  return found;
}

std::vector<const Launch*> Subject::launches_of(int kernel) const {
  std::vector<const Launch*> found;
  for (const Launch& launch : launches_) {
    if (launch.kernel == FunctionRef{module_, kernel}) found.push_back(&launch);
  }
  return found;
}

std::string Subject::fresh_name(const std::string& wanted) const {
  std::set<std::string_view> taken;
  for (Node node : module_->tree().root().descendants()) {
    if (node.is(Kind::identifier)) taken.insert(node.text());
  }
  std::string name = wanted;
  for (int number = 2; taken.count(name) > 0; ++number) name = wanted + "_" + std::to_string(number);
  return name;
}

Node statement_of(Node node) {
  while (node && !node.parent().is(Kind::block) && !node.parent().is(Kind::module)) node = node.parent();
  return node;
}

std::vector<Node> names_in(Node root, std::string_view name) {
  std::vector<Node> found;
  const auto check = [&](Node node) {
    if (!node.is(Kind::identifier) || node.text() != name) return;
    if (node.field() == Field::attribute && node.parent().is(Kind::attribute)) return;
    if (node.field() == Field::name && node.parent().is(Kind::keyword_argument)) return;
    found.push_back(node);
  };
  check(root);
  for (Node node : root.descendants()) check(node);
  return found;
}

bool wants(const Request& request, Pass pass, const std::string& kernel) {
  if (request.pass != Pass::any && request.pass != pass) return false;
  return request.kernels.empty() ||
         std::find(request.kernels.begin(), request.kernels.end(), kernel) != request.kernels.end();
}

bool is_power_of_two(long long value) { return value > 0 && (value & (value - 1)) == 0; }

base::Error not_here(const Subject& subject, const Rewrite& rewrite, std::string reason) {
  return {base::ErrorKind::usage, std::string(rewrite.name) + ": " + rewrite.where, std::move(reason), subject.path(),
          "choose another rewrite for this file"};
}

base::Error bad_value(const Subject& subject, const Rewrite& rewrite, std::string expected, std::string found) {
  return {base::ErrorKind::usage, std::string(rewrite.name) + ": " + std::move(expected), std::move(found),
          subject.path(), "correct the request; nothing was changed"};
}

}  // namespace hone::source::rewrite

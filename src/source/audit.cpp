#include "source/audit.hpp"

#include <algorithm>
#include <set>

#include "base/regular_file.hpp"
#include "source/checkout.hpp"
#include "source/cpp/audit_cpp.hpp"
#include "source/sha256.hpp"
#include "source/source_text.hpp"
#include "source/triton/audit_triton.hpp"

namespace hone::source {

namespace {

constexpr int kDeepestFolder = 24;
constexpr std::size_t kMostFiles = 20'000;

bool ends_with(const std::string& text, const char* end) {
  const std::string_view tail(end);
  return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

std::string stem(const std::string& path) {
  const std::string name = base::file_name(path);
  return name.substr(0, name.rfind('.'));
}

bool is_python(const std::string& path) { return ends_with(path, ".py"); }
bool is_cuda(const std::string& path) { return ends_with(path, ".cu") || ends_with(path, ".cuh"); }
// Headers are read where they are named; below a folder they are what the units include.
bool is_cpp_unit(const std::string& path) {
  return ends_with(path, ".cpp") || ends_with(path, ".cc") || ends_with(path, ".cxx") || ends_with(path, ".c++");
}
bool is_cpp(const std::string& path) {
  return is_cpp_unit(path) || ends_with(path, ".hpp") || ends_with(path, ".hh") || ends_with(path, ".hxx") ||
         ends_with(path, ".h");
}

// What nvcc would compile as CUDA, whatever the file's name.
CppLanguage language_of(const std::string& path, const std::string& text) {
  return is_cuda(path) || text.find("__global__") != std::string::npos ? CppLanguage::cuda : CppLanguage::cpp;
}

model::AuditedOp failed(const std::string& path, const char* language, const base::Error& error) {
  model::AuditedOp op;
  op.op = stem(path);
  op.language = language;
  op.problems.push_back({path, 0, 0, "expected " + error.expected + ", found " + error.found});
  return op;
}

class PathAuditor {
 public:
  explicit PathAuditor(base::FileSystem& files) : files_(files) {}

  base::Result<model::Audit> audit(const std::vector<std::string>& paths) {
    if (paths.empty()) {
      return base::Error{base::ErrorKind::usage, "at least one file or folder to audit", "none", "command line",
                         "hone audit PATH..."};
    }
    for (const std::string& given : paths) {
      std::string path = given;
      while (path.size() > 1 && path.back() == '/') path.pop_back();
      if (!files_.exists(path)) {
        return base::Error{base::ErrorKind::usage, "a file or folder to audit", "nothing of that name", path,
                           "check the path"};
      }
      HONE_PROPAGATE(check_named(path));
      const std::size_t before = audit_.kernels.size() + audit_.problems.size();
      if (files_.is_directory(path)) {
        if (const auto checkout = checkout_at(files_, path)) {
          audit_checkout(*checkout);
        } else {
          audit_folder(path);
        }
      } else if (is_cuda(path) || is_cpp(path)) {
        audit_cpp_file(path);
      } else {
        audit_python_file(path);
      }
      if (audit_.kernels.size() + audit_.problems.size() == before) {
        return base::Error{base::ErrorKind::usage, "Triton, CUDA or C++ kernels",
                           is_cpp(path) ? "none: no function that walks over the elements of its pointers in a loop"
                                        : "none: no @triton.jit, launch, autograd function or __global__",
                           path, "name a file with kernels, a folder of them, or the root of a Liger checkout"};
      }
    }
    return std::move(audit_);
  }

 private:
  // A file that is named must be a text; below a folder it is a problem among others.
  base::Result<void> check_named(const std::string& path) {
    const auto bytes = files_.is_directory(path) ? std::string() : base::read_regular(files_, path, kLargestSource);
    auto readable = bytes ? check_source_text(*bytes, path) : base::Result<void>();
    const bool is_text = readable || readable.error().kind != base::ErrorKind::preflight;
    return is_text ? base::Result<void>() : readable;
  }

  void audit_checkout(const Checkout& checkout) {
    ModuleSet modules(files_, checkout.root);
    PreflightReader preflight(files_, checkout.root);
    std::vector<std::string> paths = python_files(checkout.ops);
    const std::string experimental = base::join(checkout.ops, "experimental");
    if (files_.is_directory(experimental)) {
      for (std::string& path : python_files(experimental)) paths.push_back(std::move(path));
    }
    audit_modules(modules, paths, &preflight);
  }

  // Python files of one folder, in order of their names.
  std::vector<std::string> python_files(const std::string& folder) {
    std::vector<std::string> paths;
    const auto names = files_.list(folder);
    if (!names) {
      audit_.problems.push_back({folder, 0, 0, "can not be listed: " + names.error().found});
      return paths;
    }
    for (const std::string& name : *names) {
      const std::string path = base::join(folder, name);
      if (is_python(name) && !files_.is_directory(path)) paths.push_back(path);
    }
    return paths;
  }

  // Audits the modules at `paths` as operations; a companion file belongs to the operation that launches from it.
  void audit_modules(ModuleSet& modules, const std::vector<std::string>& paths, PreflightReader* preflight) {
    std::vector<std::vector<const Module*>> groups;
    std::set<const Module*> companions;
    for (const std::string& path : paths) {
      const Module* module = modules.load(path);
      if (module == nullptr) continue;
      std::vector<const Module*> own = companion_modules(modules, *module);
      companions.insert(own.begin(), own.end());
      own.insert(own.begin(), module);
      groups.push_back(std::move(own));
    }
    for (const auto& own : groups) {
      if (companions.count(own.front()) > 0) continue;
      model::AuditedOp op = audit_triton(modules, stem(own.front()->path()), own);
      const bool shared_code = op.launches.empty() && op.indirect_launches.empty() && op.autograd_functions.empty();
      if (!has_triton(op) && op.problems.empty()) continue;
      if (preflight != nullptr && shared_code && op.problems.empty()) continue;  // utilities are no operation
      if (preflight != nullptr) {
        std::vector<std::string> names;
        for (const Module* module : own) names.push_back(module->path());
        op.preflight = preflight->read(op.op, names);
      }
      audit_.kernels.push_back(std::move(op));
    }
    for (const model::SourceProblem& problem : modules.problems()) audit_.problems.push_back(problem);
  }

  void audit_python_file(const std::string& path) {
    const auto checkout = checkout_around(files_, base::parent(path));
    ModuleSet modules(files_, checkout ? checkout->root : "");
    const Module* module = modules.load(path);
    if (module != nullptr) {
      std::vector<const Module*> own = companion_modules(modules, *module);
      own.insert(own.begin(), module);
      model::AuditedOp op = audit_triton(modules, stem(path), own);
      const bool in_ops = checkout && base::parent(path) == checkout->ops;
      if (in_ops) {
        std::vector<std::string> names;
        for (const Module* each : own) names.push_back(each->path());
        op.preflight = PreflightReader(files_, checkout->root).read(op.op, names);
      }
      // A text of another name that is no Python was named by mistake.
      if (has_triton(op) || (is_python(path) && !op.problems.empty())) audit_.kernels.push_back(std::move(op));
    }
    for (const model::SourceProblem& problem : modules.problems()) audit_.problems.push_back(problem);
  }

  void audit_cpp_file(const std::string& path) {
    const auto text = base::read_regular(files_, path, kLargestSource);
    if (!text) {
      audit_.problems.push_back({path, 0, 0, "can not be read: " + text.error().found});
      return;
    }
    auto op = audit_cpp(path, *text, language_of(path, *text));
    if (!op) {
      audit_.problems.push_back({path, 0, 0, "expected " + op.error().expected + ", found " + op.error().found});
      return;
    }
    // A C++ file without a kernel is no operation, whatever the parser did not understand in it.
    const bool any = !op->cpp_kernels.empty() || !op->cuda_launches.empty();
    if (any || (op->language == "cuda" && !op->problems.empty())) audit_.kernels.push_back(std::move(*op));
  }

  void audit_folder(const std::string& folder) {
    const auto checkout = checkout_around(files_, folder);
    std::vector<std::string> python, cpp;
    std::set<std::string> seen;
    collect(folder, 0, seen, python, cpp);
    ModuleSet modules(files_, checkout ? checkout->root : "");
    if (checkout && (folder == checkout->ops)) {
      PreflightReader preflight(files_, checkout->root);
      audit_modules(modules, python, &preflight);
    } else {
      audit_modules(modules, python, nullptr);
    }
    for (const std::string& path : cpp) audit_cpp_file(path);
  }

  // A folder reached twice, through a link that leads back, is read once.
  void collect(const std::string& folder, int depth, std::set<std::string>& seen, std::vector<std::string>& python,
               std::vector<std::string>& cpp) {
    if (depth > kDeepestFolder || python.size() + cpp.size() >= kMostFiles) {
      const std::string what = depth > kDeepestFolder
                                   ? "not read: it lies more than " + std::to_string(kDeepestFolder) + " folders deep"
                                   : "not read: there are more than " + std::to_string(kMostFiles) + " files before it";
      audit_.problems.push_back({folder, 0, 0, what});
      return;
    }
    if (!seen.insert(files_.canonical(folder)).second) return;
    const auto names = files_.list(folder);
    if (!names) {
      audit_.problems.push_back({folder, 0, 0, "can not be listed: " + names.error().found});
      return;
    }
    for (const std::string& name : *names) {
      if (name.empty() || name[0] == '.' || name == "__pycache__" || name == "node_modules") continue;
      const std::string path = base::join(folder, name);
      if (files_.is_directory(path)) {
        collect(path, depth + 1, seen, python, cpp);
      } else if (is_python(name)) {
        python.push_back(path);
      } else if (is_cuda(name) || is_cpp_unit(name)) {
        cpp.push_back(path);
      }
    }
  }

  base::FileSystem& files_;
  model::Audit audit_;
};

}  // namespace

base::Result<model::Audit> audit_paths(base::FileSystem& files, const std::vector<std::string>& paths) {
  return PathAuditor(files).audit(paths);
}

model::AuditedOp audit_text(base::FileSystem& files, const std::string& path, const std::string& text) {
  if (is_cuda(path) || is_cpp(path)) {
    const CppLanguage language = language_of(path, text);
    auto op = audit_cpp(path, text, language);
    return op ? std::move(*op) : failed(path, language == CppLanguage::cuda ? "cuda" : "c++", op.error());
  }
  ModuleSet modules(files, "");
  const Module* module = modules.add(path, text);
  if (module == nullptr) {
    model::AuditedOp unread;
    unread.op = stem(path);
    unread.language = "triton";
    unread.problems = modules.problems();
    return unread;
  }
  std::vector<const Module*> own = companion_modules(modules, *module);
  own.insert(own.begin(), module);
  return audit_triton(modules, stem(path), own);
}

}  // namespace hone::source

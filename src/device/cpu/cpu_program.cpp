// Loading with dlopen, and looking entries up by name.
#include "device/cpu/cpu_program.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "base/text.hpp"

namespace hone::device::cpu {

namespace {

void* open_library(const std::string& path, std::string& words) {
  const std::lock_guard<std::mutex> lock(loader_mutex());
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* message = ::dlerror();
    words = message != nullptr ? message : "no reason given";
  }
  return handle;
}

}  // namespace

std::mutex& loader_mutex() {
  static std::mutex mutex;
  return mutex;
}

CpuProgram::~CpuProgram() {
  if (handle_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(loader_mutex());
  ::dlclose(handle_);
}

base::Result<void> CpuProgram::load() const {
  if (handle_ != nullptr) return {};
  std::string words;
  if (!image_.cached_path.empty()) handle_ = open_library(image_.cached_path, words);
  if (handle_ != nullptr) return {};
  // No cache, an entry removed meanwhile, or a cache on a disk that may not hold code.
  if (auto written = files_.write_atomically(image_.spare_path, image_.bytes); !written) return written;
  handle_ = open_library(image_.spare_path, words);
  const auto removed = files_.remove(image_.spare_path);  // the mapping outlives the name
  if (handle_ == nullptr) {
    return base::Error{base::ErrorKind::preflight, "'" + image_.name + "' to load", words, image_.spare_path,
                       "set TMPDIR to a folder on a disk that may hold programs (not mounted noexec)"};
  }
  return removed;
}

base::Result<CpuProgram::Entry> CpuProgram::entry(const std::string& name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = entries_.find(name); found != entries_.end()) return found->second;
  const auto& functions = image_.functions;
  if (!std::binary_search(functions.begin(), functions.end(), name)) {
    const std::string present = functions.empty() ? "no extern \"C\" functions" : base::join_text(functions, ", ");
    return base::Error{base::ErrorKind::gate, "an entry '" + name + "'", present, image_.name,
                       "declare it extern \"C\", and check its spelling"};
  }
  HONE_PROPAGATE(load());
  const std::lock_guard<std::mutex> loader(loader_mutex());
  Entry entry;
  entry.run = reinterpret_cast<EntryFunction>(::dlsym(handle_, name.c_str()));
  entry.workspace_bytes = reinterpret_cast<WorkspaceFunction>(::dlsym(handle_, (name + "_workspace_bytes").c_str()));
  if (entry.run == nullptr) {
    return base::Error{base::ErrorKind::internal, "an entry '" + name + "'", "a symbol that the loader does not find",
                       image_.name, ""};
  }
  entries_[name] = entry;
  return entry;
}

}  // namespace hone::device::cpu

// dlopen and the search.
#include "device/cuda/shared_library.hpp"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/environment.hpp"
#include "base/text.hpp"

namespace hone::device::cuda {

namespace {

class Folders {
 public:
  explicit Folders(base::FileSystem& files) : files_(files) {}

  void add(const std::string& folder) {
    if (folder.empty() || !files_.is_directory(folder)) return;
    if (std::find(found_.begin(), found_.end(), folder) == found_.end()) found_.push_back(folder);
  }
  // The folders of NVIDIA's packages below a folder of Python packages.
  void add_packages(const std::string& packages) {
    const std::string nvidia = base::join(packages, "nvidia");
    if (!files_.is_directory(nvidia)) return;
    for (const char* part : {"cu13/lib", "cu12/lib", "cuda_nvrtc/lib", "cublas/lib"}) add(base::join(nvidia, part));
  }
  // PREFIX/lib/pythonX.Y/{site,dist}-packages and PREFIX/lib/python3/dist-packages.
  void add_prefix(const std::string& prefix) {
    if (prefix.empty()) return;
    for (const char* library : {"lib", "lib64"}) {
      const std::string root = base::join(prefix, library);
      if (!files_.is_directory(root)) continue;
      auto names = files_.list(root);
      if (!names) continue;
      for (auto name = names->rbegin(); name != names->rend(); ++name) {
        if (!base::starts_with(*name, "python3")) continue;
        for (const char* packages : {"site-packages", "dist-packages"})
          add_packages(base::join(base::join(root, *name), packages));
      }
    }
  }
  void add_toolkit(const std::string& root) {
    if (root.empty()) return;
    for (const char* part : {"lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib"})
      add(base::join(root, part));
  }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  base::FileSystem& files_;
  std::vector<std::string> found_;
};

}  // namespace

SearchEnvironment SearchEnvironment::from_process() {
  SearchEnvironment environment;
  environment.cuda_home = base::environment_variable("CUDA_HOME");
  environment.cuda_path = base::environment_variable("CUDA_PATH");
  environment.virtual_env = base::environment_variable("VIRTUAL_ENV");
  environment.home = base::environment_variable("HOME");
  environment.path = base::environment_variable("PATH");
  std::array<char, 4096> program{};
  const ssize_t length = ::readlink("/proc/self/exe", program.data(), program.size() - 1);
  if (length > 0)
    environment.program_folder = base::parent(std::string(program.data(), static_cast<std::size_t>(length)));
  return environment;
}

std::vector<std::string> library_folders(base::FileSystem& files, const SearchEnvironment& environment) {
  Folders folders(files);
  folders.add_prefix(environment.virtual_env);
  for (const std::string& folder : base::split(environment.path, ':')) {
    // A Python of its own prefix (a virtual environment, conda) is called by its path, its packages stand beside it.
    if (!folder.empty() && base::file_name(folder) == "bin" && files.exists(base::join(folder, "python3")))
      folders.add_prefix(base::parent(folder));
  }
  if (!environment.home.empty()) folders.add_prefix(base::join(environment.home, ".local"));
  folders.add_prefix("/usr/local");
  folders.add_prefix("/usr");
  folders.add_toolkit(environment.cuda_home);
  folders.add_toolkit(environment.cuda_path);
  if (auto names = files.list("/usr/local"); names) {
    for (auto name = names->rbegin(); name != names->rend(); ++name) {
      if (base::starts_with(*name, "cuda")) folders.add_toolkit(base::join("/usr/local", *name));
    }
  }
  if (!environment.program_folder.empty())
    folders.add_packages(base::join(environment.program_folder, "../.deps/nvidia-cuda-nvrtc"));
  return folders.take();
}

void* open_shared_library(const std::string& path, std::string& words) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* message = ::dlerror();
    words = message != nullptr ? message : "no reason given";
  }
  return library;
}

void* find_symbol(void* library, const char* name) { return ::dlsym(library, name); }

std::string file_of_symbol(void* symbol) {
  Dl_info info{};
  return ::dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

void* open_first(const std::vector<std::string>& names, const std::vector<std::string>& folders,
                 base::FileSystem& files, std::string& opened_path, std::string& tried) {
  for (const std::string& name : names) {
    std::string words;
    if (void* library = open_shared_library(name, words)) {
      opened_path = name;
      return library;
    }
  }
  tried = base::join_text(names, ", ") + " in the loader's places";
  for (const std::string& folder : folders) {
    for (const std::string& name : names) {
      const std::string path = base::join(folder, name);
      if (!files.exists(path)) continue;
      std::string words;
      if (void* library = open_shared_library(path, words)) {
        opened_path = path;
        return library;
      }
      tried += "; " + words;
    }
  }
  if (!folders.empty()) tried += "; and in " + base::join_text(folders, ", ");
  return nullptr;
}

}  // namespace hone::device::cuda

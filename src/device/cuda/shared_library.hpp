// Libraries that are opened at run time, and where they may be: the loader's own places, the CUDA toolkit, Python packages.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace hone::device::cuda {

// What the search depends on, as values, so that it can be tested.
struct SearchEnvironment {
  std::string cuda_home, cuda_path, virtual_env, home, path;  // CUDA_HOME, CUDA_PATH, VIRTUAL_ENV, HOME, PATH
  std::string program_folder;                                 // of hone itself: a checkout's .deps stands beside it
  static SearchEnvironment from_process();
};

// Folders that may hold libraries of NVIDIA, in the order they are tried: Python packages (nvidia/cu13/lib,
// nvidia/cuda_nvrtc/lib, nvidia/cublas/lib) of the virtual environment, of python3 on PATH, of the user and of the system; the toolkit
// ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda*); a checkout's .deps. Only folders that exist, each once.
std::vector<std::string> library_folders(base::FileSystem& files, const SearchEnvironment& environment);

// Opens a library for the rest of the process. nullptr, with what the loader said in `words`.
void* open_shared_library(const std::string& path, std::string& words);
void* find_symbol(void* library, const char* name);
// The file that the loader took a symbol's library from.
std::string file_of_symbol(void* symbol);

// The first of `names` that opens: as it is (the loader's places), then in each folder. `tried` gets what was looked at.
void* open_first(const std::vector<std::string>& names, const std::vector<std::string>& folders,
                 base::FileSystem& files, std::string& opened_path, std::string& tried);

}  // namespace hone::device::cuda

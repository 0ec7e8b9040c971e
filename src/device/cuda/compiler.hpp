// NVRTC as hone uses it: opened at run time, asked for its version and targets, run for each program. Needs no driver and no
// GPU, so that CUDA text is compiled and its registers are read on any machine.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "device/cuda/architecture.hpp"
#include "device/cuda/cubin.hpp"
#include "device/cuda/shared_library.hpp"
#include "device/device.hpp"
#include "device/program_cache.hpp"

namespace hone::device::cuda {

// NVRTC's functions, by the names of its reference without the prefix. Tests fill a table of their own.
struct NvrtcApi {
  using Handle = struct NvrtcProgram*;
  int (*Version)(int* major, int* minor) = nullptr;
  const char* (*GetErrorString)(int result) = nullptr;
  int (*GetNumSupportedArchs)(int* count) = nullptr;
  int (*GetSupportedArchs)(int* archs) = nullptr;
  int (*CreateProgram)(Handle*, const char* text, const char* name, int headers, const char* const* header_texts,
                       const char* const* header_names) = nullptr;
  int (*DestroyProgram)(Handle*) = nullptr;
  int (*CompileProgram)(Handle, int count, const char* const* options) = nullptr;
  int (*GetProgramLogSize)(Handle, std::size_t*) = nullptr;
  int (*GetProgramLog)(Handle, char*) = nullptr;
  int (*GetCUBINSize)(Handle, std::size_t*) = nullptr;
  int (*GetCUBIN)(Handle, char*) = nullptr;
  int (*GetPTXSize)(Handle, std::size_t*) = nullptr;
  int (*GetPTX)(Handle, char*) = nullptr;
};

struct CompiledCuda {
  std::string image;  // a cubin, or PTX ending in a zero byte where the target is not native
  bool native = true;
  ProgramInfo info;  // registers, spills and static shared memory: of the kernel that has most
  std::map<std::string, KernelResources> kernels;  // by entry; empty for PTX
  // The text is fit for programmatic dependent launch: on this architecture each file that defines a kernel has the instruction
  // that waits for the preceding launch.
  bool waits_itself = false;
};

struct CompilerOptions {
  std::string nvrtc;            // NVRTC's path; empty: searched for
  std::string cache_directory;  // empty: none is kept
  SearchEnvironment search;

  // HONE_NVRTC; HONE_CACHE_DIR, else XDG_CACHE_HOME/hone, else HOME/.cache/hone.
  static CompilerOptions from_environment();
};

// Whether every file of the source that defines a kernel has the instruction that waits for the preceding launch.
bool waits_for_launch_ahead(const ProgramSource& source);

class CudaCompiler {
 public:
  // Pre-flight error where NVRTC is not found or can not be used, with what was tried and how to get it.
  static base::Result<std::unique_ptr<CudaCompiler>> open(const CompilerOptions& options, base::FileSystem& files);
  CudaCompiler(NvrtcApi api, std::string path, const CompilerOptions& options, base::FileSystem& files);

  // Compiles, or takes from the cache, for one GPU. An error of the text (kind gate) carries the compiler's first messages
  // and the first file(line). Safe from several threads.
  base::Result<CompiledCuda> compile(const ProgramSource& source, const Capability& capability) const;

  const std::string& version() const { return version_; }  // "NVRTC 13.0"
  const std::string& path() const { return path_; }
  const std::vector<int>& supported() const { return supported_; }  // as for compile_target

 private:
  struct Built {
    std::string image, log;
  };
  base::Result<Built> build(const ProgramSource& source, const std::vector<std::string>& options, bool native) const;

  NvrtcApi api_;
  std::string path_, version_;
  std::vector<std::string> headers_;  // folders of the toolkit's, for sources that include them
  std::vector<int> supported_;
  base::FileSystem& files_;
  ProgramCache cache_;
};

}  // namespace hone::device::cuda

// NVRTC for tests, from where tools/fetch_sources.sh puts it: CUDA text is compiled on any machine, without driver and GPU.
// A test that needs it fails where it is missing: the set-up brings it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/files.hpp"
#include "device/cuda/compiler.hpp"

namespace hone::test {

inline std::string nvrtc_path() {
  return std::string(HONE_SOURCE_DIR) + "/.deps/nvidia-cuda-nvrtc/nvidia/cu13/lib/libnvrtc.so.13";
}

// `cache_directory` empty: nothing is kept. Null, with the failure recorded, where NVRTC can not be opened.
inline std::unique_ptr<device::cuda::CudaCompiler> open_cuda_compiler(base::FileSystem& files,
                                                                      const std::string& cache_directory = "") {
  device::cuda::CompilerOptions options;
  options.nvrtc = nvrtc_path();
  options.cache_directory = cache_directory;
  auto compiler = device::cuda::CudaCompiler::open(options, files);
  EXPECT_TRUE(compiler) << base::describe(compiler.error()) << "\ntools/fetch_sources.sh brings it";
  return compiler ? std::move(*compiler) : nullptr;
}

// The GPUs that every kernel must compile for: Ampere, Hopper (sm_90a), Blackwell.
inline const std::vector<device::cuda::Capability>& target_capabilities() {
  static const std::vector<device::cuda::Capability> all = {{8, 0}, {9, 0}, {10, 0}};
  return all;
}

}  // namespace hone::test

// What of CUDA is on this machine, for whoever describes it: each part's version and place, or why it is not there.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "device/cuda/compiler.hpp"

namespace hone::device::cuda {

struct CudaPart {
  std::string found;    // version and place; empty where it is missing
  std::string problem;  // why it is missing
};

struct CudaParts {
  CudaPart driver, nvrtc, nvml, cublas_lt;
  std::vector<std::string> gpus;  // "cuda:0 NVIDIA H200 (hopper, 9.0)"
};

// Opens libraries, no GPU.
CudaParts inspect_parts(const CompilerOptions& options, base::FileSystem& files);

}  // namespace hone::device::cuda

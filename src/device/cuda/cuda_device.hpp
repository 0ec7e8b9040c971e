// An NVIDIA GPU as a device: programs are compiled by NVRTC at run time for exactly this GPU, loaded by the driver and launched on one
// stream. Driver, NVRTC, NVML and cuBLASLt are opened at run time. Only cli chooses it; everybody else sees device.hpp.
//
// A program's entry is extern "C" __global__ void ENTRY(arguments...): the program's number is blockIdx.x, a block has
// Launch.threads threads, and parameters are, in order of the launch's arguments, a pointer, int (32 bit), long long (64 bit)
// or float; or one struct in which each of them has a slot of 8 bytes, the value at its start. At most 2^31 - 1 programs. Functions without a mark are device functions, the language is C++20, and there are
// no include folders: what a program includes is among its texts.
//
// Code that nobody has tried yet goes through `try_run`: a worker process runs it on copies of the buffers, where an illegal
// address, a trap or an endless loop costs that call alone; then this process runs it. `run` and `time` alone can not take
// such an error back: the context is lost, and every later call says so.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "device/cuda/compiler.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/cuda/nvml.hpp"
#include "device/device.hpp"

namespace hone::device::cuda {

struct CudaOptions {
  int ordinal = 0;
  CompilerOptions compiler;
  // Starts a process that calls serve_trials for this GPU; empty: try_run is as run.
  std::vector<std::string> trial_command;
};

// Opens the GPU. Pre-flight errors name what is missing and the remedy. Missing NVRTC is no error here, so that a machine
// without it can be described: `info().compiler` is then empty and `compile` returns the error. The ports must outlive the device.
base::Result<std::unique_ptr<Device>> open_cuda_device(const CudaOptions& options, base::FileSystem& files,
                                                       base::Clock& clock);

// The same over given parts, for tests: `clocks` may be null.
base::Result<std::unique_ptr<Device>> open_cuda_device(const CudaOptions& options, const DriverApi& driver,
                                                       std::unique_ptr<Clocks> clocks, base::FileSystem& files,
                                                       base::Clock& clock);

// How many GPUs the driver sees; 0 without a driver.
int gpu_count();

}  // namespace hone::device::cuda

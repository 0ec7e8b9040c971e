// The part of the CUDA driver interface that hone calls, as a table of function pointers with own declarations of its types:
// no CUDA header at build time, and one binary for machines with and without a GPU. Names, values and layouts follow the
// CUDA driver API reference (12.0 and newer). Tests fill a table of their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"

namespace hone::device::cuda {

using Status = int;  // CUresult
using DeviceHandle = int;
using DevicePointer = std::uint64_t;
using Context = struct ContextTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;

// Statuses that decisions are taken on; every other one is shown by the driver's own name.
inline constexpr Status kSuccess = 0, kOutOfMemory = 2, kNoDevice = 100, kInvalidDevice = 101, kNoBinaryForGpu = 209,
                        kUnsupportedPtxVersion = 222, kNotFound = 500, kNotReady = 600, kIllegalAddress = 700,
                        kLaunchOutOfResources = 701, kLaunchTimeout = 702, kAssert = 710, kTensorMemoryLeak = 721,
                        kSystemDriverMismatch = 803, kInvalidClusterSize = 912;

enum class DeviceAttribute : int {
  clock_rate_khz = 13,
  multiprocessors = 16,
  l2_cache_bytes = 38,
  threads_per_multiprocessor = 39,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  shared_bytes_per_multiprocessor = 81,
  registers_per_multiprocessor = 82,
  shared_bytes_per_block_optin = 97,
};

enum class FunctionAttribute : int {
  max_threads_per_block = 0,
  static_shared_bytes = 1,
  local_bytes = 3,
  registers = 4,
  max_dynamic_shared_bytes = 8,
  non_portable_cluster_size_allowed = 14,
};

inline constexpr unsigned kScheduleSpin = 1;      // of a context: waiting spins, for the least latency
inline constexpr unsigned kHostMemoryMapped = 2;  // of host memory: a device pointer leads to it
inline constexpr int kClusterDimension = 4;       // ids of launch attributes
inline constexpr int kProgrammaticStreamSerialization = 6;

struct LaunchAttribute {
  int id = 0;
  int padding = 0;
  union {
    unsigned cluster[3];
    int flag;
    unsigned char bytes[64];
  } value = {};
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned dynamic_shared_bytes = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(LaunchConfig) == 56);

// HONE_CUDA_DRIVER(X): X(member, exported symbol, parameters), one line for each function.
#define HONE_CUDA_DRIVER(X)                                                                                           \
  X(init, "cuInit", (unsigned flags))                                                                                 \
  X(driver_version, "cuDriverGetVersion", (int* version))                                                             \
  X(error_name, "cuGetErrorName", (Status status, const char** text))                                                 \
  X(error_text, "cuGetErrorString", (Status status, const char** text))                                               \
  X(device_count, "cuDeviceGetCount", (int* count))                                                                   \
  X(device_get, "cuDeviceGet", (DeviceHandle * device, int ordinal))                                                  \
  X(device_name, "cuDeviceGetName", (char* name, int bytes, DeviceHandle device))                                     \
  X(device_bus_id, "cuDeviceGetPCIBusId", (char* text, int bytes, DeviceHandle device))                               \
  X(device_memory, "cuDeviceTotalMem_v2", (std::size_t * bytes, DeviceHandle device))                                 \
  X(device_attribute, "cuDeviceGetAttribute", (int* value, int attribute, DeviceHandle device))                       \
  X(context_flags, "cuDevicePrimaryCtxSetFlags_v2", (DeviceHandle device, unsigned flags))                            \
  X(context_retain, "cuDevicePrimaryCtxRetain", (Context * context, DeviceHandle device))                             \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (DeviceHandle device))                                           \
  X(context_set, "cuCtxSetCurrent", (Context context))                                                                \
  X(memory_info, "cuMemGetInfo_v2", (std::size_t * free_bytes, std::size_t * total_bytes))                            \
  X(memory_allocate, "cuMemAlloc_v2", (DevicePointer * pointer, std::size_t bytes))                                   \
  X(memory_free, "cuMemFree_v2", (DevicePointer pointer))                                                             \
  X(host_allocate, "cuMemHostAlloc", (void** pointer, std::size_t bytes, unsigned flags))                             \
  X(host_free, "cuMemFreeHost", (void* pointer))                                                                      \
  X(host_device_pointer, "cuMemHostGetDevicePointer_v2", (DevicePointer * pointer, void* host, unsigned flags))       \
  X(copy_to_device, "cuMemcpyHtoD_v2", (DevicePointer to, const void* from, std::size_t bytes))                       \
  X(copy_to_host, "cuMemcpyDtoH_v2", (void* to, DevicePointer from, std::size_t bytes))                               \
  X(copy_on_device, "cuMemcpyDtoDAsync_v2", (DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream)) \
  X(fill_bytes, "cuMemsetD8Async", (DevicePointer to, unsigned char value, std::size_t count, Stream stream))         \
  X(stream_create, "cuStreamCreate", (Stream * stream, unsigned flags))                                               \
  X(stream_destroy, "cuStreamDestroy_v2", (Stream stream))                                                            \
  X(stream_synchronize, "cuStreamSynchronize", (Stream stream))                                                       \
  X(event_create, "cuEventCreate", (Event * event, unsigned flags))                                                   \
  X(event_destroy, "cuEventDestroy_v2", (Event event))                                                                \
  X(event_record, "cuEventRecord", (Event event, Stream stream))                                                      \
  X(event_elapsed, "cuEventElapsedTime", (float* milliseconds, Event start, Event end))                               \
  X(module_load, "cuModuleLoadData", (Module * module, const void* image))                                            \
  X(module_unload, "cuModuleUnload", (Module module))                                                                 \
  X(module_function, "cuModuleGetFunction", (Function * function, Module module, const char* name))                   \
  X(function_get, "cuFuncGetAttribute", (int* value, int attribute, Function function))                               \
  X(function_set, "cuFuncSetAttribute", (Function function, int attribute, int value))                                \
  X(launch, "cuLaunchKernelEx", (const LaunchConfig* config, Function function, void** arguments, void** extra))

struct DriverApi {
// A declarator takes no more parentheses than it has. NOLINTNEXTLINE(bugprone-macro-parentheses)
#define HONE_CUDA_MEMBER(member, symbol, parameters) Status(*member) parameters = nullptr;
  HONE_CUDA_DRIVER(HONE_CUDA_MEMBER)
#undef HONE_CUDA_MEMBER
};

// The table of this machine's driver, opened once for the process and never closed. `library`: a path or name; empty:
// libcuda.so.1. A missing driver, or one older than 12.0, is a pre-flight error with the remedy.
base::Result<const DriverApi*> open_driver(const char* library = nullptr);

// What a call of the driver answered, in its own words: "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access ...".
std::string status_words(const DriverApi& driver, Status status);
// After it, every call of this process to that GPU fails: the context is lost.
bool is_sticky(Status status);
// The error of a failed call: what was done ("launch of 'rms_norm_forward'"), the answer, and what to do about it.
base::Error call_error(const DriverApi& driver, Status status, const std::string& expected, const std::string& call,
                       const std::string& where);

}  // namespace hone::device::cuda

// The part of cuBLASLt that hone calls, as a table of function pointers with own declarations of its types: opened at run time,
// no header at build time. Values and layouts as in the cuBLASLt reference (12.0 and newer). Tests fill a table of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/cuda/shared_library.hpp"
#include "device/device.hpp"

namespace hone::device::cuda {

inline constexpr int kLtFp32 = 0, kLtFp16 = 2, kLtBf16 = 14;    // cudaDataType_t
inline constexpr int kLtComputeFp32 = 68, kLtComputeTf32 = 77;  // cublasComputeType_t
inline constexpr int kLtTransposeA = 3, kLtTransposeB = 4;      // attributes of a product's description
inline constexpr std::int32_t kLtTransposed = 1;                // cublasOperation_t
inline constexpr int kLtWorkspaceBytes = 1;                     // attributes of a preference:
inline constexpr int kLtAlignmentA = 5, kLtAlignmentB = 6, kLtAlignmentC = 7, kLtAlignmentD = 8;

struct LtHeuristicResult {
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

struct LtApi {
  int (*create)(void**) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*product_create)(void**, int compute, int scale) = nullptr;
  int (*product_destroy)(void*) = nullptr;
  int (*product_set)(void*, int attribute, const void*, std::size_t) = nullptr;
  int (*layout_create)(void**, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) = nullptr;
  int (*layout_destroy)(void*) = nullptr;
  int (*preference_create)(void**) = nullptr;
  int (*preference_destroy)(void*) = nullptr;
  int (*preference_set)(void*, int attribute, const void*, std::size_t) = nullptr;
  int (*heuristic)(void*, void*, void*, void*, void*, void*, void*, int, LtHeuristicResult*, int*) = nullptr;
  int (*product)(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*,
                 void*, void*, const void*, void*, std::size_t, Stream) = nullptr;
};

// Handles of the library, released in the opposite order.
class LtHandles {
 public:
  LtHandles() = default;
  LtHandles(LtHandles&&) = default;
  LtHandles& operator=(LtHandles&&) = delete;
  ~LtHandles() {
    for (auto each = made_.rbegin(); each != made_.rend(); ++each) each->second(each->first);
  }
  void keep(void* handle, int (*destroy)(void*)) { made_.emplace_back(handle, destroy); }

 private:
  std::vector<std::pair<void*, int (*)(void*)>> made_;
};

int lt_type(DType type);

// Opens the library for the rest of the process. Pre-flight error with the remedy where it is missing or lacks a function.
base::Result<LtApi> open_cublas_lt(base::FileSystem& files, const SearchEnvironment& environment);

// The path of cuBLASLt as it would be opened, or "" with what was tried.
std::string find_cublas_lt(base::FileSystem& files, const SearchEnvironment& environment, std::string& tried);

}  // namespace hone::device::cuda

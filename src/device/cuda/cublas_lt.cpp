// See cublas_lt.hpp.
#include "device/cuda/cublas_lt.hpp"

#include <type_traits>

namespace hone::device::cuda {

namespace {

const std::vector<std::string>& library_names() {
  static const std::vector<std::string> names = {"libcublasLt.so.13", "libcublasLt.so.12"};
  return names;
}

}  // namespace

int lt_type(DType type) {
  switch (type) {
    case DType::fp16: return kLtFp16;
    case DType::bf16: return kLtBf16;
    default: return kLtFp32;
  }
}

base::Result<LtApi> open_cublas_lt(base::FileSystem& files, const SearchEnvironment& environment) {
  std::string path, tried, missing;
  void* library = open_first(library_names(), library_folders(files, environment), files, path, tried);
  LtApi api;
  const auto resolve = [&](auto& function, const char* name) {
    if (library != nullptr) function = reinterpret_cast<std::decay_t<decltype(function)>>(find_symbol(library, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  resolve(api.create, "cublasLtCreate");
  resolve(api.destroy, "cublasLtDestroy");
  resolve(api.product_create, "cublasLtMatmulDescCreate");
  resolve(api.product_destroy, "cublasLtMatmulDescDestroy");
  resolve(api.product_set, "cublasLtMatmulDescSetAttribute");
  resolve(api.layout_create, "cublasLtMatrixLayoutCreate");
  resolve(api.layout_destroy, "cublasLtMatrixLayoutDestroy");
  resolve(api.preference_create, "cublasLtMatmulPreferenceCreate");
  resolve(api.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  resolve(api.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  resolve(api.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  resolve(api.product, "cublasLtMatmul");
  if (missing.empty()) return api;
  return base::Error{base::ErrorKind::preflight, "cuBLASLt for matrix products on the GPU",
                     library == nullptr ? "no " + tried : path + " without " + missing, "cuda",
                     "pip install nvidia-cublas, or install the CUDA toolkit"};
}

std::string find_cublas_lt(base::FileSystem& files, const SearchEnvironment& environment, std::string& tried) {
  std::string path;
  void* library = open_first(library_names(), library_folders(files, environment), files, path, tried);
  if (library == nullptr) return "";
  void* symbol = find_symbol(library, "cublasLtCreate");
  const std::string file = symbol == nullptr ? "" : file_of_symbol(symbol);
  return file.empty() ? path : file;
}

}  // namespace hone::device::cuda

#include "counters/libraries.hpp"

#include <array>
#include <string_view>

namespace hone::counters {

namespace {

enum class Where { namespace_part, base_is, base_begins };

struct Pattern {
  Where where;
  std::string_view text;
  const char* owner;
};

// Base names stand for captures with --kernel-name-base function, which print no namespaces.
constexpr std::array kPatterns{
    Pattern{Where::namespace_part, "at::", "PyTorch"},
    Pattern{Where::namespace_part, "c10::", "PyTorch"},
    Pattern{Where::base_is, "vectorized_elementwise_kernel", "PyTorch"},
    Pattern{Where::base_is, "unrolled_elementwise_kernel", "PyTorch"},
    Pattern{Where::base_is, "elementwise_kernel", "PyTorch"},
    Pattern{Where::base_is, "elementwise_kernel_with_index", "PyTorch"},
    Pattern{Where::base_is, "reduce_kernel", "PyTorch"},
    Pattern{Where::base_is, "distribution_elementwise_grid_stride_kernel", "PyTorch"},
    Pattern{Where::base_is, "multi_tensor_apply_kernel", "PyTorch"},
    Pattern{Where::base_is, "index_elementwise_kernel", "PyTorch"},
    Pattern{Where::base_begins, "CatArrayBatchedCopy", "PyTorch"},
    Pattern{Where::base_begins, "cunn_SoftMax", "PyTorch"},
    Pattern{Where::base_begins, "softmax_warp_", "PyTorch"},
    Pattern{Where::base_begins, "vectorized_layer_norm_kernel", "PyTorch"},
    Pattern{Where::base_begins, "triton_poi_", "TorchInductor"},
    Pattern{Where::base_begins, "triton_red_", "TorchInductor"},
    Pattern{Where::base_begins, "triton_per_", "TorchInductor"},
    Pattern{Where::base_begins, "nvjet_", "cuBLAS"},
    Pattern{Where::base_begins, "volta_", "cuBLAS"},
    Pattern{Where::base_begins, "turing_", "cuBLAS"},
    Pattern{Where::base_begins, "ampere_", "cuBLAS"},
    Pattern{Where::base_begins, "sm75_xmma_", "cuBLAS"},
    Pattern{Where::base_begins, "sm80_xmma_", "cuBLAS"},
    Pattern{Where::base_begins, "sm86_xmma_", "cuBLAS"},
    Pattern{Where::base_begins, "sm90_xmma_", "cuBLAS"},
    Pattern{Where::base_begins, "sm100_xmma_", "cuBLAS"},
    Pattern{Where::base_begins, "gemv2", "cuBLAS"},
    Pattern{Where::namespace_part, "cublasLt::", "cuBLAS"},
    Pattern{Where::base_begins, "splitKreduce_kernel", "cuBLAS"},
    Pattern{Where::namespace_part, "cutlass::", "CUTLASS"},
    Pattern{Where::base_begins, "cutlass_", "CUTLASS"},
    Pattern{Where::base_begins, "cutlass3x_", "CUTLASS"},
    Pattern{Where::namespace_part, "cudnn::", "cuDNN"},
    Pattern{Where::base_begins, "cudnn_", "cuDNN"},
    Pattern{Where::namespace_part, "cub::", "CUB"},
    Pattern{Where::namespace_part, "thrust::", "Thrust"},
    Pattern{Where::base_begins, "ncclDevKernel", "NCCL"},
    Pattern{Where::base_begins, "ncclKernel", "NCCL"},
};

// The function's qualified name: what stands before its template arguments and parameters, after its return type.
std::string_view qualified_name(std::string_view name) {
  std::size_t begin = 0, end = name.size();
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool unnamed = name.substr(i, 9) == "<unnamed>";  // a namespace, not template arguments
    if (unnamed) {
      i += 8;
      continue;
    }
    if (name.substr(i, 21) == "(anonymous namespace)") {
      i += 20;
      continue;
    }
    if (c == '<' || c == '(') {
      end = i;
      break;
    }
    if (c == ' ') begin = i + 1;
  }
  return name.substr(begin, end - begin);
}

}  // namespace

std::string base_name(const std::string& kernel_name) {
  const std::string_view name = qualified_name(kernel_name);
  const std::size_t colons = name.rfind("::");
  return std::string(colons == std::string_view::npos ? name : name.substr(colons + 2));
}

std::string library_of(const std::string& kernel_name) {
  const std::string_view qualified = qualified_name(kernel_name);
  const std::string base = base_name(kernel_name);
  for (const Pattern& pattern : kPatterns) {
    const bool matches = pattern.where == Where::base_is       ? base == pattern.text
                         : pattern.where == Where::base_begins ? base.rfind(pattern.text, 0) == 0
                                                               : qualified.rfind(pattern.text, 0) == 0;
    if (matches) return pattern.owner;
  }
  return "";
}

}  // namespace hone::counters

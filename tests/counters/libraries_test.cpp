// Kernels of frameworks and libraries are told from the user's own by their names.
#include "counters/libraries.hpp"

#include <gtest/gtest.h>

namespace hone::counters {
namespace {

TEST(Libraries, NamesOfKnownLibrariesAreRecognized) {
  EXPECT_EQ(
      library_of("void at::<unnamed>::distribution_elementwise_grid_stride_kernel<float, 4, void f<x>(T1)>(long)"),
      "PyTorch");
  EXPECT_EQ(library_of("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)"), "PyTorch");
  EXPECT_EQ(library_of("vectorized_elementwise_kernel"), "PyTorch");
  EXPECT_EQ(library_of("void cutlass::Kernel2<cutlass_80_tensorop_bf16>(T1::Params)"), "CUTLASS");
  EXPECT_EQ(library_of("cutlass3x_sm90_tensorop_s64x128x16gemm_f16_128x128x64_tnn_align8"), "CUTLASS");
  EXPECT_EQ(library_of("cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_nn_align8"), "CUTLASS");
  EXPECT_EQ(library_of("volta_sgemm_128x64_tn"), "cuBLAS");
  EXPECT_EQ(library_of("nvjet_tst_128x256_64x4_1x2_h_bz_coopB_TNT"), "cuBLAS");
  EXPECT_EQ(library_of("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)"), "NCCL");
  EXPECT_EQ(library_of("triton_poi_fused_add_0"), "TorchInductor");
}

TEST(Libraries, TheUsersOwnKernelsAreNotMistakenForThem) {
  EXPECT_EQ(library_of("_rms_norm_forward_kernel"), "");
  EXPECT_EQ(library_of("my_reduce_kernel"), "");
  EXPECT_EQ(library_of("like_cutlass_kernel"), "");
  EXPECT_EQ(library_of("void mine::reduce<at::Tensor>(at::Tensor)"), "")
      << "a library's type as an argument is not its kernel";
  EXPECT_EQ(library_of("chat::answer(int)"), "");
  EXPECT_EQ(library_of(""), "");
}

TEST(Libraries, TheBaseNameDropsReturnTypeNamespacesAndArguments) {
  EXPECT_EQ(base_name("void a::<unnamed>::b<int, c::d>(e::f)"), "b");
  EXPECT_EQ(base_name("plain"), "plain");
  EXPECT_EQ(base_name("void n::f(int)"), "f");
}

}  // namespace
}  // namespace hone::counters

// Reading binaries that NVRTC has just built, and every way of spoiling one.
#include "device/cuda/cubin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/support/cuda_compiler.hpp"

namespace hone::device::cuda {
namespace {

using ::testing::HasSubstr;

constexpr char two_kernels[] = R"(
extern "C" __global__ void small(float* to, const float* from) { to[threadIdx.x] = 2 * from[threadIdx.x] * SCALE; }
extern "C" __global__ void __launch_bounds__(1024, 2) spilling(float* a, int n) {
  float v[64];
  for (int i = 0; i < 64; ++i) v[i] = a[i * 1024 + threadIdx.x];
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 64; ++i) v[i] = v[i] * v[(i + 7) % 64] + 1;
  }
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += v[i];
  a[threadIdx.x] = sum;
}
extern "C" __global__ void shared(float* a) {
  __shared__ float kept[256];
  kept[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = kept[255 - threadIdx.x];
}
)";

ProgramSource scaled_program(const std::string& text, const std::string& scale = "1",
                             const std::string& path = "kernels/a.cu") {
  return {"test program", {{path, text}}, path, {{"SCALE", scale}}};
}

class CubinTest : public ::testing::Test {
 protected:
  CompiledCuda compile(const ProgramSource& source, Capability capability = {9, 0}) {
    if (!compiler_) compiler_ = test::open_cuda_compiler(files_);
    if (!compiler_) return {};
    auto compiled = compiler_->compile(source, capability);
    EXPECT_TRUE(compiled) << base::describe(compiled.error());
    return compiled ? std::move(*compiled) : CompiledCuda{};
  }
  base::SystemFiles files_;
  std::unique_ptr<CudaCompiler> compiler_;
};

TEST_F(CubinTest, TellsKernelsRegistersSpillsAndSharedMemory) {
  for (const Capability& capability : test::target_capabilities()) {
    const CompiledCuda compiled = compile(scaled_program(two_kernels), capability);
    ASSERT_EQ(compiled.kernels.size(), 3U) << capability.text();
    EXPECT_EQ(compiled.kernels.at("spilling").registers, 32) << capability.text();
    EXPECT_GT(compiled.kernels.at("spilling").spill_bytes(), 0);
    EXPECT_GE(compiled.kernels.at("spilling").stack_bytes, 1);
    EXPECT_EQ(compiled.kernels.at("small").spill_bytes(), 0);
    EXPECT_LT(compiled.kernels.at("small").registers, 32);
    EXPECT_GE(compiled.kernels.at("small").registers, 4);
    EXPECT_EQ(compiled.kernels.at("shared").static_shared_bytes, 1024);
    EXPECT_EQ(compiled.info.registers_per_thread, 32);
    EXPECT_EQ(compiled.info.spill_bytes, compiled.kernels.at("spilling").spill_bytes());
    EXPECT_EQ(compiled.info.static_shared_bytes, 1024);
    EXPECT_GT(compiled.info.code_bytes, 0);
  }
}

TEST_F(CubinTest, TheBinarysOwnRegistersAgreeWithTheAssemblersReport) {
  const CompiledCuda compiled = compile(scaled_program(two_kernels));
  const auto facts = read_cubin(compiled.image, "test");
  ASSERT_TRUE(facts) << base::describe(facts.error());
  for (const auto& [name, kernel] : compiled.kernels) EXPECT_EQ(facts->registers.at(name), kernel.registers) << name;
}

TEST_F(CubinTest, TheHashIsOfTheInstructionsAlone) {
  const std::string hash = compile(scaled_program(two_kernels)).info.machine_code_hash;
  EXPECT_EQ(hash.size(), 32U);
  EXPECT_EQ(compile(scaled_program(two_kernels, "1.0f")).info.machine_code_hash, hash)
      << "another way to write the same program";
  EXPECT_EQ(compile(scaled_program(std::string("// a comment\n") + two_kernels, "1", "kernels/longer_name.cu"))
                .info.machine_code_hash,
            hash);
  EXPECT_NE(compile(scaled_program(two_kernels, "3")).info.machine_code_hash, hash);
}

TEST_F(CubinTest, WhatIsNoCudaBinaryIsAnErrorThatNamesIt) {
  EXPECT_THAT(read_cubin("", "a.cubin").error().found, HasSubstr("0 bytes"));
  std::string other = compile(scaled_program(two_kernels)).image;
  other[18] = 62;  // the machine of the header: x86-64
  const auto facts = read_cubin(other, "a.cubin");
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().where, "a.cubin");
  EXPECT_THAT(facts.error().found, HasSubstr("another machine"));
  EXPECT_FALSE(facts.error().remedy.empty());
}

TEST_F(CubinTest, SpoiledBytesAreReadOrRefused) {
  const std::string image = compile(scaled_program(two_kernels)).image;
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string spoiled = image.substr(0, i % 3 == 0 ? random() % image.size() : image.size());
    for (int k = 0; k < 8 && !spoiled.empty(); ++k) spoiled[random() % spoiled.size()] = static_cast<char>(random());
    if (auto facts = read_cubin(spoiled, "spoiled")) {
      EXPECT_EQ(facts->machine_code_hash.size(), 32U);
    }
  }
}

TEST(AssemblerLog, OfSeveralKernelsAndACalledFunctionIsReadByKernel) {
  const auto kernels = read_assembler_log(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     64 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Function properties for first\n"
      "ptxas         .     280 bytes stack frame, 548 bytes spill stores, 576 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 0 barriers, 280 bytes cumulative stack size\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
      "ptxas info    : Function properties for second\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 11 registers, used 1 barriers, 128 bytes smem\n");
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels.at("first").registers, 32);
  EXPECT_EQ(kernels.at("first").spill_bytes(), 576);
  EXPECT_EQ(kernels.at("first").stack_bytes, 280);
  EXPECT_EQ(kernels.at("second").spill_bytes(), 0);
  EXPECT_EQ(kernels.at("second").static_shared_bytes, 128);
}

TEST(AssemblerLog, ThatSaysNothingGivesNothing) {
  EXPECT_TRUE(read_assembler_log("").empty());
  EXPECT_TRUE(read_assembler_log("registers bytes spill stores\nUsed registers\n").empty());
}

}  // namespace
}  // namespace hone::device::cuda

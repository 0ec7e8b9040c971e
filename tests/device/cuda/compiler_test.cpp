// The compile service: errors of the text and of the machine, the cache, and targets it does not know.
#include "device/cuda/compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/ceiling_programs.hpp"
#include "device/cuda/stopwatch.hpp"
#include "tests/support/cuda_compiler.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::device::cuda {
namespace {

using ::testing::HasSubstr;

ProgramSource program(const std::string& text) {
  return {"test program",
          {{"kernels/a/main.hpp", text},
           {"kernels/b.hpp", "#pragma once\ninline float twice(float x) { return 2 * x; }\n"}},
          "kernels/a/main.hpp",
          {}};
}

constexpr char good_text[] =
    "#pragma once\n#include \"kernels/b.hpp\"\nextern \"C\" __global__ void run(float* a) { a[threadIdx.x] = "
    "twice(a[threadIdx.x]); }\n";

class CudaCompilerTest : public ::testing::Test {
 protected:
  base::SystemFiles files_;
  test::TemporaryFolder folder_;
};

TEST_F(CudaCompilerTest, CompilesTextsByTheirPathsForEachTarget) {
  const auto compiler = test::open_cuda_compiler(files_);
  ASSERT_TRUE(compiler);
  EXPECT_THAT(compiler->version(), HasSubstr("NVRTC 13.0"));
  for (const Capability& capability : test::target_capabilities()) {
    const auto compiled = compiler->compile(program(good_text), capability);
    ASSERT_TRUE(compiled) << capability.text() << base::describe(compiled.error());
    EXPECT_TRUE(compiled->native);
    EXPECT_THAT(compiled->info.flags, HasSubstr(compile_target(capability, compiler->supported()).option));
    EXPECT_TRUE(compiled->kernels.count("run"));
  }
}

TEST_F(CudaCompilerTest, ErrorsOfTheTextNameTheirPlaceAndMessage) {
  const auto compiler = test::open_cuda_compiler(files_);
  ASSERT_TRUE(compiler);
  const auto compiled = compiler->compile(
      program("#pragma once\nextern \"C\" __global__ void run(float* a) { a[0] = missing_name; }\n"), {9, 0});
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().kind, base::ErrorKind::gate);
  EXPECT_EQ(compiled.error().where, "kernels/a/main.hpp(2)");
  EXPECT_THAT(compiled.error().found, HasSubstr("missing_name"));
  EXPECT_THAT(compiled.error().expected, HasSubstr("test program"));
}

TEST_F(CudaCompilerTest, AMissingHeaderIsNamed) {
  const auto compiler = test::open_cuda_compiler(files_);
  ASSERT_TRUE(compiler);
  const auto compiled = compiler->compile(program("#include <cuda_fp16.h>\n"), {9, 0});
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.error().found, HasSubstr("cuda_fp16.h"));
}

TEST_F(CudaCompilerTest, TheAssemblersRefusalIsAnErrorOfTheText) {
  const auto compiler = test::open_cuda_compiler(files_);
  ASSERT_TRUE(compiler);
  const auto compiled = compiler->compile(
      program("extern \"C\" __global__ void run(float* a) { asm volatile(\"nonsense.f32 %0;\" : : \"f\"(a[0])); }\n"),
      {9, 0});
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().kind, base::ErrorKind::gate);
  EXPECT_FALSE(compiled.error().found.empty());
}

TEST_F(CudaCompilerTest, TheSecondTimeComesFromTheCacheWithAllThatWasKnown) {
  for (int round = 0; round < 2; ++round) {
    const auto compiler = test::open_cuda_compiler(files_, folder_ / "cache");
    ASSERT_TRUE(compiler);
    auto compiled = compiler->compile(program(good_text), {9, 0});
    ASSERT_TRUE(compiled) << base::describe(compiled.error());
    EXPECT_EQ(compiled->info.from_cache, round == 1);
    EXPECT_EQ(compiled->info.spill_bytes, 0);
    EXPECT_GT(compiled->kernels.at("run").registers, 0);
    const auto other = compiler->compile(program(good_text), {8, 0});
    ASSERT_TRUE(other);
    EXPECT_NE(other->info.machine_code_hash, compiled->info.machine_code_hash);
  }
}

TEST_F(CudaCompilerTest, ABrokenCacheEntryIsCompiledAgain) {
  const std::string cache = folder_ / "cache";
  { ASSERT_TRUE(test::open_cuda_compiler(files_, cache)->compile(program(good_text), {9, 0})); }
  const auto names = files_.list(cache + "/cuda");
  ASSERT_TRUE(names && names->size() == 1);
  const std::string path = cache + "/cuda/" + names->front();
  const std::string good = *files_.read(path);
  for (const std::string& broken :
       {good.substr(0, good.size() / 2), std::string(good.size(), 'x'),
        seal("hone-cuda/1 1 run 3 0 0\nshort of numbers"), seal("hone-cuda/1 0\nno binary")}) {
    ASSERT_TRUE(files_.write_atomically(path, broken));
    const auto compiled = test::open_cuda_compiler(files_, cache)->compile(program(good_text), {9, 0});
    ASSERT_TRUE(compiled) << base::describe(compiled.error());
    EXPECT_FALSE(compiled->info.from_cache);
    EXPECT_EQ(compiled->kernels.size(), 1U);
    EXPECT_EQ(*files_.read(path), good);
  }
}

TEST_F(CudaCompilerTest, AGpuNewerThanTheCompilerGetsPtx) {
  const auto compiler = test::open_cuda_compiler(files_);
  ASSERT_TRUE(compiler);
  const auto compiled = compiler->compile(program(good_text), {13, 0});
  ASSERT_TRUE(compiled) << base::describe(compiled.error());
  EXPECT_FALSE(compiled->native);
  EXPECT_THAT(compiled->image, HasSubstr(".target sm_121"));
  EXPECT_EQ(compiled->info.registers_per_thread, -1);
  EXPECT_EQ(compiled->image.back(), '\0');
}

TEST_F(CudaCompilerTest, AGpuOlderThanTheCompilerIsAnErrorWithTheRemedy) {
  const auto compiler = test::open_cuda_compiler(files_);
  ASSERT_TRUE(compiler);
  const auto compiled = compiler->compile(program(good_text), {7, 0});
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.error().expected, HasSubstr("7.0"));
  EXPECT_THAT(compiled.error().remedy, HasSubstr("nvidia-cuda-nvrtc-cu12"));
}

TEST_F(CudaCompilerTest, WithoutNvrtcTheErrorSaysHowToGetIt) {
  CompilerOptions options;
  options.nvrtc = folder_ / "libnvrtc.so";
  const auto opened = CudaCompiler::open(options, files_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, base::ErrorKind::preflight);
  EXPECT_EQ(opened.error().where, options.nvrtc);
  EXPECT_THAT(opened.error().remedy, HasSubstr("pip install nvidia-cuda-nvrtc"));
  EXPECT_THAT(opened.error().remedy, HasSubstr("HONE_NVRTC"));
}

TEST_F(CudaCompilerTest, ALibraryThatIsNotNvrtcIsRefused) {
  CompilerOptions options;
  options.nvrtc = "libm.so.6";
  const auto opened = CudaCompiler::open(options, files_);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().found, HasSubstr("without nvrtc"));
}

TEST_F(CudaCompilerTest, TheDevicesOwnProgramsCompileForEveryTargetWithoutSpills) {
  const auto compiler = test::open_cuda_compiler(files_);
  ASSERT_TRUE(compiler);
  for (const Capability& capability : {Capability{7, 5}, Capability{8, 0}, Capability{8, 9}, Capability{9, 0},
                                       Capability{10, 0}, Capability{10, 3}, Capability{12, 0}}) {
    for (const ProgramSource& source :
         {gate_source(),
          ProgramSource{"ceiling programs", {{"ceilings.cu", ceiling_program_text}}, "ceilings.cu", {}}}) {
      const auto compiled = compiler->compile(source, capability);
      ASSERT_TRUE(compiled) << capability.text() << "\n" << base::describe(compiled.error());
      EXPECT_EQ(compiled->info.spill_bytes, 0) << source.name << " " << capability.text();
    }
  }
}

TEST(LaunchAhead, IsWaitedForWhereEveryFileWithAKernelHasTheInstruction) {
  const std::string waits = "__global__ void f() { asm volatile(\"griddepcontrol.wait;\"); }",
                    does_not = "__global__ void g() {}";
  EXPECT_TRUE(waits_for_launch_ahead({"one", {{"a.cu", waits}, {"b.hpp", "int x;"}}, "a.cu", {}}));
  EXPECT_FALSE(waits_for_launch_ahead({"another beside it", {{"a.cu", waits}, {"b.hpp", does_not}}, "a.cu", {}}));
  EXPECT_FALSE(waits_for_launch_ahead({"none", {{"a.cu", does_not}}, "a.cu", {}}));
  EXPECT_FALSE(waits_for_launch_ahead({"no kernel", {{"b.hpp", "int x;"}}, "b.hpp", {}}));
}

TEST(LibraryFolders, AreThoseOfPythonsPackagesTheToolkitAndTheCheckout) {
  base::MemoryFiles files;
  const auto add = [&files](const std::string& path) { ASSERT_TRUE(files.write_atomically(path + "/library.so", "")); };
  add("/venv/lib/python3.12/site-packages/nvidia/cu13/lib");
  add("/opt/python/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib");
  ASSERT_TRUE(files.write_atomically("/opt/python/bin/python3", ""));
  add("/usr/local/cuda-13.0/lib64");
  add("/toolkit/lib64");
  add("/checkout/build/../.deps/nvidia-cuda-nvrtc/nvidia/cu13/lib");
  SearchEnvironment environment;
  environment.virtual_env = "/venv";
  environment.path = "/bin:/opt/python/bin";
  environment.cuda_home = "/toolkit";
  environment.program_folder = "/checkout/build";
  EXPECT_THAT(library_folders(files, environment),
              ::testing::ElementsAre("/venv/lib/python3.12/site-packages/nvidia/cu13/lib",
                                     "/opt/python/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib", "/toolkit/lib64",
                                     "/usr/local/cuda-13.0/lib64",
                                     "/checkout/build/../.deps/nvidia-cuda-nvrtc/nvidia/cu13/lib"));
}

}  // namespace
}  // namespace hone::device::cuda

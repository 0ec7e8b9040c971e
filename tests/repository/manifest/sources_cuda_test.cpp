// A manifest's CUDA kernel, compiled by NVRTC without a GPU: the example with the settings of its manifest.
#include <gmock/gmock.h>

#include "repository/launch/bound_plan.hpp"
#include "repository/manifest/read_manifest.hpp"
#include "repository/manifest/sources.hpp"
#include "tests/support/cuda_compiler.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::repository::manifest {
namespace {

using ::testing::HasSubstr;

TEST(TheCudaExample, PlansItsLaunches) {
  base::SystemFiles files;
  auto manifest = load_manifest(files, std::string(HONE_SOURCE_DIR) + "/examples/manifest");
  ASSERT_TRUE(manifest) << base::describe(manifest.error());
  auto problem = problem_at(*manifest, 4096, manifest->dtypes.at(1));
  ASSERT_TRUE(problem);
  const PassDecl& pass = manifest->passes.at(0);
  auto plan = plan_of(*manifest, *problem, pass, {{"THREADS", 512}, {"KEEP", 1}, {"VECTOR", 4}});
  ASSERT_TRUE(plan) << base::describe(plan.error());
  const kernels::Launch& launch = plan->launches.at(0);
  EXPECT_EQ(launch.programs, 16384);
  EXPECT_EQ(launch.programs_y, 1);
  EXPECT_EQ(launch.threads, 512);
  EXPECT_EQ(launch.threads_y, 1);
  EXPECT_EQ(launch.dynamic_shared_bytes, 16384);
  EXPECT_FALSE(plan->begins_early) << "a user's program does not wait for the launch ahead of it";
  EXPECT_FALSE(plan_of(*manifest, *problem_at(*manifest, 16384, manifest->dtypes.at(0)), pass,
                       {{"THREADS", 512}, {"KEEP", 1}, {"VECTOR", 1}}));
  // 30 combinations at 4096; at 1001 columns a vector is one element.
  EXPECT_EQ(valid_settings(*manifest, *problem, pass).size(), 30u);
  EXPECT_EQ(valid_settings(*manifest, *problem_at(*manifest, 1001, manifest->dtypes.at(0)), pass).size(), 10u);
}

TEST(TheCudaExample, CompilesWithTheSettingsOfItsManifest) {
  base::SystemFiles files;
  auto manifest = load_manifest(files, std::string(HONE_SOURCE_DIR) + "/examples/manifest");
  ASSERT_TRUE(manifest);
  auto compiler = test::open_cuda_compiler(files);
  ASSERT_TRUE(compiler);
  const ProblemSizes problem = *problem_at(*manifest, 4096, manifest->dtypes.at(0));
  Sources sources(files, *manifest);
  for (const model::Settings& settings :
       {current_settings(*manifest, "forward"), model::Settings{{"THREADS", 512}, {"KEEP", 1}, {"VECTOR", 4}}}) {
    auto source = program_source(sources, *manifest, manifest->passes.at(0),
                                 *plan_of(*manifest, problem, manifest->passes.at(0), settings), {});
    ASSERT_TRUE(source) << base::describe(source.error());
    const auto compiled = compiler->compile(*source, {9, 0});
    ASSERT_TRUE(compiled) << base::describe(compiled.error());
    EXPECT_EQ(compiled->kernels.at("row_softmax").spill_bytes(), 0);
  }
}

// A grid of two extents, a header in a folder of its own, a type that is a macro.
class ACudaManifest : public ::testing::Test {
 protected:
  void SetUp() override {
    write("hone.toml", R"toml(name = "transpose"
language = "cuda"
tier = 1
source = "kernels/transpose.cu"
x_name = "n"
sizes = [64]
dtypes = { fp32 = { SCALAR = "float" } }
[tensor.x]
role = "input"
shape = ["n", "n"]
[tensor.y]
role = "output"
shape = ["n", "n"]
[tensor.partial]
role = "scratch"
shape = ["TILE", "n"]
type = "fp32"
[knob.TILE]
values = [16, 32]
value = 16
[pass.forward.launch]
entry = "transpose"
grid = ["ceil_div(n, TILE)", "ceil_div(n, TILE)"]
block = ["TILE", "TILE"]
arguments = ["x", "y", "partial", "int32 n"]
)toml");
    write("kernels/transpose.cu", R"cuda(#include "parts/tile.cuh"
extern "C" __global__ void transpose(const SCALAR* x, SCALAR* y, float* partial, int n) {
  __shared__ SCALAR tile[TILE][TILE + 1];
  const int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
  if (row < n && column < n) tile[threadIdx.y][threadIdx.x] = x[place(row, column, n)];
  __syncthreads();
  const int to_row = blockIdx.x * TILE + threadIdx.y, to_column = blockIdx.y * TILE + threadIdx.x;
  if (to_row < n && to_column < n) y[place(to_row, to_column, n)] = tile[threadIdx.x][threadIdx.y];
}
)cuda");
    write("kernels/parts/tile.cuh",
          "#pragma once\n__device__ inline int place(int row, int column, int n) { return row * n + column; }\n");
    auto read = load_manifest(files_, folder_.path());
    ASSERT_TRUE(read) << base::describe(read.error());
    manifest_ = std::move(*read);
    compiler_ = test::open_cuda_compiler(files_);
    ASSERT_TRUE(compiler_);
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(files_.write_atomically(folder_ / name, text));
  }
  kernels::Plan plan(std::int64_t tile) {
    auto problem = problem_at(manifest_, 64, manifest_.dtypes.at(0));
    auto plan = plan_of(manifest_, *problem, manifest_.passes.at(0), {{"TILE", tile}});
    EXPECT_TRUE(plan) << base::describe(plan.error());
    return *plan;
  }
  base::Result<device::cuda::CompiledCuda> compile(const kernels::Plan& plan,
                                                   const std::vector<model::SourceEdit>& edits = {}) {
    Sources sources(files_, manifest_);
    auto source = program_source(sources, manifest_, manifest_.passes.at(0), plan, edits);
    if (!source) return source.error();
    return compiler_->compile(*source, {9, 0});
  }

  test::TemporaryFolder folder_;
  base::SystemFiles files_;
  Manifest manifest_;
  std::unique_ptr<device::cuda::CudaCompiler> compiler_;
};

TEST_F(ACudaManifest, IsCompiledWithItsKnobsAndHeaders) {
  const kernels::Plan small = plan(16), large = plan(32);
  EXPECT_EQ(small.launches.at(0).programs, 4);
  EXPECT_EQ(small.launches.at(0).programs_y, 4);
  EXPECT_EQ(large.launches.at(0).threads, 32);
  EXPECT_EQ(large.launches.at(0).threads_y, 32);
  EXPECT_EQ(small.scratch.at(0).bytes(), 16 * 64 * 4);
  EXPECT_NE(launch::launch_hash(small), launch::launch_hash(large));
  const auto one = compile(small), other = compile(large);
  ASSERT_TRUE(one) << base::describe(one.error());
  ASSERT_TRUE(other) << base::describe(other.error());
  EXPECT_EQ(one->kernels.count("transpose"), 1u);
  EXPECT_NE(one->info.machine_code_hash, other->info.machine_code_hash);
}

TEST_F(ACudaManifest, NamesTheLineOfItsOwnSourceThatDoesNotCompile) {
  const auto compiled =
      compile(plan(16), {{"kernels/transpose.cu", "\n\nextern \"C\" __global__ void transpose( {}\n"}});
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.error().where + compiled.error().found, HasSubstr("kernels/transpose.cu"));
  EXPECT_EQ(compiled.error().kind, base::ErrorKind::gate);
}

}  // namespace
}  // namespace hone::repository::manifest

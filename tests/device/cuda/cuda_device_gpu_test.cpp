// The device on a real GPU: results, faults that cost one variant, memory, timing. Skipped, with the reason, where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "device/cuda/cuda_device.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::device::cuda {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t second_ns = 1'000'000'000;

constexpr char gpu_text[] = R"(
extern "C" __global__ void scale(float* to, const float* from, long long n, int add, float factor) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at < n) to[at] = from[at] * factor + add;
}
extern "C" __global__ void reverse_in_shared(float* data, int n) {
  extern __shared__ float kept[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) kept[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = kept[n - 1 - i];
}
extern "C" __global__ void cluster_size(int* to) {
  unsigned size = 1;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %cluster_nctaid.x;" : "=r"(size));
#endif
  if (threadIdx.x == 0) to[blockIdx.x] = (int)size;
}
extern "C" __global__ void write_far_away(float* to) { to[(long long)1 << 40] = 1; }
extern "C" __global__ void trap() { asm volatile("trap;"); }
extern "C" __global__ void never_ends(volatile int* flag) { while (flag[0] != 12345) {} }
)";

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpu_count() == 0) GTEST_SKIP() << "no NVIDIA GPU with a driver on this machine";
    CudaOptions options;
    options.compiler = CompilerOptions::from_environment();
    options.compiler.cache_directory = folder_ / "cache";
    options.trial_command = {std::string(HONE_BINARY_DIR) + "/hone", "gpu-trials", "0"};
    auto opened = open_cuda_device(options, files_, clock_);
    ASSERT_TRUE(opened) << base::describe(opened.error());
    device_ = std::move(*opened);
    if (device_->info().compiler.empty()) GTEST_SKIP() << "no NVRTC on this machine";
    auto program = device_->compile({"gpu tests", {{"gpu.cu", gpu_text}}, "gpu.cu", {}});
    ASSERT_TRUE(program) << base::describe(program.error());
    program_ = *program;
  }
  template <class T>
  std::unique_ptr<Buffer> buffer_of(const std::vector<T>& values) {
    auto buffer = device_->allocate(values.size() * sizeof(T));
    EXPECT_TRUE(buffer && device_->upload({buffer->get(), 0}, values.data(), values.size() * sizeof(T)));
    return std::move(*buffer);
  }
  template <class T>
  std::vector<T> values_of(Buffer& buffer) {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    const auto got = device_->download(values.data(), {&buffer, 0}, buffer.bytes());
    EXPECT_TRUE(got) << base::describe(got.error());
    return values;
  }
  Launch launch(const std::string& entry, std::int64_t programs, int threads, std::vector<Argument> arguments) {
    Launch one;
    one.program = program_.get();
    one.entry = entry;
    one.programs = programs;
    one.threads = threads;
    one.arguments = std::move(arguments);
    return one;
  }
  // The device computes what it should: the context lives.
  void expect_alive() {
    auto from = buffer_of<float>({1, 2, 3}), to = buffer_of<float>({0, 0, 0});
    const auto ran = device_->try_run(
        {launch("scale", 1, 32,
                {BufferView{to.get(), 0}, BufferView{from.get(), 0}, std::int64_t{3}, std::int32_t{1}, 2.0F})},
        10 * second_ns);
    ASSERT_TRUE(ran) << base::describe(ran.error());
    EXPECT_EQ(values_of<float>(*to), (std::vector<float>{3, 5, 7}));
  }

  test::TemporaryFolder folder_;
  base::SystemFiles files_;
  base::SystemClock clock_;
  std::unique_ptr<Device> device_;
  std::shared_ptr<Program> program_;
};

TEST_F(GpuTest, ComputesOverManyProgramsWithEveryKindOfArgument) {
  std::vector<float> values(1'000'003);
  std::iota(values.begin(), values.end(), 0.0F);
  auto from = buffer_of(values), to = buffer_of(std::vector<float>(values.size(), -1));
  const auto size = static_cast<std::int64_t>(values.size());
  ASSERT_TRUE(
      device_->run({launch("scale", (size + 255) / 256, 256,
                           {BufferView{to.get(), 0}, BufferView{from.get(), 0}, size, std::int32_t{-3}, 0.5F})}));
  const auto got = values_of<float>(*to);
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], values[i] * 0.5F - 3) << i;
}

TEST_F(GpuTest, GivesABlockMoreSharedMemoryThan48KiB) {
  std::vector<float> values(25'000);
  std::iota(values.begin(), values.end(), 0.0F);
  auto data = buffer_of(values);
  Launch one = launch("reverse_in_shared", 1, 256, {BufferView{data.get(), 0}, std::int32_t{25'000}});
  one.dynamic_shared_bytes = 100'000;
  if (device_->info().shared_memory_per_block_bytes < 100'000)
    GTEST_SKIP() << "a block of this GPU has no 100000 bytes";
  ASSERT_TRUE(device_->run({one}));
  EXPECT_EQ(values_of<float>(*data).front(), 24'999);
}

TEST_F(GpuTest, LaunchesClustersWhereTheGpuHasThem) {
  if (device_->info().compute_capability.size() < 3 || std::stoi(device_->info().compute_capability) < 9)
    GTEST_SKIP() << "clusters came with 9.0";
  auto sizes = buffer_of(std::vector<int>(16, 0));
  for (const int size : {1, 2, 8, 16}) {
    Launch one = launch("cluster_size", 16, 32, {BufferView{sizes.get(), 0}});
    one.cluster_size = size;
    const auto ran = device_->run({one});
    ASSERT_TRUE(ran) << base::describe(ran.error());
    EXPECT_EQ(values_of<int>(*sizes), std::vector<int>(16, size));
  }
}

// Each launch adds what the one ahead of it wrote last and late; without the wait a launch that begins early reads what was there.
TEST_F(GpuTest, LaunchesThatBeginEarlySeeAllThatTheOnesAheadWrote) {
  const std::string body = R"(
  __nanosleep(20000);
  const int at = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  to[at] = from[all - 1 - at] + 1;
})";
  const std::string head = "extern \"C\" __global__ void add_one(float* to, const float* from) {\n";
  const std::string wait = R"(
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : : : "memory");
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
#endif
)";
  for (const std::string& text : {head + wait + body, head + body}) {
    auto program = device_->compile({"early", {{"early.cu", text}}, "early.cu", {}});
    ASSERT_TRUE(program) << base::describe(program.error());
    program_ = *program;
    std::vector<float> values(264 * 256);
    std::iota(values.begin(), values.end(), 0.0F);
    auto a = buffer_of(values), b = buffer_of(values);
    std::vector<Launch> launches;
    for (int i = 0; i < 10; ++i) {
      const BufferView to{i % 2 == 0 ? b.get() : a.get(), 0}, from{i % 2 == 0 ? a.get() : b.get(), 0};
      launches.push_back(launch("add_one", 264, 256, {to, from}));
      launches.back().begins_early = true;
    }
    ASSERT_TRUE(device_->run(launches));
    for (float& value : values) value += 10;
    EXPECT_EQ(values_of<float>(*a), values);
  }
}

TEST_F(GpuTest, OutOfMemoryNamesNeedAndFreeBytesAndHarmsNothing) {
  const auto refused = device_->allocate(std::size_t{1} << 46);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().expected, HasSubstr("70368744177664 bytes"));
  EXPECT_THAT(refused.error().found, HasSubstr("bytes free of"));
  expect_alive();
}

TEST_F(GpuTest, AnIllegalAddressATrapAndAnEndlessLoopCostOneVariantEach) {
  auto data = buffer_of<float>({1, 2, 3, 4});
  auto flag = buffer_of<int>({0});
  const auto illegal = device_->try_run({launch("write_far_away", 1, 1, {BufferView{data.get(), 0}})}, 10 * second_ns);
  ASSERT_FALSE(illegal);
  EXPECT_EQ(illegal.error().kind, base::ErrorKind::gate);
  EXPECT_THAT(illegal.error().found, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_THAT(illegal.error().expected, HasSubstr("'write_far_away'"));
  expect_alive();
  const auto trapped = device_->try_run({launch("trap", 1, 1, {})}, 10 * second_ns);
  ASSERT_FALSE(trapped);
  EXPECT_EQ(trapped.error().kind, base::ErrorKind::gate);
  expect_alive();
  const auto endless = device_->try_run({launch("never_ends", 1, 1, {BufferView{flag.get(), 0}})}, second_ns);
  ASSERT_FALSE(endless);
  EXPECT_THAT(endless.error().found, HasSubstr("still running"));
  expect_alive();
  EXPECT_EQ(values_of<float>(*data), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(GpuTest, TimesAPassWithAClockAndAWallTime) {
  auto from = buffer_of(std::vector<float>(1 << 22, 1)), to = buffer_of(std::vector<float>(1 << 22, 0));
  const std::vector<Launch> pass = {
      launch("scale", 1 << 14, 256,
             {BufferView{to.get(), 0}, BufferView{from.get(), 0}, std::int64_t{1 << 22}, std::int32_t{0}, 1.0F})};
  for (const bool cold : {true, false}) {
    const auto sample = device_->time(pass, {cold});
    ASSERT_TRUE(sample) << base::describe(sample.error());
    EXPECT_GT(sample->device_ns, 0);
    EXPECT_GT(sample->wall_ns, 0);
  }
}

TEST_F(GpuTest, MeasuresItsCeilings) {
  const auto ceilings = device_->ceilings({true});
  ASSERT_TRUE(ceilings) << base::describe(ceilings.error());
  for (const char* name : {"copy_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s", "l2_bytes_per_s",
                           "fma_flops_per_s", "memory_latency_ns", "launch_latency_ns"})
    EXPECT_GT(ceilings->p50(name), 0) << name;
}

}  // namespace
}  // namespace hone::device::cuda

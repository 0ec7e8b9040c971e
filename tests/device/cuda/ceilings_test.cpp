// A GPU's ceilings over a driver in memory: which shape is the fastest, how large the cache is, and what runs beside a kernel.
#include "device/cuda/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/ceiling_bench.hpp"
#include "device/cuda/cuda_device.hpp"
#include "tests/device/cuda/fake_driver.hpp"
#include "tests/support/cuda_compiler.hpp"

namespace hone::device::cuda {
namespace {

constexpr std::int64_t MiB = 1 << 20;

class WarmClocks final : public Clocks {
 public:
  ClockReading read() override { return {1980, false, ""}; }
  double temperature_c() override { return 41; }
  std::string driver_version() const override { return "580.1"; }
};

class CudaCeilingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_gpu() = FakeGpu();
    fake_gpu().total_bytes = 320 * MiB;
    fake_gpu().attributes[16] = 8;        // multiprocessors
    fake_gpu().attributes[38] = 8 * MiB;  // L2
    for (const char* name : {"ceiling_l2", "ceiling_fma", "ceiling_chase", "ceiling_empty", "ceiling_random"})
      fake_gpu().kernels.insert(name);
    for (const char* kind : {"copy", "read", "write"})
      for (const char* vectors : {"1", "2", "4", "8"})
        fake_gpu().kernels.insert(std::string("ceiling_") + kind + "_" + vectors);
    CudaOptions options;
    options.compiler.nvrtc = test::nvrtc_path();
    auto opened = open_cuda_device(options, fake_driver(), std::make_unique<WarmClocks>(), files_, clock_);
    ASSERT_TRUE(opened) << base::describe(opened.error());
    device_ = std::move(*opened);
  }
  void TearDown() override {
    device_.reset();
    EXPECT_TRUE(fake_gpu().allocations.empty());
  }

  base::SystemFiles files_;
  base::SystemClock clock_;
  std::unique_ptr<Device> device_;
};

TEST_F(CudaCeilingsTest, TheEffectiveCacheIsWhereReadsFallToMemory) {
  fake_gpu().elapsed = [](const FakeLaunch& last) {
    EXPECT_EQ(last.kernel, "ceiling_l2");
    const double bytes = 16.0 * static_cast<double>(last.values[2]), rounds = static_cast<std::int32_t>(last.values[3]);
    return static_cast<float>(1e3 * bytes * rounds / (bytes <= 2 * MiB ? 6e12 : 3.5e12));
  };
  auto bytes = device_->measure_cache_size({});
  ASSERT_TRUE(bytes) << base::describe(bytes.error());
  EXPECT_EQ(*bytes, 2 * MiB);
  device_->use_cache_size(*bytes);
  EXPECT_EQ(device_->info().last_level_cache_bytes(), 2 * MiB);
  EXPECT_EQ(device_->info().reported_last_level_cache_bytes(), 8 * MiB);
  EXPECT_EQ(device_->allocated_bytes(), 0U);
}

TEST_F(CudaCeilingsTest, TheFastestShapeIsKeptAndRunsBesideAKernel) {
  fake_gpu().elapsed = [](const FakeLaunch& last) {
    return last.kernel == "ceiling_copy_8" && last.config.block[0] == 256 ? 0.4F : 0.5F;
  };
  device_->use_cache_size(3 * MiB);
  auto ceilings = device_->ceilings({true});
  ASSERT_TRUE(ceilings) << base::describe(ceilings.error());
  EXPECT_EQ(ceilings->by_name.at("copy_bytes_per_s").program, "256 threads, 8 vectors each");
  EXPECT_EQ(ceilings->effective_last_level_cache_bytes, 3 * MiB);
  EXPECT_EQ(ceilings->conditions.clock_mhz, 1980);
  EXPECT_EQ(ceilings->conditions.temperature_c, 41);
  auto programs = device_->ceiling_programs(*ceilings);
  ASSERT_TRUE(programs && *programs) << base::describe(programs.error());
  const CeilingRun run = (*programs)->run_of("copy_bytes_per_s");
  EXPECT_GE(run.amount, 128.0 * MiB);
  fake_gpu().launches.clear();
  ASSERT_TRUE(device_->time(run.launches, {}));
  EXPECT_EQ(fake_gpu().launches.back().kernel, "ceiling_copy_8");
  EXPECT_EQ(fake_gpu().launches.back().config.block[0], 256U);
  EXPECT_EQ((*programs)->run_of("read_bytes_per_s").launches.front().entry, "ceiling_read_1");
  EXPECT_GT((*programs)->run_of("fma_flops_per_s").amount, 0);
  EXPECT_TRUE((*programs)->run_of("copy_streaming_bytes_per_s").launches.empty());
}

TEST_F(CudaCeilingsTest, AShapeFromAFileIsOneOfTheShapesOrTheDefault) {
  for (const int threads : {256, 512, 1024})
    for (const int vectors : {1, 2, 4, 8}) {
      const CeilingShape shape = CeilingShape::parse(CeilingShape{threads, vectors}.text());
      EXPECT_EQ(shape.threads, threads);
      EXPECT_EQ(shape.vectors, vectors);
    }
  for (const char* text : {"", "99999 threads, 8 vectors each", "ceiling_copy_2", "256 threads, -1 vectors each"})
    EXPECT_EQ(CeilingShape::parse(text).text(), CeilingShape{}.text());
}

}  // namespace
}  // namespace hone::device::cuda

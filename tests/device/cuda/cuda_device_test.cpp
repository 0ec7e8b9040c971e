// The device over a driver in memory: memory, launches, timing, and what each failure of the driver becomes.
#include "device/cuda/cuda_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/device/cuda/fake_driver.hpp"
#include "tests/support/cuda_compiler.hpp"

namespace hone::device::cuda {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class ScriptedClocks final : public Clocks {
 public:
  explicit ScriptedClocks(ClockReading* reading) : reading_(reading) {}
  ClockReading read() override { return *reading_; }
  std::string driver_version() const override { return "580.1"; }

 private:
  ClockReading* reading_;
};

class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_gpu() = FakeGpu();
    options_.compiler.nvrtc = test::nvrtc_path();
    reopen();
  }
  void TearDown() override {
    program_.reset();
    device_.reset();
    EXPECT_TRUE(fake_gpu().allocations.empty());
    EXPECT_EQ(fake_gpu().contexts, 0);
    EXPECT_EQ(fake_gpu().streams, 0);
    EXPECT_EQ(fake_gpu().events, 0);
    EXPECT_EQ(fake_gpu().host_blocks, 0);
  }
  void reopen() {
    auto opened =
        open_cuda_device(options_, fake_driver(), std::make_unique<ScriptedClocks>(&reading_), files_, clock_);
    ASSERT_TRUE(opened) << base::describe(opened.error());
    device_ = std::move(*opened);
  }
  const Program& program() {
    if (program_ == nullptr) {
      auto compiled = device_->compile(
          {"test program",
           {{"a.cu",
             "extern \"C\" __global__ void run(float* a, long long n) {}\nextern \"C\" __global__ void lost() {}\n"}},
           "a.cu",
           {}});
      EXPECT_TRUE(compiled) << base::describe(compiled.error());
      program_ = *compiled;
    }
    return *program_;
  }
  std::unique_ptr<Buffer> buffer(std::size_t bytes) {
    auto made = device_->allocate(bytes);
    EXPECT_TRUE(made) << base::describe(made.error());
    return std::move(*made);
  }
  Launch launch(std::int64_t programs = 4, int threads = 128) {
    Launch one;
    one.program = &program();
    one.entry = "run";
    one.programs = programs;
    one.threads = threads;
    return one;
  }
  // The error of one launch, which must not reach the driver.
  base::Error refused(const Launch& one) {
    const std::size_t before = fake_gpu().launches.size();
    auto ran = device_->run({one});
    EXPECT_FALSE(ran);
    EXPECT_EQ(fake_gpu().launches.size(), before);
    return ran ? base::Error{} : ran.error();
  }

  base::SystemFiles files_;
  base::SystemClock clock_;
  ClockReading reading_{1980, false, ""};
  CudaOptions options_;
  std::unique_ptr<Device> device_;
  std::shared_ptr<Program> program_;
};

TEST_F(CudaDeviceTest, DescribesItself) {
  const model::DeviceInfo& info = device_->info();
  EXPECT_EQ(info.name, "Fake GPU");
  EXPECT_EQ(info.id, "cuda:0");
  EXPECT_EQ(info.kind, "cuda");
  EXPECT_EQ(info.architecture, "hopper");
  EXPECT_EQ(info.compute_capability, "9.0");
  EXPECT_EQ(info.sm_count, 132);
  EXPECT_EQ(info.last_level_cache_bytes(), 50 << 20);
  EXPECT_EQ(info.shared_memory_per_block_bytes, 227 << 10);
  EXPECT_EQ(info.driver, "580.1 (CUDA 13.0)");
  EXPECT_THAT(info.compiler, HasSubstr("sm_90a"));
}

TEST_F(CudaDeviceTest, AGpuThatIsNotThereIsAnErrorThatCounts) {
  options_.ordinal = 3;
  const auto opened = open_cuda_device(options_, fake_driver(), nullptr, files_, clock_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, base::ErrorKind::preflight);
  EXPECT_THAT(opened.error().expected, HasSubstr("cuda:3"));
  EXPECT_THAT(opened.error().found, HasSubstr("1 GPU"));
  EXPECT_THAT(opened.error().remedy, HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST_F(CudaDeviceTest, WithoutNvrtcItIsDescribedAndCompilesNothing) {
  options_.compiler.nvrtc = "/nowhere/libnvrtc.so";
  reopen();
  EXPECT_EQ(device_->info().compiler, "");
  const auto compiled = device_->compile({"p", {{"a.cu", ""}}, "a.cu", {}});
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.error().remedy, HasSubstr("pip install nvidia-cuda-nvrtc"));
}

TEST_F(CudaDeviceTest, BytesGoThereAndBackAndAreCounted) {
  auto first = buffer(16), second = buffer(16);
  EXPECT_EQ(device_->allocated_bytes(), 32U);
  const std::vector<int> values = {1, 2, 3, 4};
  ASSERT_TRUE(device_->upload({first.get(), 0}, values.data(), 16));
  ASSERT_TRUE(device_->copy({second.get(), 4}, {first.get(), 0}, 12));
  ASSERT_TRUE(device_->fill({second.get(), 0}, 0xff, 4));
  std::vector<int> got(4);
  ASSERT_TRUE(device_->download(got.data(), {second.get(), 0}, 16));
  EXPECT_EQ(got, (std::vector<int>{-1, 1, 2, 3}));
  second.reset();
  EXPECT_EQ(device_->allocated_bytes(), 16U);
  EXPECT_FALSE(device_->upload({first.get(), 8}, values.data(), 16)) << "beyond the end";
  EXPECT_FALSE(device_->fill({nullptr, 0}, 0, 1));
}

TEST_F(CudaDeviceTest, AnEmptyBufferHasAnAddressAndNoBytes) {
  auto empty = buffer(0);
  EXPECT_EQ(empty->bytes(), 0U);
  EXPECT_TRUE(device_->upload({empty.get(), 0}, nullptr, 0));
  EXPECT_EQ(device_->allocated_bytes(), 0U);
}

TEST_F(CudaDeviceTest, OutOfMemoryNamesTheNeedAndTheFreeBytes) {
  auto held = buffer(1 << 20);
  const auto refused = device_->allocate(std::size_t{2} << 30);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::preflight);
  EXPECT_THAT(refused.error().expected, HasSubstr("2147483648 bytes"));
  EXPECT_THAT(refused.error().found, HasSubstr("1072693248 bytes free"));
  EXPECT_THAT(refused.error().found, HasSubstr("1048576 held by hone's buffers"));
  EXPECT_THAT(refused.error().remedy, HasSubstr("--sizes"));
}

TEST_F(CudaDeviceTest, ALaunchIsOneBlockForEachProgramWithItsArguments) {
  auto data = buffer(64);
  Launch one = launch(7, 256);
  one.arguments = {BufferView{data.get(), 16}, std::int64_t{-5}, std::int32_t{3}, 1.5F};
  ASSERT_TRUE(device_->run({one, launch(0), launch(1)}));
  ASSERT_EQ(fake_gpu().launches.size(), 2U) << "a launch of no programs is none";
  const FakeLaunch& seen = fake_gpu().launches.front();
  EXPECT_EQ(seen.config.grid[0], 7U);
  EXPECT_EQ(seen.config.block[0], 256U);
  EXPECT_EQ(seen.cluster, 0U);
  EXPECT_EQ(seen.values[0], fake_gpu().allocations.begin()->first + 16);
  EXPECT_EQ(static_cast<std::int64_t>(seen.values[1]), -5);
  EXPECT_EQ(static_cast<std::int32_t>(seen.values[2]), 3);
  float value = 0;
  std::memcpy(&value, &seen.values[3], sizeof value);
  EXPECT_EQ(value, 1.5F);
  EXPECT_EQ(seen.values[4], 0U) << "a parameter that the launch does not give is zero, not memory beyond the list";
}

TEST_F(CudaDeviceTest, AGridAndABlockHaveUpToThreeExtents) {
  Launch one = launch(7, 16);
  one.programs_y = 5, one.programs_z = 2, one.threads_y = 8, one.threads_z = 4;
  ASSERT_TRUE(device_->run({one}));
  const LaunchConfig& seen = fake_gpu().launches.front().config;
  EXPECT_THAT(seen.grid, ::testing::ElementsAre(7U, 5U, 2U));
  EXPECT_THAT(seen.block, ::testing::ElementsAre(16U, 8U, 4U));
  one.threads_y = 65;
  const auto crowded = device_->run({one});
  ASSERT_FALSE(crowded);
  EXPECT_THAT(crowded.error().found, HasSubstr("16 x 65 x 4"));
  one.threads_y = 1, one.programs_y = 70'000;
  EXPECT_FALSE(device_->run({one}));
}

// The first launch of a list has nothing ahead of it that its program could wait for, and a program that does not wait must not begin early.
TEST_F(CudaDeviceTest, LaunchesBeginEarlyWhereTheirProgramWaitsAndOneIsAheadOfThem) {
  const auto early = [&](const std::string& body) {
    auto compiled = device_->compile(
        {"early", {{"a.cu", "extern \"C\" __global__ void run(float* a, long long n) {" + body + "}"}}, "a.cu", {}});
    EXPECT_TRUE(compiled) << base::describe(compiled.error());
    Launch one = launch();
    one.program = compiled->get();
    one.begins_early = true;
    Launch late = one;
    late.begins_early = false;
    fake_gpu().launches.clear();
    EXPECT_TRUE(device_->run({one, one, late}));
    std::vector<bool> seen;
    for (const FakeLaunch& each : fake_gpu().launches) seen.push_back(each.early);
    return seen;
  };
  EXPECT_EQ(early("asm volatile(\"griddepcontrol.wait;\");"), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(early(""), (std::vector<bool>{false, false, false}));
}

TEST_F(CudaDeviceTest, ClustersAreAnAttributeAndLargeOnesAreAllowedFirst) {
  Launch one = launch(16);
  one.cluster_size = 4;
  ASSERT_TRUE(device_->run({one}));
  EXPECT_EQ(fake_gpu().launches.back().cluster, 4U);
  EXPECT_EQ(fake_gpu().raised.count("run 14"), 0U);
  one.cluster_size = 16;
  ASSERT_TRUE(device_->run({one}));
  EXPECT_EQ(fake_gpu().raised.at("run 14"), 1);
  one.cluster_size = 3;
  EXPECT_THAT(refused(one).expected, HasSubstr("divide the 16 programs"));
}

TEST_F(CudaDeviceTest, SharedMemoryAbove48KiBIsAskedForAndAboveTheBlocksLimitRefused) {
  Launch one = launch();
  one.dynamic_shared_bytes = 48 << 10;
  ASSERT_TRUE(device_->run({one}));
  EXPECT_EQ(fake_gpu().raised.count("run 8"), 0U);
  one.dynamic_shared_bytes = 100 << 10;
  ASSERT_TRUE(device_->run({one}));
  EXPECT_EQ(fake_gpu().raised.at("run 8"), 100 << 10);
  EXPECT_EQ(fake_gpu().launches.back().config.dynamic_shared_bytes, 100U << 10);
  one.dynamic_shared_bytes = 228 << 10;
  const base::Error error = refused(one);
  EXPECT_EQ(error.kind, base::ErrorKind::gate);
  EXPECT_THAT(error.expected, HasSubstr("232448"));
}

TEST_F(CudaDeviceTest, LaunchesThatNoGpuCanDoAreRefusedWithARemedy) {
  EXPECT_THAT(refused(launch(std::int64_t{1} << 31)).expected, HasSubstr("2147483647 programs"));
  EXPECT_THAT(refused(launch(1, 0)).expected, HasSubstr("1 to 1024 threads"));
  EXPECT_THAT(refused(launch(1, 1056)).remedy, HasSubstr("num_warps"));
  EXPECT_EQ(refused(launch(-1)).kind, base::ErrorKind::internal);
  fake_gpu().max_threads = 256;
  fake_gpu().registers = 255;
  program_.reset();
  const base::Error error = refused(launch(1, 512));
  EXPECT_EQ(error.kind, base::ErrorKind::gate);
  EXPECT_THAT(error.expected, HasSubstr("at most 256 threads in a block of 'run', which takes 255 registers"));
}

TEST_F(CudaDeviceTest, AMissingKernelIsAnErrorThatNamesThosePresent) {
  Launch one = launch();
  one.entry = "rum";
  const base::Error error = refused(one);
  EXPECT_THAT(error.expected, HasSubstr("'rum'"));
  EXPECT_THAT(error.found, HasSubstr("lost, run"));
}

TEST_F(CudaDeviceTest, AFaultNamesTheCallTheKernelAndWhatToDoAndTheContextIsLost) {
  fake_gpu().fail = [](const std::string& call) { return call == "wait" ? kIllegalAddress : kSuccess; };
  auto ran = device_->run({launch()});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, base::ErrorKind::gate);
  EXPECT_THAT(ran.error().expected, HasSubstr("'run' of 'test program'"));
  EXPECT_THAT(ran.error().found, HasSubstr("cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  EXPECT_THAT(ran.error().remedy, HasSubstr("compute-sanitizer"));
  fake_gpu().fail = nullptr;
  auto again = device_->run({launch()});
  ASSERT_FALSE(again) << "CUDA does not come back from it";
  EXPECT_THAT(again.error().found, HasSubstr("lost earlier"));
  EXPECT_FALSE(device_->allocate(16));
  fake_gpu().allocations.clear();  // what a lost context held went with it
  fake_gpu().used_bytes = 0;
}

TEST_F(CudaDeviceTest, AFailureThatPassesCostsOneCall) {
  fake_gpu().fail = [](const std::string& call) { return call == "launch run" ? kLaunchOutOfResources : kSuccess; };
  auto ran = device_->run({launch()});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, base::ErrorKind::gate);
  EXPECT_THAT(ran.error().remedy, HasSubstr("num_warps"));
  fake_gpu().fail = nullptr;
  EXPECT_TRUE(device_->run({launch()}));
}

TEST_F(CudaDeviceTest, ASampleIsTakenBehindAGateWithTheCacheEmptiedBefore) {
  fake_gpu().elapsed_ms = 0.25F;
  auto sample = device_->time({launch(), launch()}, {true});
  ASSERT_TRUE(sample) << base::describe(sample.error());
  EXPECT_DOUBLE_EQ(sample->device_ns, 250'000);
  EXPECT_GT(sample->wall_ns, 0);
  EXPECT_DOUBLE_EQ(sample->clock_mhz, 1980);
  EXPECT_FALSE(sample->slowed);
  const std::vector<std::string> order = {
      "launch hone_empty_l2", "launch hone_gate", "event", "launch run", "launch run", "event", "wait"};
  const auto& calls = fake_gpu().calls;
  ASSERT_GE(calls.size(), order.size());
  EXPECT_EQ(std::vector<std::string>(calls.end() - static_cast<std::ptrdiff_t>(order.size()), calls.end()), order);
  fake_gpu().calls.clear();
  ASSERT_TRUE(device_->time({launch()}, {false}));
  EXPECT_THAT(fake_gpu().calls, Not(Contains(HasSubstr("hone_empty_l2"))));
}

TEST_F(CudaDeviceTest, AClockThatHeatLowersMarksTheSample) {
  reading_ = {1200, true, "thermal slowdown by the driver"};
  auto sample = device_->time({launch()}, {false});
  ASSERT_TRUE(sample);
  EXPECT_TRUE(sample->slowed);
  EXPECT_DOUBLE_EQ(sample->clock_mhz, 1200);
}

TEST_F(CudaDeviceTest, AFailedLaunchInASampleOpensTheGateAndIsTheSamplesError) {
  ASSERT_TRUE(device_->time({launch()}, {false}));
  fake_gpu().fail = [](const std::string& call) { return call == "launch run" ? kLaunchOutOfResources : kSuccess; };
  fake_gpu().calls.clear();
  auto sample = device_->time({launch()}, {false});
  ASSERT_FALSE(sample);
  EXPECT_THAT(sample.error().found, HasSubstr("cuLaunchKernelEx"));
  EXPECT_EQ(fake_gpu().calls.back(), "wait");
  const std::uint64_t flag = fake_gpu().launches.at(fake_gpu().launches.size() - 2).values[0];
  EXPECT_EQ(*reinterpret_cast<const std::uint32_t*>(flag), 1U) << "the gate stayed closed";
}

TEST(Slowdown, WordsAreOnlyOfWhatSpoilsASample) {
  EXPECT_EQ(slowdown_words(0), "");
  EXPECT_EQ(slowdown_words(0x1 | 0x4 | 0x100), "") << "idle, the power cap and display clocks are no fault";
  EXPECT_EQ(slowdown_words(0x20 | 0x80), "thermal slowdown by the driver, power brake");
}

TEST(Driver, ThatIsMissingIsAPreflightErrorWithTheRemedy) {
  const auto opened = open_driver("libhone-no-such-driver.so.1");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, base::ErrorKind::preflight);
  EXPECT_EQ(opened.error().where, "libhone-no-such-driver.so.1");
  EXPECT_THAT(opened.error().remedy, HasSubstr("NVIDIA driver"));
}

TEST(Driver, TooOldForTheTableNamesTheFunctionItLacks) {
  const auto opened = open_driver("libm.so.6");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().found, HasSubstr("older than CUDA 12.0"));
}

}  // namespace
}  // namespace hone::device::cuda

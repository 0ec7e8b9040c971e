// Ceilings: all of them are measured, their quantiles are in order, the working set obeys caches and memory.
#include "device/cpu/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cpu/ceiling_bench.hpp"
#include "tests/device/cpu/cpu_fixture.hpp"
#include "tests/support/played_device.hpp"

namespace hone::device::cpu {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

using CeilingsTest = CpuFixture;

constexpr const char* names[] = {"copy_bytes_per_s",
                                 "copy_streaming_bytes_per_s",
                                 "read_bytes_per_s",
                                 "write_bytes_per_s",
                                 "write_streaming_bytes_per_s",
                                 "fma_flops_per_s",
                                 "memory_latency_ns",
                                 "launch_latency_ns"};

TEST_F(CeilingsTest, AllAreMeasuredWithTheirSpread) {
  const auto ceilings = measure_ceilings(*device_, {8 << 20, 8 << 20, 0, device_->info().sm_count}, {true}, clock_);
  ASSERT_TRUE(ceilings) << base::describe(ceilings.error());
  for (const char* name : names) {
    ASSERT_EQ(ceilings->by_name.count(name), 1U) << name;
    const model::Ceiling& ceiling = ceilings->by_name.at(name);
    EXPECT_GT(ceiling.p20, 0) << name;
    EXPECT_LE(ceiling.p20, ceiling.p50) << name;
    EXPECT_LE(ceiling.p50, ceiling.p80) << name;
    EXPECT_GE(ceiling.samples, 5) << name;
  }
  EXPECT_EQ(ceilings->by_name.size(), std::size(names));
  EXPECT_EQ(ceilings->source, model::Source::measured);
  EXPECT_FALSE(ceilings->measured_at.empty());
  EXPECT_THAT(ceilings->notes, Contains(HasSubstr("working set 64 MiB")));
  EXPECT_EQ(device_->allocated_bytes(), 0U);
}

TEST_F(CeilingsTest, LittleMemoryBoundsTheWorkingSetAndIsSaid) {
  const auto ceilings =
      measure_ceilings(*device_, {64 << 20, 64 << 20, 128 << 20, device_->info().sm_count}, {true}, clock_);
  ASSERT_TRUE(ceilings) << base::describe(ceilings.error());
  EXPECT_THAT(ceilings->notes, Contains(HasSubstr("working set 32 MiB")));
  EXPECT_THAT(ceilings->notes, Contains(HasSubstr("memory bounded")));
  const auto none = measure_ceilings(*device_, {64 << 20, 64 << 20, 1000, 1}, {true}, clock_);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, base::ErrorKind::preflight);
}

// On a device that reports the cache of its host the working set, and with it the time, is that of the effective size.
TEST_F(CeilingsTest, TheWorkingSetFollowsTheEffectiveCache) {
  base::ManualClock clock;
  test::PlayedDevice played(clock, [](const std::vector<Launch>&, bool) { return 1e6; });
  const auto ceilings = measure_ceilings(played, {480 << 20, 16 << 20, 0, 2}, {true}, clock);
  ASSERT_TRUE(ceilings) << base::describe(ceilings.error());
  EXPECT_THAT(ceilings->notes, Contains(HasSubstr("working set 256 MiB")));
  EXPECT_THAT(ceilings->notes, Contains(HasSubstr("16 MiB together by measurement, 480 MiB as reported")));
  EXPECT_LT(played.runs, 400);
}

TEST_F(CeilingsTest, TheFastestShapesRunBesideAKernel) {
  base::ManualClock clock;
  test::PlayedDevice played(clock, [](const std::vector<Launch>& launches, bool) {
    return launches.front().entry == "ceiling_copy_streaming_4" ? 1e6 : 2e6;
  });
  const auto ceilings = measure_ceilings(played, {32 << 20, 32 << 20, 0, 2}, {true}, clock);
  ASSERT_TRUE(ceilings);
  EXPECT_EQ(ceilings->by_name.at("copy_streaming_bytes_per_s").program, "ceiling_copy_streaming_4");
  const auto bench = CeilingBench::make(played, 2, 128 << 20, *ceilings);
  ASSERT_TRUE(bench);
  const CeilingRun copy = (*bench)->run_of("copy_streaming_bytes_per_s");
  ASSERT_EQ(copy.launches.size(), 1U);
  EXPECT_EQ(copy.launches[0].entry, "ceiling_copy_streaming_4");
  EXPECT_EQ(copy.amount, 256 << 20);
  EXPECT_EQ((*bench)->run_of("read_bytes_per_s").launches.front().entry, "ceiling_read_1");
  EXPECT_EQ((*bench)->run_of("read_bytes_per_s").amount, 128 << 20);
  EXPECT_TRUE((*bench)->run_of("matrix_bf16_flops_per_s").launches.empty());
  model::Ceilings foreign = *ceilings;
  for (auto& [name, ceiling] : foreign.by_name) ceiling.program = "rm -rf /";
  const auto other = CeilingBench::make(played, 2, 128 << 20, foreign);
  ASSERT_TRUE(other);
  EXPECT_EQ((*other)->run_of("copy_bytes_per_s").launches.front().entry, "ceiling_copy_2");
}

// The real programs: they move what they say, in a run of milliseconds.
TEST_F(CeilingsTest, ProgramsBesideAKernelRun) {
  auto programs = device_->ceiling_programs({});
  ASSERT_TRUE(programs && *programs);
  for (const char* name : {"copy_bytes_per_s", "copy_streaming_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s",
                           "write_streaming_bytes_per_s", "fma_flops_per_s"}) {
    const CeilingRun run = (*programs)->run_of(name);
    ASSERT_FALSE(run.launches.empty());
    auto sample = device_->time(run.launches, {});
    ASSERT_TRUE(sample) << base::describe(sample.error());
    EXPECT_GT(run.amount, 1e7) << name;
  }
}

TEST_F(CeilingsTest, WithoutACompilerTheErrorIsTheCompilers) {
  base::ScriptedProcesses nothing_installed;
  auto opened = open_cpu_device(options_, nothing_installed, files_, clock_);
  ASSERT_TRUE(opened);
  const auto ceilings = (*opened)->ceilings({true});
  ASSERT_FALSE(ceilings);
  EXPECT_THAT(ceilings.error().remedy, HasSubstr("g++"));
}

}  // namespace
}  // namespace hone::device::cpu

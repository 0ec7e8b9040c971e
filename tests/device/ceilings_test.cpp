// Ceilings: all of them are measured, their quantiles are in order, the working set obeys caches and memory.
#include "device/cpu/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/device/cpu_fixture.hpp"

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
  const auto ceilings = measure_ceilings(*device_, {8 << 20, 0, device_->info().sm_count}, {true}, clock_);
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
  const auto ceilings = measure_ceilings(*device_, {64 << 20, 128 << 20, device_->info().sm_count}, {true}, clock_);
  ASSERT_TRUE(ceilings) << base::describe(ceilings.error());
  EXPECT_THAT(ceilings->notes, Contains(HasSubstr("working set 32 MiB")));
  EXPECT_THAT(ceilings->notes, Contains(HasSubstr("memory bounded")));
  const auto none = measure_ceilings(*device_, {64 << 20, 1000, 1}, {true}, clock_);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, base::ErrorKind::preflight);
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

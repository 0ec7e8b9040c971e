// One captured launch: the level of memory that limits it is named with that level's own figure.
#include "diagnose/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// rms_norm forward of Liger as captured on an H200: DRAM at 80.2 % of nominal peak, the L2 at 90.0 % of its own.
model::CounterSummary memory_bound_kernel() {
  model::CounterSummary kernel;
  kernel.name = "k";
  kernel.compute_throughput_pct = 50.5;
  kernel.memory_throughput_pct = 80.2;
  kernel.dram_throughput_pct = 80.2;
  kernel.l2_throughput_pct = 90.0;
  kernel.l1_throughput_pct = 35.1;
  kernel.occupancy_pct = 69.7;
  kernel.duration_us = 63.4;
  kernel.dram_bytes = 3.86e12 * 63.4e-6;
  return kernel;
}

model::DeviceInfo device(double copy_bytes_per_s = 0) {
  model::DeviceInfo info;
  info.kind = "cuda";
  info.compute_capability = "9.0";
  if (copy_bytes_per_s > 0)
    info.ceilings.by_name["copy_bytes_per_s"] = {copy_bytes_per_s, copy_bytes_per_s, copy_bytes_per_s, 1};
  return info;
}

TEST(LaunchLimiter, DramCarriesItsOwnShareNotThatOfABusierCache) {
  const KernelDiagnosis found = diagnose_kernel(memory_bound_kernel(), device());
  EXPECT_EQ(found.bottleneck.limiter, "DRAM bandwidth (80.2 % of nominal peak; L2 at 90.0 % of its peak)");
  EXPECT_THAT(found.bottleneck.reasoning, HasSubstr("Memory is the busier unit (90.0 %"));
}

TEST(LaunchLimiter, DramIsHeldAgainstTheMeasuredCeilingWhereThereIsOne) {
  EXPECT_EQ(diagnose_kernel(memory_bound_kernel(), device(4.27e12)).bottleneck.limiter,
            "DRAM bandwidth (90.4 % of the measured copy ceiling)");
  EXPECT_EQ(diagnose_kernel(memory_bound_kernel(), device(5e12)).bottleneck.limiter,
            "DRAM bandwidth (77.2 % of the measured copy ceiling; L2 at 90.0 % of its peak)");
}

TEST(LaunchLimiter, ABusyCacheWithIdleDramIsNoDramBandwidth) {
  model::CounterSummary kernel = memory_bound_kernel();
  kernel.memory_throughput_pct = 70;  // Nsight's is the busiest level
  kernel.dram_throughput_pct = 12;
  kernel.dram_bytes = 0.5e12 * 63.4e-6;
  for (const double ceiling : {0.0, 4.27e12})
    EXPECT_EQ(diagnose_kernel(kernel, device(ceiling)).bottleneck.limiter, "L2 bandwidth (90.0 % of its peak)");
  kernel.l2_throughput_pct = 30;
  kernel.l1_throughput_pct = 70;
  for (const double ceiling : {0.0, 4.27e12})
    EXPECT_EQ(diagnose_kernel(kernel, device(ceiling)).bottleneck.limiter, "L1 bandwidth (70.0 % of its peak)");
  kernel.l1_throughput_pct.reset();
  EXPECT_EQ(diagnose_kernel(kernel, device()).bottleneck.limiter,
            "the busiest level of memory (70.0 % of its peak; DRAM at 12.0 %)");
}

TEST(LaunchReasoning, SaysWhatIsLeftInAWholeSentence) {
  const KernelDiagnosis near = diagnose_kernel(memory_bound_kernel(), device(4.27e12));
  EXPECT_THAT(near.bottleneck.reasoning, HasSubstr(" There is little or nothing to gain: 90.4 %"));
  const KernelDiagnosis far = diagnose_kernel(memory_bound_kernel(), device(5e12));
  EXPECT_THAT(far.bottleneck.reasoning, HasSubstr(" It stands at 77.2 % of the measured copy ceiling of 5.00 TB/s, "
                                                  "at most 22.8 % of its time with the same DRAM traffic."));
}

TEST(LaunchReasoning, WhatWasNotCountedIsNotCalledIdle) {
  model::CounterSummary kernel;
  kernel.name = "k";
  kernel.duration_us = 50;
  std::string text = diagnose_kernel(kernel, device()).bottleneck.reasoning;
  EXPECT_EQ(text.rfind("Neither unit's throughput is in this capture", 0), 0u) << text;
  kernel.memory_throughput_pct = 20;
  text = diagnose_kernel(kernel, device()).bottleneck.reasoning;
  EXPECT_EQ(text.rfind("No unit was seen busy: memory 20.0 %, compute not in this capture", 0), 0u) << text;
  kernel.memory_throughput_pct = 95;
  text = diagnose_kernel(kernel, device()).bottleneck.reasoning;
  EXPECT_EQ(text.rfind("Memory is a busy unit (95.0 %; compute is not in this capture)", 0), 0u) << text;
  kernel.memory_throughput_pct.reset();
  kernel.compute_throughput_pct = 90;
  text = diagnose_kernel(kernel, device()).bottleneck.reasoning;
  EXPECT_EQ(text.rfind("The SMs are a busy unit (90.0 %; memory is not in this capture)", 0), 0u) << text;
}

TEST(LaunchReasoning, AProgramIsNoFractionOfOne) {
  model::CounterSummary kernel;
  kernel.name = "k";
  kernel.compute_throughput_pct = kernel.memory_throughput_pct = 0.5;
  kernel.occupancy_pct = 12.5;
  kernel.grid_size = 1;
  kernel.sm_count = 108;
  kernel.waves_per_sm = 0.01;
  const KernelDiagnosis found = diagnose_kernel(kernel, device());
  EXPECT_THAT(found.bottleneck.limiter, HasSubstr("grid (1 program on 108 SMs: 107 stay idle)"));
  EXPECT_THAT(found.strategy_order.front().reason, Not(HasSubstr("programs an SM keep")));
  bool grid_row = false;
  for (const model::EvidenceRow& row : found.bottleneck.evidence)
    grid_row = grid_row || (row.signal == "Grid" && row.observation == "1 program, 0.01 waves on 108 SMs");
  EXPECT_TRUE(grid_row);
}

}  // namespace
}  // namespace hone::diagnose

// One captured launch: the level of memory that limits it is named with that level's own figure.
#include "diagnose/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

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

TEST(LaunchReasoning, WithoutTheFiguresForItThereIsNoClass) {
  model::CounterSummary kernel;
  kernel.name = "k";
  kernel.duration_us = 50;
  const auto reasoning = [&](model::BottleneckClass cls) {
    const KernelDiagnosis found = diagnose_kernel(kernel, device());
    EXPECT_EQ(found.bottleneck.cls, cls);
    for (const model::EvidenceRow& row : found.bottleneck.evidence)
      EXPECT_THAT(row.observation, Not(HasSubstr("not in this capture")));
    EXPECT_TRUE(cls != model::BottleneckClass::undecided || found.strategy_order.empty());
    return found.bottleneck.reasoning;
  };
  using model::BottleneckClass;
  EXPECT_THAT(reasoning(BottleneckClass::undecided), HasSubstr("memory not in this capture, compute not in this"));
  kernel.compute_throughput_pct = 7;
  kernel.occupancy_pct = 85;
  kernel.dram_bytes = 25e6;
  EXPECT_THAT(reasoning(BottleneckClass::undecided), HasSubstr("memory 500 GB/s of DRAM, whose share of the peak is "
                                                               "not in this capture, compute 7.0 %, with 85.0 % of"));
  EXPECT_EQ(diagnose_kernel(kernel, device(1e12)).bottleneck.cls, BottleneckClass::latency_bound)
      << "50 % of a ceiling";
  EXPECT_EQ(diagnose_kernel(kernel, device()).bottleneck.evidence.front().supports, "nothing");
  kernel.dram_bytes.reset();
  kernel.compute_throughput_pct.reset();
  kernel.memory_throughput_pct = 20;
  EXPECT_THAT(reasoning(BottleneckClass::undecided), HasSubstr("memory 20.0 %, compute not in this capture"));
  kernel.memory_throughput_pct = 95;
  EXPECT_THAT(reasoning(BottleneckClass::memory_bound),
              HasSubstr("Memory is a busy unit (95.0 %; compute is not in this capture)"));
  kernel.memory_throughput_pct.reset();
  kernel.compute_throughput_pct = 90;
  EXPECT_THAT(reasoning(BottleneckClass::compute_bound),
              HasSubstr("The SMs are a busy unit (90.0 %; memory is not in this capture)"));
}

TEST(LaunchLimiter, OfBusySmsIsThePipeThatAStallReasonNames) {
  model::CounterSummary kernel;
  kernel.name = "k";
  kernel.compute_throughput_pct = 92;
  kernel.memory_throughput_pct = 20;
  kernel.occupancy_pct = 85;
  EXPECT_THAT(diagnose_kernel(kernel, device()).bottleneck.limiter, HasSubstr("which pipe is busy is not in this"));
  kernel.stalls = {{"math pipe throttle", 60}};
  EXPECT_THAT(diagnose_kernel(kernel, device()).bottleneck.limiter, HasSubstr("warps wait for an arithmetic pipe"));
  kernel.stalls = {{"not selected", 60}};
  EXPECT_THAT(diagnose_kernel(kernel, device()).bottleneck.limiter, HasSubstr("the issue of instructions"));
}

TEST(LaunchLimiter, NamesEveryResourceOfATie) {
  model::CounterSummary kernel;
  kernel.name = "k";
  kernel.compute_throughput_pct = 30;
  kernel.memory_throughput_pct = 25;
  kernel.occupancy_pct = 16;
  kernel.theoretical_occupancy_pct = 18.75;
  kernel.occupancy_limiter = "registers and shared memory";
  kernel.registers_per_thread = 168;
  kernel.blocks_per_sm_limit = 1;
  kernel.block_size = 384;
  EXPECT_EQ(diagnose_kernel(kernel, device()).bottleneck.limiter,
            "registers (168 a thread: 1 program of 384 threads an SM, 18.8 % of its warps); "
            "shared memory (1 program of 384 threads an SM, 18.8 % of its warps)");
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

// The stated thresholds that the advice for a launch rests on, as signed distances: those of the classes are of its point.
std::vector<double> advice_distances(const model::CounterSummary& kernel, const LaunchFacts& facts) {
  Point p = facts.point;
  p.compute_pct = std::clamp(p.compute_pct, 0.0, 100.0), p.memory_pct = std::clamp(p.memory_pct, 0.0, 100.0);
  const double busy = starved(p) ? kBusyWhenStarved : kBusy;
  const double waves = *kernel.waves_per_sm;
  const double tail = waves > 1 ? 100 * (std::ceil(waves) - waves) / std::ceil(waves) : 0;
  return {p.compute_pct - kBusy,
          p.memory_pct - kBusy,
          p.compute_pct - kBusyWhenStarved,
          p.memory_pct - kBusyWhenStarved,
          p.occupancy_pct - kStarvedOccupancy,
          p.occupancy_pct - kBalancedOccupancy,
          p.compute_pct - kBalancedFloor,
          p.memory_pct - kBalancedFloor,
          std::abs(p.compute_pct - p.memory_pct) - kBalancedGap,
          p.compute_pct - p.memory_pct,
          p.duration_us - kShortLaunchUs,
          *kernel.l2_throughput_pct - kCacheBusy,
          *kernel.l1_throughput_pct - busy,
          facts.share_of_ceiling_pct - busy,
          facts.share_of_ceiling_pct - kAtTheLimit,
          *kernel.theoretical_occupancy_pct - kLowTheoreticalOccupancy,
          tail - kTailLoss,
          waves - 1,
          kernel.stalls.front().pct - kStallShare};
}

TEST(LaunchAdvice, ChangesOnlyAcrossAStatedThreshold) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> pct(0, 105), step(-0.5, 0.5);
  const model::DeviceInfo gpu = device(4e12);
  const auto words = [&](const model::CounterSummary& kernel) {
    std::vector<std::string> found;
    for (const model::StrategyStep& each : diagnose_kernel(kernel, gpu).strategy_order) found.push_back(each.strategy);
    return found;
  };
  int changes = 0;
  for (int i = 0; i < 40'000; ++i) {
    model::CounterSummary a;
    a.name = "k";
    a.occupancy_limiter = "registers";
    a.compute_throughput_pct = pct(random);
    a.memory_throughput_pct = pct(random);
    a.l1_throughput_pct = pct(random);
    a.l2_throughput_pct = pct(random);
    a.dram_throughput_pct = pct(random) * 0.9;
    a.occupancy_pct = pct(random);
    a.theoretical_occupancy_pct = pct(random);
    a.duration_us = 1 + pct(random) / 10;
    a.dram_bytes = 4e6 * *a.duration_us * pct(random) / 100;
    a.waves_per_sm = 0.2 + pct(random) / 30;
    a.grid_size = 132 * *a.waves_per_sm;
    a.sm_count = 132;
    a.blocks_per_sm_limit = 1;
    a.stalls = {{"long scoreboard", pct(random) / 2}};
    model::CounterSummary b = a;
    for (std::optional<double>* value : {&b.compute_throughput_pct, &b.memory_throughput_pct, &b.l1_throughput_pct,
                                         &b.l2_throughput_pct, &b.occupancy_pct, &b.theoretical_occupancy_pct})
      **value += step(random);
    *b.duration_us += step(random) / 10;
    *b.dram_bytes *= 1 + step(random) / 100;
    *b.waves_per_sm += step(random) / 10;
    b.stalls[0].pct += step(random);
    if (words(a) == words(b)) continue;
    ++changes;
    const std::vector<double> before = advice_distances(a, launch_facts(a, gpu)),
                              after = advice_distances(b, launch_facts(b, gpu));
    bool crossed = false;
    for (std::size_t k = 0; k < before.size(); ++k) crossed = crossed || (before[k] >= 0) != (after[k] >= 0);
    ASSERT_TRUE(crossed) << ::testing::PrintToString(words(a)) << "\n" << ::testing::PrintToString(words(b));
  }
  EXPECT_GT(changes, 500) << "the walk met too few borders to have tested them";
}

}  // namespace
}  // namespace hone::diagnose

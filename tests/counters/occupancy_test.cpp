// Occupancy by calculation agrees with what Nsight Compute says of every captured launch.
#include "counters/occupancy.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "counters/ncu_csv.hpp"

namespace hone::counters {
namespace {

Capture capture_of(const std::string& name) {
  std::ifstream file(std::string(HONE_SOURCE_DIR) + "/tests/counters/fixtures/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  auto capture = read_ncu_csv(text.str(), name);
  EXPECT_TRUE(capture.ok());
  return capture.ok() ? *capture : Capture{};
}

TEST(Occupancy, AgreesWithTheTheoreticalOccupancyOfEveryCapturedKernel) {
  int checked = 0;
  for (const char* name : {"liger_ncu_raw.csv", "liger_rms_norm_whole_process_ncu_details.csv"}) {
    for (const model::CounterSummary& kernel : capture_of(name).kernels) {
      SCOPED_TRACE(kernel.name);
      // Nsight's shared memory holds the driver's KiB; here it is added by the table.
      const auto shared = std::max<std::int64_t>(0, static_cast<std::int64_t>(*kernel.shared_bytes_per_block) - 1024);
      const auto found = occupancy(*sm_limits("9.0"), static_cast<int>(*kernel.block_size),
                                   static_cast<int>(*kernel.registers_per_thread), shared);
      ASSERT_TRUE(found.has_value());
      EXPECT_NEAR(found->pct, *kernel.theoretical_occupancy_pct, 0.01);
      EXPECT_EQ(found->blocks_per_sm, *kernel.blocks_per_sm_limit);
      if (found->pct < 99.5) {
        EXPECT_EQ(found->limiter, kernel.occupancy_limiter);
      }
      ++checked;
    }
  }
  EXPECT_EQ(checked, 15);
}

TEST(Occupancy, NamesSharedMemoryBlockSizeAndBlocksAsLimiters) {
  const SmLimits hopper = *sm_limits("9.0");
  EXPECT_EQ(occupancy(hopper, 256, 32, 100 * 1024)->limiter, "shared memory");
  EXPECT_EQ(occupancy(hopper, 256, 32, 100 * 1024)->blocks_per_sm, 2);
  EXPECT_EQ(occupancy(hopper, 768, 16, 0)->limiter, "block size");
  EXPECT_EQ(occupancy(hopper, 32, 16, 0)->limiter, "blocks per SM");
  EXPECT_EQ(occupancy(hopper, 1024, 32, 0)->limiter, "");
}

TEST(Occupancy, ABlockThatCanNotRunHasNone) {
  const SmLimits hopper = *sm_limits("9.0");
  EXPECT_FALSE(occupancy(hopper, 0, 32, 0).has_value());
  EXPECT_FALSE(occupancy(hopper, 1025, 32, 0).has_value());
  EXPECT_FALSE(occupancy(hopper, 256, 300, 0).has_value());
  EXPECT_FALSE(occupancy(hopper, 1024, 255, 0).has_value()) << "32 warps of 255 registers are more than an SM has";
  EXPECT_FALSE(occupancy(hopper, 256, 32, 228 * 1024).has_value()) << "one KiB is the driver's";
}

TEST(Occupancy, AnUnknownDeviceGivesNothingRatherThanAGuess) {
  EXPECT_FALSE(sm_limits("3.5").has_value());
  EXPECT_FALSE(sm_limits("").has_value());
  model::DeviceInfo device;
  EXPECT_FALSE(calculated_summary(device, "k", 132, 256, 113, 0).has_value());
}

TEST(Occupancy, TheCalculatedSummaryNamesAGridSmallerThanTheDevice) {
  model::DeviceInfo device;
  device.compute_capability = "9.0";
  device.sm_count = 132;
  const auto summary = calculated_summary(device, "k", 132, 256, 113, 8192);
  ASSERT_TRUE(summary.has_value());
  EXPECT_DOUBLE_EQ(*summary->waves_per_sm, 0.5);
  EXPECT_EQ(summary->occupancy_limiter, "registers");
  EXPECT_FALSE(summary->occupancy_pct.has_value()) << "achieved occupancy can only be counted";
  EXPECT_EQ(calculated_summary(device, "k", 132, 256, 32, 0)->occupancy_limiter, "grid");
}

}  // namespace
}  // namespace hone::counters

#include "counters/occupancy.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace hone::counters {

namespace {

constexpr std::int64_t kKiB = 1024;
constexpr int kWarp = 32;
constexpr int kMostThreads = 1024;
constexpr int kMostRegisters = 255;

struct Row {
  std::string_view capability;
  SmLimits limits;
};
// warps, blocks, registers, shared memory, reserved of it for each block, then the units
constexpr std::array kRows{
    Row{"7.0", {64, 32, 65536, 96 * kKiB, 0, 256, 4, 256}},
    Row{"7.5", {32, 16, 65536, 64 * kKiB, 0, 256, 4, 256}},
    Row{"8.0", {64, 32, 65536, 164 * kKiB, kKiB, 256, 4, 128}},
    Row{"8.6", {48, 16, 65536, 100 * kKiB, kKiB, 256, 4, 128}},
    Row{"8.7", {48, 16, 65536, 164 * kKiB, kKiB, 256, 4, 128}},
    Row{"8.9", {48, 24, 65536, 100 * kKiB, kKiB, 256, 4, 128}},
    Row{"9.0", {64, 32, 65536, 228 * kKiB, kKiB, 256, 4, 128}},
    Row{"10.0", {64, 32, 65536, 228 * kKiB, kKiB, 256, 4, 128}},
    Row{"12.0", {48, 24, 65536, 100 * kKiB, kKiB, 256, 4, 128}},
};

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::optional<SmLimits> sm_limits(const std::string& compute_capability) {
  for (const Row& row : kRows)
    if (row.capability == compute_capability) return row.limits;
  return std::nullopt;
}

std::optional<Occupancy> occupancy(const SmLimits& limits, int threads, int registers, std::int64_t shared) {
  if (threads <= 0 || threads > kMostThreads || registers < 0 || registers > kMostRegisters || shared < 0)
    return std::nullopt;
  if (shared > limits.shared_bytes - limits.shared_reserved_bytes) return std::nullopt;
  const int warps = static_cast<int>(rounded_up(threads, kWarp) / kWarp);
  const std::int64_t registers_of_warp =
      std::max<std::int64_t>(rounded_up(std::int64_t{registers} * kWarp, limits.register_unit), limits.register_unit);
  const std::int64_t shared_of_block = rounded_up(shared + limits.shared_reserved_bytes, limits.shared_unit_bytes);

  Occupancy found;
  const int warps_by_registers =
      static_cast<int>(limits.registers / registers_of_warp / limits.warp_granularity * limits.warp_granularity);
  found.by_registers = warps_by_registers / warps;
  found.by_shared = shared_of_block == 0 ? limits.blocks : static_cast<int>(limits.shared_bytes / shared_of_block);
  found.by_warps = limits.warps / warps;
  found.by_blocks = limits.blocks;
  found.blocks_per_sm = std::min({found.by_registers, found.by_shared, found.by_warps, found.by_blocks});
  if (found.blocks_per_sm == 0) return std::nullopt;
  found.pct = 100.0 * found.blocks_per_sm * warps / limits.warps;
  if (found.blocks_per_sm * warps == limits.warps) return found;
  // A tie is named in this order: what an author can change first comes first.
  std::vector<std::string> tightest;
  for (const auto& [blocks, limiter] :
       {std::pair{found.by_registers, "registers"}, {found.by_shared, "shared memory"}, {found.by_warps, "block size"}})
    if (found.blocks_per_sm == blocks) tightest.emplace_back(limiter);
  found.limiter = tightest.empty() ? "blocks per SM" : base::join_text(tightest, " and ");
  return found;
}

std::optional<model::CounterSummary> calculated_summary(const model::DeviceInfo& device, const std::string& name,
                                                        std::int64_t grid, int threads, int registers,
                                                        std::int64_t shared) {
  const std::optional<SmLimits> limits = sm_limits(device.compute_capability);
  if (!limits || grid <= 0) return std::nullopt;
  const std::optional<Occupancy> found = occupancy(*limits, threads, registers, shared);
  if (!found) return std::nullopt;
  model::CounterSummary summary;
  summary.name = name;
  summary.grid = "(" + std::to_string(grid) + ", 1, 1)";
  summary.block = "(" + std::to_string(threads) + ", 1, 1)";
  summary.theoretical_occupancy_pct = found->pct;
  summary.occupancy_limiter = found->limiter;
  summary.blocks_per_sm_limit = found->blocks_per_sm;
  summary.registers_per_thread = registers;
  summary.shared_bytes_per_block = static_cast<double>(shared + limits->shared_reserved_bytes);
  summary.grid_size = static_cast<double>(grid);
  summary.block_size = threads;
  summary.note = "calculated from registers, shared memory and block size; nothing was counted";
  if (device.sm_count <= 0) return summary;
  summary.sm_count = device.sm_count;
  summary.waves_per_sm = static_cast<double>(grid) / (static_cast<double>(device.sm_count) * found->blocks_per_sm);
  if (*summary.waves_per_sm < 1 && summary.occupancy_limiter.empty()) summary.occupancy_limiter = "grid";
  return summary;
}

}  // namespace hone::counters

// One launch of a capture with the metrics hone reads, whatever page and version of Nsight Compute they came from.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "counters/numbers.hpp"
#include "model/counters.hpp"

namespace hone::counters {

enum class Field {
  duration_s,
  sm_hz,
  compute_pct,
  memory_pct,
  dram_pct,
  l1_pct,
  l2_pct,
  dram_bytes_per_s,
  dram_bytes,
  dram_bytes_read,
  dram_bytes_written,
  l1_hit_pct,
  l2_hit_pct,
  registers,
  spill_requests,
  local_loads,
  local_stores,
  occupancy_pct,
  theoretical_pct,
  limit_registers,
  limit_shared,
  limit_warps,
  limit_blocks,
  limit_barriers,
  grid_size,
  block_size,
  waves,
  sm_count,
  shared_per_block,
  shared_dynamic,
  shared_static,
  shared_driver,
  cycles_per_instruction,
  count
};

struct LaunchRecord {
  std::string id, process, device, name, grid, block, compute_capability, device_name;
  std::array<std::optional<double>, static_cast<std::size_t>(Field::count)> values;
  std::vector<model::Stall> stall_cycles;  // raw page: cycles of each reason between two instructions
  std::vector<model::Stall> stall_rules;   // details page: share of each reason that a rule speaks of
  int launches = 1;                        // that its values are averages of, in a per-kernel summary
  bool units_unknown = false;              // so that no duration, clock or number of bytes is kept

  std::optional<double>& operator[](Field field) { return values[static_cast<std::size_t>(field)]; }
  const std::optional<double>& operator[](Field field) const { return values[static_cast<std::size_t>(field)]; }
};

// Puts a metric where it belongs; names of both pages are known, all others are passed over.
void store_metric(LaunchRecord& launch, std::string_view name, std::string_view unit, std::string_view value,
                  DecimalMark mark);

// Reads a rule's text; only the stall rule says something that no metric of the details page does.
void store_rule(LaunchRecord& launch, std::string_view rule, std::string_view description);

// Whether any metric hone reads has this name.
bool is_known_metric(std::string_view name);

// The profile's name for a metric of Nsight Compute ("Achieved Occupancy" is occupancy_pct; a stall metric is its reason, "long
// scoreboard"); empty for a metric that hone does not read. And Nsight Compute's names for a metric of the profile.
std::string profile_name_of(std::string_view metric);
std::vector<std::string> metrics_of(std::string_view profile_name);

}  // namespace hone::counters

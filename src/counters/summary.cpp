#include "counters/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "counters/libraries.hpp"

namespace hone::counters {

namespace {

using model::CounterSummary;

// Configurations tried on one problem move the same bytes but for what caches make of them.
constexpr double kSameBytes = 1.25;
constexpr std::size_t kStallsShown = 3;

std::optional<double> scaled(const std::optional<double>& value, double factor) {
  if (!value) return std::nullopt;
  return *value * factor;
}

struct BlockLimit {
  Field field;
  const char* limiter;
};
// A tie is named in this order: what a kernel's author can change first comes first.
constexpr std::array kBlockLimits{
    BlockLimit{Field::limit_registers, "registers"}, BlockLimit{Field::limit_shared, "shared memory"},
    BlockLimit{Field::limit_warps, "block size"}, BlockLimit{Field::limit_blocks, "blocks per SM"},
    BlockLimit{Field::limit_barriers, "barriers"}};

void read_limits(const LaunchRecord& launch, CounterSummary& kernel) {
  std::vector<std::string> tightest;
  for (const BlockLimit& each : kBlockLimits) {
    const std::optional<double>& limit = launch[each.field];
    if (!limit || !(*limit > 0) || (kernel.blocks_per_sm_limit && *limit > *kernel.blocks_per_sm_limit)) continue;
    if (limit != kernel.blocks_per_sm_limit) tightest.clear();
    kernel.blocks_per_sm_limit = limit;
    tightest.emplace_back(each.limiter);
  }
  // At full theoretical occupancy nothing on the SM limits it, but the grid may.
  if (kernel.theoretical_occupancy_pct.value_or(0) < 99.5)
    kernel.occupancy_limiter = base::join_text(tightest, " and ");
  else if (kernel.waves_per_sm && *kernel.waves_per_sm < 1)
    kernel.occupancy_limiter = "grid";
}

std::vector<model::Stall> stalls_of(const LaunchRecord& launch) {
  std::vector<model::Stall> stalls = launch.stall_rules;
  if (!launch.stall_cycles.empty()) {
    stalls = launch.stall_cycles;
    double all = launch[Field::cycles_per_instruction].value_or(0);
    if (!(all > 0))
      for (const model::Stall& each : stalls) all += each.pct;
    for (model::Stall& each : stalls) each.pct = 100 * each.pct / all;
  }
  // Replays of a very short kernel differ, and a share of more than the whole comes out: it is the whole.
  for (model::Stall& each : stalls) each.pct = std::min(each.pct, 100.0);
  std::stable_sort(stalls.begin(), stalls.end(), [](const auto& a, const auto& b) { return a.pct > b.pct; });
  if (stalls.size() > kStallsShown) stalls.resize(kStallsShown);
  return stalls;
}

std::optional<double> shared_bytes(const LaunchRecord& launch) {
  if (launch[Field::shared_per_block]) return launch[Field::shared_per_block];
  std::optional<double> total;
  for (const Field part : {Field::shared_dynamic, Field::shared_static, Field::shared_driver})
    if (launch[part]) total = total.value_or(0) + *launch[part];
  return total;
}

std::optional<double> dram_bytes(const LaunchRecord& launch) {
  if (launch[Field::dram_bytes_per_s] && launch[Field::duration_s])
    return *launch[Field::dram_bytes_per_s] * *launch[Field::duration_s];
  if (launch[Field::dram_bytes]) return launch[Field::dram_bytes];
  if (launch[Field::dram_bytes_read] && launch[Field::dram_bytes_written])
    return *launch[Field::dram_bytes_read] + *launch[Field::dram_bytes_written];
  return std::nullopt;
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The median of each metric over launches of one shape, so that one disturbed replay does not stand for all.
LaunchRecord median_of(const std::vector<const LaunchRecord*>& launches) {
  LaunchRecord merged = *launches.front();
  for (std::size_t field = 0; field < merged.values.size(); ++field) {
    std::vector<double> values;
    for (const LaunchRecord* launch : launches)
      if (launch->values[field]) values.push_back(*launch->values[field]);
    merged.values[field] = median(std::move(values));
  }
  const auto merge_stalls = [&](auto member) {
    std::map<std::string, std::vector<double>> by_reason;
    for (const LaunchRecord* launch : launches)
      for (const model::Stall& each : launch->*member) by_reason[each.reason].push_back(each.pct);
    (merged.*member).clear();
    for (auto& [reason, values] : by_reason) (merged.*member).push_back({reason, *median(std::move(values))});
  };
  merge_stalls(&LaunchRecord::stall_cycles);
  merge_stalls(&LaunchRecord::stall_rules);
  return merged;
}

struct Kernel {
  std::vector<const LaunchRecord*> launches;
  std::vector<std::size_t> places;  // of its launches in the capture
};

using Shapes = std::map<std::pair<std::string, std::string>, std::vector<const LaunchRecord*>>;

bool same_work(const std::vector<LaunchRecord>& shapes) {
  double least = 0, most = 0;
  for (const LaunchRecord& shape : shapes) {
    const std::optional<double> bytes = dram_bytes(shape);
    if (!bytes || !(*bytes > 0)) return false;
    least = least == 0 ? *bytes : std::min(least, *bytes);
    most = std::max(most, *bytes);
  }
  return most <= kSameBytes * least;
}

CounterSummary merged(const Kernel& kernel) {
  Shapes shapes;
  for (const LaunchRecord* launch : kernel.launches) shapes[{launch->grid, launch->block}].push_back(launch);
  std::vector<LaunchRecord> medians;
  for (const auto& [shape, launches] : shapes) medians.push_back(median_of(launches));

  const std::size_t count = kernel.launches.size();
  const bool consecutive = kernel.places.back() - kernel.places.front() + 1 == count;
  const bool trials = consecutive && same_work(medians);
  const auto duration = [](const LaunchRecord& launch) { return launch[Field::duration_s].value_or(0); };
  const auto by_duration = [&](const LaunchRecord& a, const LaunchRecord& b) { return duration(a) < duration(b); };
  const LaunchRecord& chosen = trials ? *std::min_element(medians.begin(), medians.end(), by_duration)
                                      : *std::max_element(medians.begin(), medians.end(), by_duration);
  CounterSummary summary = summary_of(chosen);
  summary.launches = 0;
  for (const LaunchRecord* launch : kernel.launches) summary.launches += launch->launches;
  if (chosen.launches > 1)
    summary.note = fmt::format("averages of {} launches, from a summary per kernel", chosen.launches);
  if (count == 1) return summary;
  if (shapes.size() == 1)
    summary.note =
        fmt::format("{} launches of one grid and block (repeats or autotune trials), the median shown", count);
  else if (trials)
    summary.note =
        fmt::format("{} launches with {} grids or blocks on the same bytes: autotune trials, the fastest shown", count,
                    shapes.size());
  else
    summary.note = fmt::format("{} launches of {} sizes, the longest shown", count, shapes.size());
  return summary;
}

}  // namespace

CounterSummary summary_of(const LaunchRecord& launch) {
  CounterSummary kernel;
  kernel.name = launch.name;
  kernel.grid = launch.grid;
  kernel.block = launch.block;
  kernel.owner = library_of(launch.name);
  kernel.occupancy_pct = launch[Field::occupancy_pct];
  kernel.theoretical_occupancy_pct = launch[Field::theoretical_pct];
  kernel.compute_throughput_pct = launch[Field::compute_pct];
  kernel.memory_throughput_pct = launch[Field::memory_pct];
  kernel.dram_throughput_pct = launch[Field::dram_pct];
  kernel.l1_hit_rate_pct = launch[Field::l1_hit_pct];
  kernel.l2_hit_rate_pct = launch[Field::l2_hit_pct];
  kernel.l1_throughput_pct = launch[Field::l1_pct];
  kernel.l2_throughput_pct = launch[Field::l2_pct];
  kernel.registers_per_thread = launch[Field::registers];
  kernel.spills = launch[Field::spill_requests];
  if (!kernel.spills && launch[Field::local_loads] && launch[Field::local_stores])
    kernel.spills = *launch[Field::local_loads] + *launch[Field::local_stores];
  kernel.duration_us = scaled(launch[Field::duration_s], 1e6);
  kernel.dram_bytes = dram_bytes(launch);
  kernel.sm_clock_ghz = scaled(launch[Field::sm_hz], 1e-9);
  kernel.waves_per_sm = launch[Field::waves];
  kernel.grid_size = launch[Field::grid_size];
  kernel.block_size = launch[Field::block_size];
  kernel.sm_count = launch[Field::sm_count];
  kernel.shared_bytes_per_block = shared_bytes(launch);
  read_limits(launch, kernel);
  kernel.stalls = stalls_of(launch);
  return kernel;
}

std::vector<CounterSummary> summarize(const std::vector<LaunchRecord>& launches) {
  std::vector<Kernel> kernels;
  std::map<std::pair<std::string, std::string>, std::size_t> index;  // by device and name
  for (std::size_t place = 0; place < launches.size(); ++place) {
    const LaunchRecord& launch = launches[place];
    const auto [found, is_new] = index.try_emplace({launch.device, launch.name}, kernels.size());
    if (is_new) kernels.emplace_back();
    kernels[found->second].launches.push_back(&launch);
    kernels[found->second].places.push_back(place);
  }
  std::set<std::string> devices;
  for (const LaunchRecord& launch : launches) devices.insert(launch.device);
  std::vector<CounterSummary> summaries;
  for (const Kernel& kernel : kernels) {
    summaries.push_back(merged(kernel));
    if (devices.size() < 2) continue;
    std::string& note = summaries.back().note;
    note = "on device " + kernel.launches.front()->device + (note.empty() ? "" : ": " + note);
  }
  std::stable_partition(summaries.begin(), summaries.end(),
                        [](const CounterSummary& each) { return each.owner.empty(); });
  return summaries;
}

}  // namespace hone::counters

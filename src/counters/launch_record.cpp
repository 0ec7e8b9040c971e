// The names of metrics on both pages, as data. Sources: Nsight Compute's section files and its Kernel Profiling Guide
// (2022.1 to 2025.3), and captures of 2019 and 2020; a metric that was renamed stands here under each name.
#include "counters/launch_record.hpp"

#include <algorithm>

namespace hone::counters {

namespace {

struct Name {
  std::string_view text;
  Dimension dimension;
  Field field;
};

constexpr std::array kNames{
    // details page
    Name{"Duration", Dimension::seconds, Field::duration_s},
    Name{"SM Frequency", Dimension::hertz, Field::sm_hz},
    Name{"Compute (SM) Throughput", Dimension::percent, Field::compute_pct},
    Name{"Compute (SM) [%]", Dimension::percent, Field::compute_pct},
    Name{"SOL SM", Dimension::percent, Field::compute_pct},
    Name{"SM [%]", Dimension::percent, Field::compute_pct},
    Name{"Memory Throughput", Dimension::percent, Field::memory_pct},
    Name{"Memory [%]", Dimension::percent, Field::memory_pct},
    Name{"SOL Memory", Dimension::percent, Field::memory_pct},
    Name{"Memory Throughput", Dimension::bytes_per_second, Field::dram_bytes_per_s},
    Name{"DRAM Throughput", Dimension::percent, Field::dram_pct},
    Name{"SOL DRAM", Dimension::percent, Field::dram_pct},
    Name{"SOL FB", Dimension::percent, Field::dram_pct},
    Name{"L1/TEX Cache Throughput", Dimension::percent, Field::l1_pct},
    Name{"SOL L1/TEX Cache", Dimension::percent, Field::l1_pct},
    Name{"SOL TEX", Dimension::percent, Field::l1_pct},
    Name{"L2 Cache Throughput", Dimension::percent, Field::l2_pct},
    Name{"SOL L2 Cache", Dimension::percent, Field::l2_pct},
    Name{"SOL L2", Dimension::percent, Field::l2_pct},
    Name{"L1/TEX Hit Rate", Dimension::percent, Field::l1_hit_pct},
    Name{"L2 Hit Rate", Dimension::percent, Field::l2_hit_pct},
    Name{"Registers Per Thread", Dimension::none, Field::registers},
    Name{"Local Memory Spilling Requests", Dimension::none, Field::spill_requests},
    Name{"Achieved Occupancy", Dimension::percent, Field::occupancy_pct},
    Name{"Theoretical Occupancy", Dimension::percent, Field::theoretical_pct},
    Name{"Block Limit Registers", Dimension::none, Field::limit_registers},
    Name{"Block Limit Shared Mem", Dimension::none, Field::limit_shared},
    Name{"Block Limit Warps", Dimension::none, Field::limit_warps},
    Name{"Block Limit SM", Dimension::none, Field::limit_blocks},
    Name{"Block Limit Barriers", Dimension::none, Field::limit_barriers},
    Name{"Grid Size", Dimension::none, Field::grid_size},
    Name{"Block Size", Dimension::none, Field::block_size},
    Name{"Waves Per SM", Dimension::none, Field::waves},
    Name{"# SMs", Dimension::none, Field::sm_count},
    Name{"Dynamic Shared Memory Per Block", Dimension::bytes, Field::shared_dynamic},
    Name{"Static Shared Memory Per Block", Dimension::bytes, Field::shared_static},
    Name{"Driver Shared Memory Per Block", Dimension::bytes, Field::shared_driver},
    Name{"Warp Cycles Per Issued Instruction", Dimension::none, Field::cycles_per_instruction},
    // raw page
    Name{"gpu__time_duration.sum", Dimension::seconds, Field::duration_s},
    Name{"gpu__time_duration.avg", Dimension::seconds, Field::duration_s},
    Name{"gpc__cycles_elapsed.avg.per_second", Dimension::hertz, Field::sm_hz},
    Name{"smsp__cycles_elapsed.avg.per_second", Dimension::hertz, Field::sm_hz},
    Name{"sm__throughput.avg.pct_of_peak_sustained_elapsed", Dimension::percent, Field::compute_pct},
    Name{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", Dimension::percent, Field::memory_pct},
    Name{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", Dimension::percent, Field::dram_pct},
    Name{"dram__throughput.avg.pct_of_peak_sustained_elapsed", Dimension::percent, Field::dram_pct},
    Name{"dram__bytes.sum.per_second", Dimension::bytes_per_second, Field::dram_bytes_per_s},
    Name{"dram__bytes.sum", Dimension::bytes, Field::dram_bytes},
    Name{"dram__bytes_read.sum", Dimension::bytes, Field::dram_bytes_read},
    Name{"dram__bytes_op_read.sum", Dimension::bytes, Field::dram_bytes_read},
    Name{"fbpa__dram_read_bytes.sum", Dimension::bytes, Field::dram_bytes_read},
    Name{"dram__bytes_write.sum", Dimension::bytes, Field::dram_bytes_written},
    Name{"dram__bytes_op_write.sum", Dimension::bytes, Field::dram_bytes_written},
    Name{"fbpa__dram_write_bytes.sum", Dimension::bytes, Field::dram_bytes_written},
    Name{"l1tex__throughput.avg.pct_of_peak_sustained_active", Dimension::percent, Field::l1_pct},
    Name{"lts__throughput.avg.pct_of_peak_sustained_elapsed", Dimension::percent, Field::l2_pct},
    Name{"l1tex__t_sector_hit_rate.pct", Dimension::percent, Field::l1_hit_pct},
    Name{"lts__t_sector_hit_rate.pct", Dimension::percent, Field::l2_hit_pct},
    Name{"launch__registers_per_thread", Dimension::none, Field::registers},
    Name{"derived__local_spilling_requests", Dimension::none, Field::spill_requests},
    Name{"smsp__sass_inst_executed_op_local_ld.sum", Dimension::none, Field::local_loads},
    Name{"smsp__inst_executed_op_local_ld.sum", Dimension::none, Field::local_loads},
    Name{"smsp__sass_inst_executed_op_local_st.sum", Dimension::none, Field::local_stores},
    Name{"smsp__inst_executed_op_local_st.sum", Dimension::none, Field::local_stores},
    Name{"sm__warps_active.avg.pct_of_peak_sustained_active", Dimension::percent, Field::occupancy_pct},
    Name{"sm__maximum_warps_per_active_cycle_pct", Dimension::percent, Field::theoretical_pct},
    Name{"launch__occupancy_limit_registers", Dimension::none, Field::limit_registers},
    Name{"launch__occupancy_limit_shared_mem", Dimension::none, Field::limit_shared},
    Name{"launch__occupancy_limit_warps", Dimension::none, Field::limit_warps},
    Name{"launch__occupancy_limit_blocks", Dimension::none, Field::limit_blocks},
    Name{"launch__occupancy_limit_barriers", Dimension::none, Field::limit_barriers},
    Name{"launch__grid_size", Dimension::none, Field::grid_size},
    Name{"launch__block_size", Dimension::none, Field::block_size},
    Name{"launch__waves_per_multiprocessor", Dimension::none, Field::waves},
    Name{"launch__sm_count", Dimension::none, Field::sm_count},
    Name{"device__attribute_multiprocessor_count", Dimension::none, Field::sm_count},
    Name{"launch__shared_mem_per_block", Dimension::bytes, Field::shared_per_block},
    Name{"launch__shared_mem_per_block_dynamic", Dimension::bytes, Field::shared_dynamic},
    Name{"launch__shared_mem_per_block_static", Dimension::bytes, Field::shared_static},
    Name{"launch__shared_mem_per_block_driver", Dimension::bytes, Field::shared_driver},
    Name{"smsp__average_warp_latency_per_inst_issued.ratio", Dimension::none, Field::cycles_per_instruction},
};

constexpr std::string_view kStallPrefix = "smsp__average_warps_issue_stalled_";
constexpr std::string_view kStallSuffix = "_per_issue_active.ratio";
constexpr std::string_view kDeviceName = "device__attribute_display_name";

struct RuleText {
  std::string_view part;
  const char* reason;
};
// What the stall rule's sentence says for each reason. The L1TEX sentence must stand before the general scoreboard one.
constexpr std::array kRuleTexts{
    RuleText{"dependency on a L1TEX", "long scoreboard"},
    RuleText{"scoreboard dependency", "short scoreboard"},
    RuleText{"at a CTA barrier", "barrier"},
    RuleText{"MIO (memory input/output)", "mio throttle"},
    RuleText{"local and global (LG)", "lg throttle"},
    RuleText{"for texture operations", "tex throttle"},
    RuleText{"TEX", "tex throttle"},
    RuleText{"execution pipe", "math pipe throttle"},
    RuleText{"after EXIT", "drain"},
    RuleText{"fetch an instruction", "no instruction"},
    RuleText{"next instruction to be fetched", "no instruction"},
    RuleText{"fixed latency execution", "wait"},
    RuleText{"immediate constant cache", "imc miss"},
    RuleText{"branch target", "branch resolving"},
    RuleText{"dispatcher", "dispatch stall"},
    RuleText{"memory barrier", "membar"},
    RuleText{"to select the warp", "not selected"},
    RuleText{"blocked, yielded or sleeping", "sleeping"},
    RuleText{"blocked, yielded, or sleeping", "sleeping"},
};

// Fields that stay as they are in every unit, and those that must be in the dimension the name stands for.
bool fits(Dimension wanted, Dimension found) {
  if (wanted == found) return true;
  return wanted == Dimension::none && found == Dimension::other;
}

bool is_stall_metric(std::string_view name) {
  return name.size() > kStallPrefix.size() + kStallSuffix.size() &&
         name.substr(0, kStallPrefix.size()) == kStallPrefix &&
         name.substr(name.size() - kStallSuffix.size()) == kStallSuffix;
}

// "long scoreboard" of smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio.
std::string stall_reason(std::string_view metric) {
  std::string words(metric.substr(kStallPrefix.size(), metric.size() - kStallPrefix.size() - kStallSuffix.size()));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words == "no instructions" ? "no instruction" : words;
}

void store_stall(LaunchRecord& launch, const std::string& reason, double cycles) {
  if (reason == "selected" || !(cycles > 0)) return;  // an issuing warp is not stalled
  launch.stall_cycles.push_back({reason, cycles});
}

const char* profile_name(Field field) {
  switch (field) {
    case Field::duration_s: return "duration_us";
    case Field::sm_hz: return "sm_clock_ghz";
    case Field::compute_pct: return "compute_throughput_pct";
    case Field::memory_pct: return "memory_throughput_pct";
    case Field::dram_pct: return "dram_throughput_pct";
    case Field::l1_pct: return "l1_throughput_pct";
    case Field::l2_pct: return "l2_throughput_pct";
    case Field::dram_bytes_per_s:
    case Field::dram_bytes:
    case Field::dram_bytes_read:
    case Field::dram_bytes_written: return "dram_bytes";
    case Field::l1_hit_pct: return "l1_hit_rate_pct";
    case Field::l2_hit_pct: return "l2_hit_rate_pct";
    case Field::registers: return "registers_per_thread";
    case Field::spill_requests:
    case Field::local_loads:
    case Field::local_stores: return "spills";
    case Field::occupancy_pct: return "occupancy_pct";
    case Field::theoretical_pct: return "theoretical_occupancy_pct";
    case Field::limit_registers:
    case Field::limit_shared:
    case Field::limit_warps:
    case Field::limit_blocks:
    case Field::limit_barriers: return "blocks_per_sm_limit";
    case Field::grid_size: return "grid_size";
    case Field::block_size: return "block_size";
    case Field::waves: return "waves_per_sm";
    case Field::sm_count: return "sm_count";
    case Field::shared_per_block:
    case Field::shared_dynamic:
    case Field::shared_static:
    case Field::shared_driver: return "shared_bytes_per_block";
    case Field::cycles_per_instruction: return "stalls";
    case Field::count: break;
  }
  return "";
}

}  // namespace

bool is_known_metric(std::string_view name) {
  if (name == kDeviceName) return true;
  if (name.substr(0, kStallPrefix.size()) == kStallPrefix) return true;
  return std::any_of(kNames.begin(), kNames.end(), [&](const Name& each) { return each.text == name; });
}

std::string profile_name_of(std::string_view metric) {
  if (is_stall_metric(metric)) return stall_reason(metric);
  for (const Name& each : kNames)
    if (each.text == metric) return profile_name(each.field);
  return "";
}

std::vector<std::string> metrics_of(std::string_view wanted) {
  std::vector<std::string> names;
  for (const Name& each : kNames) {
    // A name that stands for two metrics, by its unit, is the first one's.
    if (profile_name_of(each.text) != wanted || std::find(names.begin(), names.end(), each.text) != names.end())
      continue;
    names.emplace_back(each.text);
  }
  return names;
}

void store_metric(LaunchRecord& launch, std::string_view name, std::string_view unit_text, std::string_view text,
                  DecimalMark mark) {
  if (name == kDeviceName) {
    launch.device_name = text;
    return;
  }
  const std::optional<double> value = parse_number(text, mark);
  if (!value || *value < 0) return;  // counts, times and shares: none can be negative
  if (is_stall_metric(name)) {
    store_stall(launch, stall_reason(name), *value);
    return;
  }
  const Unit unit = parse_unit(unit_text);
  for (const Name& each : kNames) {
    if (each.text != name || !fits(each.dimension, unit.dimension)) continue;
    std::optional<double>& field = launch[each.field];
    if (!field) field = *value * (each.dimension == unit.dimension ? unit.factor : 1);
    return;
  }
}

void store_rule(LaunchRecord& launch, std::string_view rule, std::string_view description) {
  constexpr std::string_view kShare = "represents about ";
  if (rule != "CPIStall") return;
  const std::size_t share = description.find(kShare);
  if (share == std::string_view::npos) return;
  const std::size_t begin = share + kShare.size(), end = description.find('%', begin);
  if (end == std::string_view::npos) return;
  // Rules write their numbers themselves, in their own way: 54.0 also where the columns say 54,0. A share has no groups.
  const std::string_view number = description.substr(begin, end - begin);
  const DecimalMark mark = number.find(',') == std::string_view::npos ? DecimalMark::point : DecimalMark::comma;
  const std::optional<double> pct = parse_number(number, mark);
  // The sentence on the reason comes first; later ones give advice and name other reasons.
  const std::string_view first = description.substr(0, std::min(description.find(". "), description.size()));
  if (!pct || !(*pct > 0)) return;
  for (const RuleText& each : kRuleTexts) {
    if (first.find(each.part) == std::string_view::npos) continue;
    launch.stall_rules.push_back({each.reason, *pct});
    return;
  }
}

}  // namespace hone::counters

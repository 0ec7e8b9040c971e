// Block 4 of profile.md: hardware counters, or the experiments that stand in for them.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "render/documents/profile_blocks.hpp"
#include "render/format.hpp"
#include "render/plots/roofline.hpp"
#include "render/profile_view.hpp"

namespace hone::render {

namespace {

using model::CounterSummary;

// Assessments in words. Thresholds are reading aids, not the classification, which block 5 makes from all evidence.
std::string occupancy_in_words(const CounterSummary& kernel) {
  if (!kernel.occupancy_pct) return "";
  const double achieved = *kernel.occupancy_pct;
  std::string text = achieved < 25   ? "low: few warps to hide latency behind"
                     : achieved < 50 ? "moderate"
                                     : "enough warps to hide latency";
  const bool gap = kernel.theoretical_occupancy_pct && achieved < 0.7 * *kernel.theoretical_occupancy_pct;
  if (gap) text += "; well under the theoretical value, so blocks are too few or unevenly long";
  if (!kernel.occupancy_limiter.empty()) text += "; limited by " + kernel.occupancy_limiter;
  return text;
}

std::string throughput_in_words(std::optional<double> pct) {
  if (!pct) return "";
  return *pct >= 80   ? "near its limit"
         : *pct >= 60 ? "busy"
         : *pct >= 40 ? "half used"
         : *pct >= 20 ? "less than half used"
                      : "mostly idle";
}

std::string hit_rate_in_words(std::optional<double> pct) {
  if (!pct) return "";
  return *pct < 10 ? "hardly any reuse, as in streaming" : *pct < 60 ? "some reuse" : "most requests are served here";
}

std::string registers_in_words(std::optional<double> count) {
  if (!count) return "";
  return *count > 128 ? "many: they limit the warps of an SM" : *count > 64 ? "moderate" : "few";
}

std::string spills_in_words(std::optional<double> count) {
  if (!count) return "";
  return *count > 0 ? "registers are spilled to memory: extra traffic" : "none";
}

std::string shown(std::optional<double> value, const std::string& unit) {
  return value ? figure(*value) + unit : "not in this capture";
}

std::string shown_percent(std::optional<double> value) { return value ? percent(*value) : "not in this capture"; }

std::string shown_count(std::optional<double> value) {
  if (!value) return "not in this capture";
  return *value == std::floor(*value) && std::fabs(*value) < 1e15 ? fmt::format("{:.0f}", *value) : figure(*value);
}

std::string assessed(const std::string& words) { return known(words, "no assessment without the number"); }

void write_kernel(Markdown& page, const CounterSummary& kernel) {
  page.formatted("### " + markdown_code(known(kernel.name, "unnamed kernel")));
  std::string line = "Grid " + known(kernel.grid, "not known") + ", block " + known(kernel.block, "not known");
  line += kernel.launches > 1 ? ", " + std::to_string(kernel.launches) + " launches" : "";
  page.paragraph(line + "." + (kernel.note.empty() ? "" : " " + sentence(kernel.note)));
  Table table({{"Metric"}, {"Value", Align::right}, {"Assessment"}});
  table.add_row({"SM Occupancy, achieved", shown_percent(kernel.occupancy_pct), assessed(occupancy_in_words(kernel))});
  table.add_row({"SM Occupancy, theoretical", shown_percent(kernel.theoretical_occupancy_pct),
                 "what registers, shared memory and block size allow"});
  table.add_row({"Compute Throughput", shown_percent(kernel.compute_throughput_pct),
                 assessed(throughput_in_words(kernel.compute_throughput_pct))});
  table.add_row({"Memory Throughput", shown_percent(kernel.memory_throughput_pct),
                 assessed(throughput_in_words(kernel.memory_throughput_pct))});
  table.add_row(
      {"L1 Hit Rate", shown_percent(kernel.l1_hit_rate_pct), assessed(hit_rate_in_words(kernel.l1_hit_rate_pct))});
  table.add_row(
      {"L2 Hit Rate", shown_percent(kernel.l2_hit_rate_pct), assessed(hit_rate_in_words(kernel.l2_hit_rate_pct))});
  table.add_row({"Registers per Thread", shown_count(kernel.registers_per_thread),
                 assessed(registers_in_words(kernel.registers_per_thread))});
  table.add_row({"Spills", shown_count(kernel.spills), assessed(spills_in_words(kernel.spills))});
  table.add_row({"Duration under the profiler", shown(kernel.duration_us, " us"),
                 "not comparable with the times of block 3: other clocks, caches and replay"});
  page.table(table);
  std::string stalls;
  for (const model::Stall& stall : kernel.stalls)
    stalls += (stalls.empty() ? "" : ", ") + stall.reason + " " + percent(stall.pct);
  page.paragraph("Top warp stalls: " + known(stalls, "not in this capture") + ".");
  if (!kernel.instructions.empty()) page.paragraph("Machine code, as it stands: " + sentence(kernel.instructions));
}

std::string whole(std::optional<double> value) { return value ? shown_count(value) : "not known"; }

// Launches of which nothing was counted: what registers, shared memory, block size and grid alone allow.
void write_calculated(Markdown& page, const model::Counters& counters) {
  Table table({{"Kernel"},
               {"Grid"},
               {"Threads", Align::right},
               {"Registers", Align::right},
               {"Shared memory", Align::right},
               {"Programs an SM", Align::right},
               {"Occupancy at most", Align::right},
               {"Limited by"},
               {"Waves", Align::right}});
  std::vector<std::string> codes;
  for (const CounterSummary& kernel : counters.kernels) {
    if (!kernel.owner.empty() || kernel.counted()) continue;
    table.add_row({markdown_code(known(kernel.name, "unnamed kernel")), known(kernel.grid, "not known"),
                   whole(kernel.block_size), whole(kernel.registers_per_thread),
                   kernel.shared_bytes_per_block ? bytes(*kernel.shared_bytes_per_block) : "not known",
                   whole(kernel.blocks_per_sm_limit),
                   kernel.theoretical_occupancy_pct ? percent(*kernel.theoretical_occupancy_pct) : "not known",
                   known(kernel.occupancy_limiter, "nothing"),
                   kernel.waves_per_sm ? figure(*kernel.waves_per_sm) : "not known"});
    if (!kernel.instructions.empty()) codes.push_back(kernel.name + ": " + kernel.instructions);
  }
  if (table.empty()) return;
  page.heading(3, "Occupancy by calculation");
  page.table(table);
  page.paragraph("From registers, shared memory, block size and grid; nothing of this was counted.");
  if (!codes.empty()) page.paragraph("Machine code, as it stands:");
  page.bullets(codes);
}

// A capture without a filter holds the kernels of libraries too: named, and left to their authors.
void write_library_kernels(Markdown& page, const model::Counters& counters) {
  Table table({{"Kernel"}, {"Of"}, {"Launches", Align::right}, {"Duration under the profiler", Align::right}});
  for (const CounterSummary& kernel : counters.kernels)
    if (!kernel.owner.empty())
      table.add_row({markdown_code(known(kernel.name, "unnamed kernel")), kernel.owner, std::to_string(kernel.launches),
                     shown(kernel.duration_us, " us")});
  if (table.empty()) return;
  page.heading(3, "Kernels of libraries in the same capture");
  page.table(table);
}

void write_experiments(Markdown& page, const model::Profile& profile) {
  if (profile.counters.experiments.empty()) return;
  page.heading(3, "Experiments without counters");
  Table table({{"Experiment"},
               {known(profile.baseline.x_name, "x value"), Align::right},
               {"Mode"},
               {"Time over unchanged", Align::right},
               {"What it shows"}});
  for (const model::Experiment& one : profile.counters.experiments)
    table.add_row({one.name + (one.parameter.empty() ? "" : ", " + one.parameter), one.x_value, one.mode,
                   ratio_interval(one.ratio, one.ci_low, one.ci_high),
                   known(one.observation, "no observation recorded")});
  page.table(table);
  page.paragraph(
      "Each is the same pass with one thing changed, paired with the unchanged pass; below 1 means the changed one is "
      "faster.");
}

}  // namespace

void write_counters(Markdown& page, const model::Profile& profile) {
  const model::Counters& counters = profile.counters;
  page.heading(2, "4. NCU Profiling Summary");
  if (counters.status == "available") {
    page.formatted("**Status: available**" +
                   (counters.route.empty() ? "" : " (" + markdown_text(counters.route) + ").") +
                   (counters.reason.empty() ? "" : " " + markdown_text(sentence(counters.reason))));
  } else {
    page.formatted("**Status: unavailable.** " +
                   markdown_text(sentence(known(counters.reason, "the reason was not recorded"))));
    page.paragraph("To get them: " + sentence(known(counters.remedy, "no remedy is known")));
  }
  int number = 0;
  for (const CounterSummary& kernel : counters.kernels) {
    if (!kernel.owner.empty()) continue;
    ++number;  // as the files of profile_plots are numbered
    if (!kernel.counted()) continue;
    write_kernel(page, kernel);
    if (!stall_bar(kernel).empty())
      page.formatted("![Warp stalls of " + markdown_text(kernel.name) + "](" + stall_bar_name(number) + ")");
  }
  write_calculated(page, counters);
  write_library_kernels(page, counters);
  if (!counters.cpu_events.empty()) {
    page.heading(3, "CPU events");
    Table table({{"Event"}, {"Value", Align::right}});
    for (const auto& [name, value] : counters.cpu_events) table.add_row({name, figure(value)});
    page.table(table);
  }
  write_experiments(page, profile);
  if (counters.kernels.empty() && counters.experiments.empty() && counters.cpu_events.empty())
    page.paragraph("No experiment stands in for them: block 5 rests on times and source alone.");
}

}  // namespace hone::render

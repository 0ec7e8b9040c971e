// The fields of hardware counters and of the experiments that stand in for them.
#pragma once

#include <utility>

#include "model/counters.hpp"
#include "model/fields.hpp"

namespace hone::model {

void fields(auto& archive, of<Stall> auto& stall) {
  archive.required("reason", stall.reason);
  archive.required("pct", stall.pct, As::not_negative);
}

// A metric that is absent is null, so that a reader can tell "not captured" from zero.
void fields(auto& archive, of<CounterSummary> auto& kernel) {
  archive.required("name", kernel.name);
  archive.optional("grid", kernel.grid);
  archive.optional("block", kernel.block);
  archive.optional("occupancy_pct", kernel.occupancy_pct);
  archive.optional("theoretical_occupancy_pct", kernel.theoretical_occupancy_pct);
  archive.optional("compute_throughput_pct", kernel.compute_throughput_pct);
  archive.optional("memory_throughput_pct", kernel.memory_throughput_pct);
  archive.optional("dram_throughput_pct", kernel.dram_throughput_pct);
  archive.optional("l1_hit_rate_pct", kernel.l1_hit_rate_pct);
  archive.optional("l2_hit_rate_pct", kernel.l2_hit_rate_pct);
  archive.optional("registers_per_thread", kernel.registers_per_thread);
  archive.optional("spills", kernel.spills);
  archive.optional("duration_us", kernel.duration_us);
  archive.optional("l1_throughput_pct", kernel.l1_throughput_pct);
  archive.optional("l2_throughput_pct", kernel.l2_throughput_pct);
  archive.optional("dram_bytes", kernel.dram_bytes);
  archive.optional("sm_clock_ghz", kernel.sm_clock_ghz);
  archive.optional("waves_per_sm", kernel.waves_per_sm);
  archive.optional("grid_size", kernel.grid_size);
  archive.optional("block_size", kernel.block_size);
  archive.optional("sm_count", kernel.sm_count);
  archive.optional("blocks_per_sm_limit", kernel.blocks_per_sm_limit);
  archive.optional("shared_bytes_per_block", kernel.shared_bytes_per_block);
  archive.optional("occupancy_limiter", kernel.occupancy_limiter);
  archive.optional("stalls", kernel.stalls);
  archive.optional("library", kernel.owner);
  archive.optional("launches", kernel.launches);
  archive.optional("note", kernel.note);
  archive.optional("instructions", kernel.instructions);
  archive.optional("pass", kernel.pass);
}

void fields(auto& archive, of<Experiment> auto& experiment) {
  archive.required("name", experiment.name);
  archive.required("x_value", experiment.x_value, As::x_value);
  archive.required("mode", experiment.mode);
  archive.optional("parameter", experiment.parameter);
  archive.required("ratio", experiment.ratio, As::not_negative);
  archive.optional("ci_low", experiment.ci_low);
  archive.optional("ci_high", experiment.ci_high);
  archive.optional("observation", experiment.observation);
}

void fields(auto& archive, of<std::pair<std::string, double>> auto& event) {
  archive.required("name", event.first);
  archive.required("value", event.second);
}

void fields(auto& archive, of<Counters> auto& counters) {
  archive.required("status", counters.status);
  archive.check(counters.status == "available" || counters.status == "unavailable", "status",
                "available or unavailable", [&] { return "'" + counters.status.substr(0, 80) + "'"; });
  archive.optional("reason", counters.reason);
  archive.optional("remedy", counters.remedy);
  archive.optional("route", counters.route);
  archive.required("kernels", counters.kernels);
  archive.optional("experiments", counters.experiments);
  archive.optional("cpu_events", counters.cpu_events);
}

}  // namespace hone::model

#include <optional>

#include "model/json_parts.hpp"

namespace hone::model {

namespace {

// The numbers of a capture: absent ones are null, so that a reader can tell "not captured" from zero.
struct Metric {
  const char* name;
  std::optional<double> CounterSummary::*field;
};

constexpr Metric metrics[] = {{"occupancy_pct", &CounterSummary::occupancy_pct},
                              {"theoretical_occupancy_pct", &CounterSummary::theoretical_occupancy_pct},
                              {"compute_throughput_pct", &CounterSummary::compute_throughput_pct},
                              {"memory_throughput_pct", &CounterSummary::memory_throughput_pct},
                              {"dram_throughput_pct", &CounterSummary::dram_throughput_pct},
                              {"l1_hit_rate_pct", &CounterSummary::l1_hit_rate_pct},
                              {"l2_hit_rate_pct", &CounterSummary::l2_hit_rate_pct},
                              {"registers_per_thread", &CounterSummary::registers_per_thread},
                              {"spills", &CounterSummary::spills},
                              {"duration_us", &CounterSummary::duration_us},
                              {"l1_throughput_pct", &CounterSummary::l1_throughput_pct},
                              {"l2_throughput_pct", &CounterSummary::l2_throughput_pct},
                              {"dram_bytes", &CounterSummary::dram_bytes},
                              {"sm_clock_ghz", &CounterSummary::sm_clock_ghz},
                              {"waves_per_sm", &CounterSummary::waves_per_sm},
                              {"grid_size", &CounterSummary::grid_size},
                              {"block_size", &CounterSummary::block_size},
                              {"sm_count", &CounterSummary::sm_count},
                              {"blocks_per_sm_limit", &CounterSummary::blocks_per_sm_limit},
                              {"shared_bytes_per_block", &CounterSummary::shared_bytes_per_block}};

}  // namespace

Json json_of(const CounterSummary& kernel) {
  Json object = Json::object({{"name", kernel.name}, {"grid", kernel.grid}, {"block", kernel.block}});
  for (const Metric& metric : metrics) object.add(metric.name, kernel.*metric.field);
  object.add("occupancy_limiter", kernel.occupancy_limiter);
  object.add("stalls", Json::list(kernel.stalls, [](const Stall& stall) {
               return Json::object({{"reason", stall.reason}, {"pct", stall.pct}});
             }));
  object.add("library", kernel.owner);
  object.add("launches", kernel.launches);
  object.add("note", kernel.note);
  object.add("instructions", kernel.instructions);
  object.add("pass", kernel.pass);
  return object;
}

namespace {

CounterSummary read_kernel(const JsonFields& fields) {
  CounterSummary kernel;
  kernel.name = fields.text("name");
  kernel.grid = fields.text_or("grid", "");
  kernel.block = fields.text_or("block", "");
  for (const Metric& metric : metrics) kernel.*metric.field = fields.optional_number(metric.name);
  kernel.occupancy_limiter = fields.text_or("occupancy_limiter", "");
  if (fields.has("stalls"))
    for (const JsonFields& stall : fields.objects("stalls"))
      kernel.stalls.push_back({stall.text("reason"), stall.not_negative("pct")});
  kernel.owner = fields.text_or("library", "");
  kernel.launches = fields.count_or("launches", 1);
  kernel.note = fields.text_or("note", "");
  kernel.instructions = fields.text_or("instructions", "");
  kernel.pass = fields.text_or("pass", "");
  return kernel;
}

Json experiment_json(const Experiment& experiment) {
  return Json::object({{"name", experiment.name},
                       {"x_value", x_value_json(experiment.x_value)},
                       {"mode", experiment.mode},
                       {"parameter", experiment.parameter},
                       {"ratio", experiment.ratio},
                       {"ci_low", experiment.ci_low},
                       {"ci_high", experiment.ci_high},
                       {"observation", experiment.observation}});
}

Experiment read_experiment(const JsonFields& fields) {
  Experiment experiment;
  experiment.name = fields.text("name");
  experiment.x_value = fields.x_value();
  experiment.mode = fields.text("mode");
  experiment.parameter = fields.text_or("parameter", "");
  experiment.ratio = fields.not_negative("ratio");
  experiment.ci_low = fields.number_or("ci_low", 0);
  experiment.ci_high = fields.number_or("ci_high", 0);
  experiment.observation = fields.text_or("observation", "");
  return experiment;
}

}  // namespace

Json json_of(const Counters& counters) {
  return Json::object({{"status", counters.status},
                       {"reason", counters.reason},
                       {"remedy", counters.remedy},
                       {"route", counters.route},
                       {"kernels", Json::list(counters.kernels, [](const auto& kernel) { return json_of(kernel); })},
                       {"experiments", Json::list(counters.experiments, experiment_json)},
                       {"cpu_events", Json::list(counters.cpu_events, [](const auto& event) {
                          return Json::object({{"name", event.first}, {"value", event.second}});
                        })}});
}

Counters read_counters(const JsonFields& fields) {
  Counters counters;
  counters.status = fields.text("status");
  if (counters.status != "available" && counters.status != "unavailable")
    fields.refuse("status", "available or unavailable", "'" + counters.status.substr(0, 80) + "'");
  counters.reason = fields.text_or("reason", "");
  counters.remedy = fields.text_or("remedy", "");
  counters.route = fields.text_or("route", "");
  for (const JsonFields& kernel : fields.objects("kernels")) counters.kernels.push_back(read_kernel(kernel));
  if (fields.has("experiments"))
    for (const JsonFields& one : fields.objects("experiments")) counters.experiments.push_back(read_experiment(one));
  if (fields.has("cpu_events"))
    for (const JsonFields& event : fields.objects("cpu_events"))
      counters.cpu_events.emplace_back(event.text("name"), event.number("value"));
  return counters;
}

}  // namespace hone::model

#include "diagnose/evidence.hpp"

#include <fmt/format.h>

#include <cctype>

namespace hone::diagnose {

namespace {

using model::BottleneckClass;
using model::EvidenceRow;
using model::Source;

std::string against(BottleneckClass cls) { return std::string("against ") + model::word(cls); }

class Table {
 public:
  void add(const std::string& signal, const std::string& observation, const std::string& supports, Source source) {
    rows_.push_back({signal, observation, supports, source});
  }
  void add(const std::string& signal, const std::string& observation, BottleneckClass cls, Source source) {
    add(signal, observation, model::word(cls), source);
  }
  void append(const std::vector<EvidenceRow>& rows) { rows_.insert(rows_.end(), rows.begin(), rows.end()); }
  std::size_t size() const { return rows_.size(); }
  std::vector<EvidenceRow> take() { return std::move(rows_); }

 private:
  std::vector<EvidenceRow> rows_;
};

void add_shares(const PassFacts& facts, Table& table) {
  if (known(facts.memory_share_pct)) {
    std::string text = percent(facts.memory_share_pct) + " of the measured bandwidth";
    if (facts.bytes > 0)
      text = fmt::format("at least {} in {}: {}", bytes_text(facts.bytes), milliseconds(facts.measured_ms), text);
    if (facts.bandwidth_ceiling > 0) text += " of " + bandwidth(facts.bandwidth_ceiling);
    table.add(facts.mode + ": share of bandwidth", text,
              facts.memory_share_pct >= kBusy ? model::word(BottleneckClass::memory_bound)
                                              : against(BottleneckClass::memory_bound),
              Source::measured);
  }
  if (known(facts.compute_share_pct))
    table.add(facts.mode + ": share of arithmetic",
              fmt::format("{} operations counted: {} of the measured FMA rate", amount(facts.flops),
                          percent(facts.compute_share_pct)),
              facts.compute_share_pct >= kBusy ? model::word(BottleneckClass::compute_bound)
                                               : against(BottleneckClass::compute_bound),
              Source::measured);
}

std::string ratio_text(const model::Experiment& experiment) {
  std::string text = percent(100 * experiment.ratio) + " of its time";
  if (experiment.ci_low > 0 && experiment.ci_high >= experiment.ci_low)
    text += fmt::format(" (interval {} to {})", percent(100 * experiment.ci_low), percent(100 * experiment.ci_high));
  return text;
}

// An interval that holds the border between two answers, or more than a fifth of the pass beside the whole of it, decides
// nothing: the median in it is noise.
bool decides(const model::Experiment& experiment) {
  constexpr double kWidest = 0.2;
  const double low = experiment.ci_low, high = experiment.ci_high;
  if (!(low > 0) || !(high >= low)) return true;  // no interval was kept
  const bool across_border = 100 * low < kBusy && 100 * high >= kBusy;
  const bool across_whole = low < 1 && high > 1 && high - low > kWidest;
  return !across_border && !across_whole;
}

void add_ablations(const PassFacts& facts, Table& table) {
  if (facts.no_compute)
    table.add(facts.mode + ": no-compute ablation",
              "same bytes without the arithmetic: " + ratio_text(*facts.no_compute),
              !decides(*facts.no_compute)             ? "nothing"
              : 100 * facts.no_compute->ratio < kBusy ? against(BottleneckClass::memory_bound)
              : 100 * facts.no_compute->ratio >= kAblationWhole && facts.memory_share_pct < kBandwidthBound
                  ? model::word(BottleneckClass::latency_bound)
                  : model::word(BottleneckClass::memory_bound),
              Source::measured);
  if (facts.no_memory)
    table.add(facts.mode + ": no-memory ablation",
              "same arithmetic on data in the first-level cache: " + ratio_text(*facts.no_memory),
              !decides(*facts.no_memory)             ? "nothing"
              : 100 * facts.no_memory->ratio < kBusy ? against(BottleneckClass::compute_bound)
                                                     : model::word(BottleneckClass::compute_bound),
              Source::measured);
}

// One thread against all: memory that is shared does not scale, arithmetic does. Scaling in between says nothing.
void add_threads(const PassVerdict& pass, int cores, Table& table) {
  if (!pass.facts.threads || cores < 2) return;
  const double ratio = pass.facts.threads->ratio;
  const std::string text = fmt::format("one thread takes {} the time of all {}", times(ratio), cores);
  if (ratio < 1.25)
    table.add(pass.facts.mode + ": thread scaling", text + ": one core fills what the cores share",
              BottleneckClass::memory_bound, Source::measured);
  else if (ratio >= 0.8 * cores && pass.facts.memory_share_pct < kBusy)
    table.add(pass.facts.mode + ": thread scaling", text + ": the cores do not wait for each other",
              against(BottleneckClass::memory_bound), Source::measured);
}

// Warps in flight cover latency: where more of them help the pass waits, where fewer do no harm it does not.
void add_warps(const PassFacts& facts, Table& table) {
  std::string text;
  const auto add = [&](const std::optional<model::Experiment>& experiment, const char* words) {
    if (experiment)
      text += (text.empty() ? "" : "; ") +
              fmt::format("{} ({}): {}", words, experiment->parameter, ratio_text(*experiment));
  };
  add(facts.fewer_warps, "fewer warps a program");
  add(facts.more_warps, "more warps a program");
  if (text.empty()) return;
  std::string supports = "nothing";
  const bool helps = facts.more_warps && 100 * facts.more_warps->ci_high <= 100 - kWarpsMatter;
  const bool harmless = facts.fewer_warps && 100 * facts.fewer_warps->ci_high <= 100 + kWarpsMatter;
  if (helps)
    supports = model::word(BottleneckClass::latency_bound);
  else if (harmless)
    supports = against(BottleneckClass::latency_bound);
  table.add(facts.mode + ": warps sweep", text, supports, Source::measured);
}

void add_size_scaling(const PassFacts& facts, Table& table) {
  const double fixed = facts.fixed_share_pct();
  if (!known(fixed)) return;
  table.add(
      facts.mode + ": size scaling",
      fmt::format("at {} {} of the bytes take {}: {} of the time does not shrink with the work",
                  facts.size_scaling->parameter, percent(100 * facts.smaller_bytes / facts.bytes),
                  ratio_text(*facts.size_scaling), percent(fixed)),
      fixed >= kFixedCosts ? model::word(BottleneckClass::latency_bound) : against(BottleneckClass::latency_bound),
      Source::measured);
}

// What a launch can have in flight, where nothing was counted.
void add_calculated(const PassFacts& facts, Table& table) {
  if (!facts.kernels.empty() || facts.calculated.empty()) return;
  const model::CounterSummary& kernel = *facts.calculated.front();
  const double attainable = attainable_occupancy_pct(kernel);
  if (!known(attainable)) return;
  std::string text = fmt::format("at most {} of the warps in flight", percent(attainable));
  if (kernel.registers_per_thread) text += fmt::format("; {:.0f} registers a thread", *kernel.registers_per_thread);
  if (kernel.blocks_per_sm_limit) text += fmt::format(", {:.0f} programs fit an SM", *kernel.blocks_per_sm_limit);
  if (kernel.waves_per_sm) text += fmt::format(", {} waves", number(*kernel.waves_per_sm));
  if (!kernel.occupancy_limiter.empty()) text += ", limited by " + kernel.occupancy_limiter;
  table.add(facts.mode + ": occupancy, calculated", text,
            attainable < kBalancedOccupancy ? model::word(BottleneckClass::latency_bound)
                                            : against(BottleneckClass::latency_bound),
            Source::source_code);
}

// The rows of the pass's longest captured kernel, named after the pass.
void add_counters(const model::Profile& profile, const PassFacts& facts, Table& table) {
  if (facts.kernels.empty()) return;
  const model::CounterSummary& kernel = *facts.kernels.front();
  std::vector<EvidenceRow> rows = launch_evidence(kernel, launch_facts(kernel, profile.device));
  for (EvidenceRow& row : rows) {
    const bool acronym = row.signal.size() > 1 && std::isupper(static_cast<unsigned char>(row.signal[1])) != 0;
    const bool digit = row.signal.size() > 1 && std::isdigit(static_cast<unsigned char>(row.signal[1])) != 0;
    if (!acronym && !digit) row.signal[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(row.signal[0])));
    row.signal = facts.mode + ": " + row.signal;
  }
  table.append(rows);
}

// What each route says alone, side by side.
void add_routes(const PassVerdict& pass, Table& table) {
  std::string text;
  int routes = 0, agree = 0;
  const std::pair<const char*, std::optional<BottleneckClass>> each[] = {
      {"shares of the ceilings", pass.by_ceiling}, {"ablations", pass.by_ablation}, {"counters", pass.by_counters}};
  for (const auto& [name, cls] : each) {
    if (!cls) continue;
    ++routes;
    agree += *cls == pass.cls ? 1 : 0;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, model::word(*cls));
  }
  if (routes < 2) return;
  table.add(pass.facts.mode + ": routes", text + (agree == routes ? "; they agree" : "; they differ"),
            agree == routes ? model::word(pass.cls) : "nothing", Source::measured);
}

// Operations for each byte against the machine's own ratio: what a kernel would be if it used both units perfectly.
void add_intensity(const model::Profile& profile, const PassFacts& facts, Table& table) {
  const double fma = profile.device.ceilings.p50("fma_flops_per_s"),
               copy = profile.device.ceilings.p50("copy_bytes_per_s");
  if (!(fma > 0) || !(copy > 0) || !(facts.bytes > 0) || !(facts.flops > 0)) return;
  const double intensity = facts.flops / facts.bytes, balance = fma / copy;
  table.add(facts.mode + ": arithmetic intensity",
            fmt::format("{} operations for each byte, the device balances at {}", number(intensity), number(balance)),
            intensity < balance ? BottleneckClass::memory_bound : BottleneckClass::compute_bound, Source::source_code);
}

void add_host(const PassFacts& facts, Table& table) {
  if (!known(facts.host_share_pct)) return;
  table.add(facts.mode + ": host share",
            fmt::format("the device works {} of the {} the caller waits: idle for {}", milliseconds(facts.measured_ms),
                        milliseconds(facts.wall_ms), percent(facts.host_share_pct)),
            facts.host_share_pct >= kHostShareMajority ? model::word(BottleneckClass::host_bound)
                                                       : against(BottleneckClass::host_bound),
            Source::measured);
}

void add_events(const model::Profile& profile, Table& table) {
  constexpr double kLowIpc = 1.0;  // cores of the last ten years retire four or more at best
  constexpr double kManyMisses =
      10;  // of the last-level cache in 1000 instructions: each costs about 100 ns of waiting
  for (const auto& [event, value] : profile.counters.cpu_events) {
    // "forward.instructions_per_cycle" where events are counted by pass, the bare name where over all of them.
    const std::size_t dot = event.find('.');
    const std::string pass = dot == std::string::npos ? "" : event.substr(0, dot) + ": ";
    const std::string name = dot == std::string::npos ? event : event.substr(dot + 1);
    if (name == "instructions_per_cycle")
      table.add(pass + "instructions per cycle", number(value),
                value < kLowIpc ? against(BottleneckClass::compute_bound) : against(BottleneckClass::latency_bound),
                Source::counters);
    if (name == "llc_misses_per_kilo_instruction")
      table.add(
          pass + "last-level misses", number(value) + " in 1000 instructions",
          value >= kManyMisses ? model::word(BottleneckClass::memory_bound) : against(BottleneckClass::memory_bound),
          Source::counters);
  }
}

// What the author says of the kernel's kind, where little was measured.
void add_prior(const model::Profile& profile, Table& table) {
  if (table.size() < 3 && profile.identity.tier > 0)
    table.add("Tier", fmt::format("tier {}: {}", profile.identity.tier, profile.identity.tier_description),
              prior_of_tier(profile.identity.tier), Source::source_code);
}

}  // namespace

std::vector<EvidenceRow> evidence_of(const model::Profile& profile, const std::vector<PassVerdict>& passes) {
  Table table;
  for (const PassVerdict& pass : passes) {
    add_shares(pass.facts, table);
    add_ablations(pass.facts, table);
    add_threads(pass, profile.device.sm_count, table);
    add_warps(pass.facts, table);
    add_size_scaling(pass.facts, table);
    add_calculated(pass.facts, table);
    add_intensity(profile, pass.facts, table);
    add_host(pass.facts, table);
    add_counters(profile, pass.facts, table);
    add_routes(pass, table);
  }
  add_events(profile, table);
  add_prior(profile, table);
  return table.take();
}

}  // namespace hone::diagnose

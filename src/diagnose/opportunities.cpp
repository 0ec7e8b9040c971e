// Opportunities: a place, what it costs today, the most it could bring. Each stands on a figure of the profile; none is
// written where its figure is missing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnose/config_facts.hpp"
#include "diagnose/strategies.hpp"

namespace hone::diagnose {

namespace {

using model::BottleneckClass;
using model::Opportunity;

// Below these an opportunity is not worth a line of its own.
constexpr double kWorthPct = 3;         // of the pass's time: the ceilings themselves are known to 1 to 2 %
constexpr double kMaskedWorthPct = 10;  // of the lanes
constexpr double kHostWorthPct = 20;    // of the caller's time

class Writer {
 public:
  explicit Writer(const model::Profile& profile) : profile_(profile) {}

  void add(const std::string& title, const std::string& detail, const std::string& strategy, double bound_pct) {
    Opportunity opportunity{title, detail, {}, strategy, known(bound_pct) ? bound_pct : 0, ""};
    if (!profile_.identity.source_file.path.empty())
      opportunity.locations.push_back({profile_.identity.source_file.path, 0});
    if (const Strategy* found = find_strategy(strategy)) opportunity.risk = found->risk;
    list_.push_back(std::move(opportunity));
  }
  std::string at(const std::string& x_value) const {
    return " at " + (profile_.baseline.x_name.empty() ? std::string("x") : profile_.baseline.x_name) + "=" + x_value;
  }
  const model::Profile& profile() const { return profile_; }
  std::vector<Opportunity> take() {
    std::stable_sort(list_.begin(), list_.end(),
                     [](const auto& a, const auto& b) { return a.bound_pct > b.bound_pct; });
    return std::move(list_);
  }

 private:
  const model::Profile& profile_;
  std::vector<Opportunity> list_;
};

// The first that has anything left to try; the first of all where none has.
std::string first_unspent(const model::Profile& profile, const std::vector<std::string>& order,
                          const std::string& x_value) {
  const auto found = std::find_if(order.begin(), order.end(),
                                  [&](const std::string& word) { return !is_spent(profile, word, x_value); });
  return found == order.end() ? order.front() : *found;
}

std::string first_strategy(const model::Profile& profile, const PassVerdict& pass, bool gpu) {
  std::vector<std::string> limiters;
  for (const Limiter& each : pass.limiters) limiters.push_back(each.word);
  return first_unspent(profile, strategies_for(pass.cls, limiters, gpu), pass.facts.x_value);
}

void add_headroom(const PassVerdict& pass, bool gpu, Writer& writer) {
  const PassFacts& facts = pass.facts;
  const double gain = facts.gain_pct();
  if (!(gain >= kWorthPct)) return;
  writer.add(facts.mode + " runs at " + percent(facts.share_pct) + " of its ceiling",
             fmt::format("{} takes {}{}. {} at the measured {} need {}: {} lie above the roofline bound.", facts.mode,
                         milliseconds(facts.measured_ms), writer.at(facts.x_value),
                         facts.bytes > 0 ? "Its " + bytes_text(facts.bytes) : "Its work",
                         facts.ceiling.empty() ? "ceiling" : facts.ceiling, milliseconds(facts.floor_ms),
                         milliseconds(facts.measured_ms - facts.floor_ms)),
             first_strategy(writer.profile(), pass, gpu), gain);
}

// Arithmetic and memory that take turns: what overlapping them fully would leave is the longer of the two.
void add_overlap(const PassVerdict& pass, Writer& writer) {
  if (!pass.facts.no_compute || !pass.facts.no_memory) return;
  const double memory = 100 * pass.facts.no_compute->ratio, compute = 100 * pass.facts.no_memory->ratio;
  const double left = 100 - std::max(memory, compute);
  if (memory < 20 || compute < 20 || left < kWorthPct) return;
  writer.add("Memory and arithmetic of " + pass.facts.mode + " do not fully overlap",
             fmt::format("{} without its arithmetic takes {} of its time, without its memory traffic {}{}: if the two "
                         "overlapped fully, the "
                         "longer one would remain.",
                         pass.facts.mode, percent(memory), percent(compute), writer.at(pass.facts.x_value)),
             "prefetch", left);
}

void add_threads(const PassVerdict& pass, Writer& writer) {
  const int cores = writer.profile().device.sm_count;
  if (!pass.facts.threads || cores < 2 || writer.profile().device.kind != "cpu") return;
  const double scaling = pass.facts.threads->ratio;  // one thread against all
  const bool memory = pass.cls == BottleneckClass::memory_bound;
  if (memory || scaling >= 0.8 * cores || scaling <= 0) return;  // memory shared by the cores need not scale
  writer.add(pass.facts.mode + " uses " + number(scaling) + " of " + std::to_string(cores) + " cores",
             fmt::format("one thread takes {} as long as all {}{}: cores wait for each other or for work.",
                         times(scaling), cores, writer.at(pass.facts.x_value)),
             "grid-sizing", 100 * (1 - scaling / cores));
}

void add_launches(const PassVerdict& pass, Writer& writer) {
  for (const model::CounterSummary* kernel : pass.facts.kernels) {
    const LaunchFacts facts = launch_facts(*kernel, writer.profile().device);
    if (classify(facts.point) != BottleneckClass::latency_bound) continue;
    for (const Limiter& limiter : facts.limiters) {
      if (limiter.word == "dependency stalls") continue;
      const std::vector<std::string> order = strategies_for(BottleneckClass::latency_bound, {limiter.word}, true);
      writer.add(kernel->name + ": " + limiter.word,
                 fmt::format("{} for {} us a launch while memory is {} and compute {} busy.", limiter.text,
                             number(kernel->duration_us.value_or(kUnknown)), percent(facts.point.memory_pct),
                             percent(facts.point.compute_pct)),
                 first_unspent(writer.profile(), order, pass.facts.x_value), pass.facts.gain_pct());
    }
  }
}

void add_masked_lanes(const PassVerdict& pass, Writer& writer) {
  const std::optional<double> columns = as_number(pass.facts.x_value);
  const std::string& x_name = writer.profile().baseline.x_name;
  const bool is_width = x_name.find("hidden") != std::string::npos || x_name.find("column") != std::string::npos ||
                        x_name == "H" || x_name == "V";
  if (!columns || !is_width) return;
  for (const model::Parameter& parameter : writer.profile().configuration.parameters) {
    if (parameter.name.rfind("BLOCK_SIZE", 0) != 0) continue;
    const std::optional<double> tile = value_at(parameter, pass.facts.x_value);
    if (!tile) continue;
    const double masked = masked_lanes_pct(*columns, *tile);
    if (masked < kMaskedWorthPct) continue;
    writer.add(percent(masked) + " of the lanes are masked",
               fmt::format("BLOCK_SIZE {} over rows of {}{}: {} issues instructions for lanes that hold no data.",
                           number(*tile), number(*columns), writer.at(pass.facts.x_value), pass.facts.mode),
               "redundant-work", pass.cls == BottleneckClass::memory_bound ? kUnknown : masked);
    return;
  }
}

// What is dead for the same reason in several launches is one finding.
void add_dead_knobs(Writer& writer) {
  const std::vector<model::Parameter>& all = writer.profile().configuration.parameters;
  const auto same = [](const model::Parameter& a, const model::Parameter& b) {
    return b.live == model::Liveness::dead && a.name == b.name && a.value == b.value &&
           a.live_evidence == b.live_evidence;
  };
  for (auto parameter = all.begin(); parameter != all.end(); ++parameter) {
    const auto is_same = [&](const model::Parameter& other) { return same(*parameter, other); };
    if (parameter->live != model::Liveness::dead || std::any_of(all.begin(), parameter, is_same)) continue;
    const auto count = std::count_if(parameter, all.end(), is_same);
    writer.add(parameter->name + " is dead",
               fmt::format("{} = {} changes neither the machine code nor the launch{}{}: searching it multiplies the "
                           "builds and brings nothing.",
                           parameter->name, parameter->value, count > 1 ? fmt::format(" in {} places", count) : "",
                           parameter->live_evidence.empty() ? "" : " (" + parameter->live_evidence + ")"),
               "parameter-sweep", 0);
  }
}

void add_saved_tensors(const std::vector<PassVerdict>& passes, Writer& writer) {
  const std::string& text = writer.profile().configuration.memory_access.saved_vs_recomputed;
  for (const PassVerdict& pass : passes) {
    if (pass.facts.mode != "backward" || text.empty() || pass.cls != BottleneckClass::memory_bound ||
        !(pass.facts.bytes > 0))
      continue;
    if (!(pass.facts.gain_pct() >= kWorthPct)) continue;
    writer.add("What backward reads again",
               fmt::format("{} Backward moves at least {} in {}{}; each saved tensor it need not read comes off that.",
                           text.back() == '.' ? text : text + ".", bytes_text(pass.facts.bytes),
                           milliseconds(pass.facts.measured_ms), writer.at(pass.facts.x_value)),
               "less-traffic", least_known(pass.facts.gain_pct(), pass.ablation_gain_pct(true)));
  }
}

// Another implementation that is faster somewhere shows what can be had on this machine.
void add_slower_than_provider(const PassVerdict& pass, Writer& writer) {
  const model::Profile& profile = writer.profile();
  const std::string own = own_provider(profile);
  for (const model::BaselineRow* row : rows_of(profile, "speed", pass.facts.mode, own)) {
    for (const model::BaselineRow& other : profile.baseline.rows) {
      if (other.metric != "speed" || other.mode != row->mode || other.x_value != row->x_value || other.provider == own)
        continue;
      if (!(other.p50 > 0) || !(other.p80 < row->p20)) continue;  // the quartiles do not touch
      writer.add(other.provider + " is faster" + writer.at(row->x_value),
                 fmt::format("{}: {} takes {}, {} {}.", row->mode, own, milliseconds(row->p50), other.provider,
                             milliseconds(other.p50)),
                 "parameter-sweep", 100 * (row->p50 - other.p50) / row->p50);
    }
  }
}

// A pass that reaches less of its ceiling at small sizes pays a fixed cost there.
void add_small_sizes(const PassVerdict& pass, Writer& writer) {
  const model::Profile& profile = writer.profile();
  const model::Headroom* smallest = nullptr;
  for (const model::Headroom& row : profile.headroom)
    if (row.mode == pass.facts.mode && row.floor_ms > 0 && row.measured_ms > 0 &&
        (smallest == nullptr || row.floor_ms < smallest->floor_ms))
      smallest = &row;
  if (smallest == nullptr || smallest->x_value == pass.facts.x_value || !known(pass.facts.share_pct)) return;
  const double share = 100 * smallest->floor_ms / smallest->measured_ms;
  if (share >= pass.facts.share_pct - 10 || share <= 0) return;
  const double same_rate_ms = smallest->floor_ms * 100 / pass.facts.share_pct;
  writer.add(
      pass.facts.mode + " loses at small sizes",
      fmt::format("{} of the ceiling{} against {}{}: {} of its {} are a cost that does not shrink with the size.",
                  percent(share), writer.at(smallest->x_value), percent(pass.facts.share_pct),
                  writer.at(pass.facts.x_value), milliseconds(smallest->measured_ms - same_rate_ms),
                  milliseconds(smallest->measured_ms)),
      "work-per-program", 100 * (smallest->measured_ms - same_rate_ms) / smallest->measured_ms);
}

void add_host(const PassVerdict& pass, Writer& writer) {
  if (!(pass.facts.host_share_pct >= kHostWorthPct)) return;
  writer.add(
      "The caller waits for its host code in " + pass.facts.mode,
      fmt::format(
          "the caller waits {}{}, the device works {} of them: {} of the caller's time a faster kernel can not touch.",
          milliseconds(pass.facts.wall_ms), writer.at(pass.facts.x_value), milliseconds(pass.facts.measured_ms),
          percent(pass.facts.host_share_pct)),
      "launch-count", pass.facts.host_share_pct);
}

}  // namespace

std::vector<Opportunity> opportunities(const model::Profile& profile, const std::vector<PassVerdict>& passes) {
  const bool gpu = is_gpu(family_of(profile.device));
  Writer writer(profile);
  for (const PassVerdict& pass : passes) {
    add_headroom(pass, gpu, writer);
    add_overlap(pass, writer);
    add_threads(pass, writer);
    add_launches(pass, writer);
    add_masked_lanes(pass, writer);
    add_slower_than_provider(pass, writer);
    add_small_sizes(pass, writer);
    add_host(pass, writer);
  }
  add_saved_tensors(passes, writer);
  add_dead_knobs(writer);
  return writer.take();
}

}  // namespace hone::diagnose

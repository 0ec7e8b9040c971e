#include "stages/profile/baseline.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "measure/protocol.hpp"

namespace hone::stages {

namespace {

using repository::Cell;

std::vector<Cell> cells_of(const repository::Described& kernel, const model::Request& request) {
  std::vector<Cell> cells;
  for (const std::string& x : kernel.sizes())
    for (const std::string& mode : kernel.modes())
      if (request.scope == "general" || mode == request.scope) cells.push_back({x, mode});
  return cells;
}

// A cell ends when its intervals are narrow, at the sample limit, or when the time aimed at is over. A pass of 200 ms gets
// min_samples all the same.
measure::Budget table_budget(const model::Request& request) {
  measure::Budget budget;
  budget.min_samples = 8;
  budget.max_samples = request.quick ? 10 : 20;
  budget.aim_ns = 1'500'000'000;
  budget.warmup = 1;
  return budget;
}

// The same for a quick run: a wide floor would hide gains that a whole run finds.
measure::Budget noise_budget() {
  measure::Budget budget;
  budget.min_samples = 12;
  budget.max_samples = 40;
  budget.aim_ns = 1'500'000'000;
  budget.warmup = 1;
  return budget;
}

void warn(model::Profile& profile, const Cell& cell, const std::string& who, const std::string& why) {
  profile.baseline.observations.warnings.push_back(
      fmt::format("{} {} at {} = {}: {}", who, cell.mode, profile.baseline.x_name, cell.x_value, why));
}

void add_row(model::Profile& profile, const Cell& cell, const std::string& provider, const char* metric,
             const char* unit, const model::Quantiles& value) {
  model::BaselineRow row;
  row.x_value = cell.x_value;
  row.mode = cell.mode;
  row.provider = provider;
  row.metric = metric;
  row.unit = unit;
  row.p20 = value.p20;
  row.p50 = value.p50;
  row.p80 = value.p80;
  row.samples = value.samples;
  profile.baseline.rows.push_back(std::move(row));
}

std::string samples_text(const std::string& head, const std::vector<model::Sample>& samples) {
  std::string text = "# " + head + "\ndevice_ns,wall_ns,clock_mhz\n";
  for (const model::Sample& sample : samples)
    text += fmt::format("{:.0f},{:.0f},{:.0f}\n", sample.device_ns, sample.wall_ns, sample.clock_mhz);
  return text;
}

const model::BaselineRow* speed_row(const model::Profile& profile, const std::string& own, const Cell& cell) {
  for (const model::BaselineRow& row : profile.baseline.rows)
    if (row.x_value == cell.x_value && row.mode == cell.mode && row.provider == own && row.metric == "speed")
      return &row;
  return nullptr;
}

base::Result<void> measure_memory(const repository::Described& kernel, repository::Timed& timed,
                                  const model::Variant& original, model::Profile& profile) {
  auto add = [&](const std::string& x, const std::string& provider, const repository::MemoryUse& use) {
    auto exact = [](double value) { return model::Quantiles{value, value, value, 1}; };
    add_row(profile, {x, "full"}, provider, "memory", "MB", exact(use.peak_over_inputs_mb));
    add_row(profile, {x, "full"}, provider, "memory_saved_for_backward", "MB", exact(use.saved_for_backward_mb));
    add_row(profile, {x, "full"}, provider, "memory_callers_peak", "MB", exact(use.callers_peak_mb));
  };
  for (const std::string& x : kernel.sizes()) {
    HONE_TRY(own, timed.memory(original, x));
    add(x, kernel.own_provider(), *own);
    for (const std::string& provider : kernel.baseline_providers()) {
      HONE_TRY(theirs, timed.provider_memory(provider, x));
      add(x, provider, *theirs);
    }
  }
  return {};
}

// Where a pass holds more than its kernels: their time alone, and in words where the rest is worth a sentence.
base::Result<void> measure_parts(const repository::Described& kernel, repository::Timed& timed,
                                 const std::vector<Cell>& cells, const model::Variant& original,
                                 model::Profile& profile) {
  constexpr double kWorthASentence = 0.03;  // of the pass
  for (const Cell& cell : cells) {
    if (cell.mode == "full") continue;
    HONE_TRY(parts, timed.parts(original, cell));
    if (!*parts) continue;
    // The pass as it was timed without the marks around its launches.
    const model::BaselineRow* row = speed_row(profile, kernel.own_provider(), cell);
    const double pass = row ? row->p50 : (*parts)->pass_ms, kernels = (*parts)->kernel_ms();
    add_row(profile, cell, kernel.own_provider(), "kernels", "ms", {kernels, kernels, kernels, (*parts)->samples});
    if (pass - kernels < kWorthASentence * pass) continue;
    std::vector<std::string> names;
    for (const auto& [name, ms] : (*parts)->kernels_ms) names.push_back(name);
    profile.baseline.observations.warnings.push_back(
        fmt::format("{} at {} = {}: {:.4f} of {:.4f} ms are in {}, the rest is what the framework does beside it",
                    cell.mode, kernel.x_name(), cell.x_value, kernels, pass, base::join_text(names, " and ")));
  }
  return {};
}

}  // namespace

base::Result<CeilingShares> measure_baseline(const repository::Described& kernel, repository::Timed& timed,
                                             const Workspace& workspace, const Ports& ports, model::Profile& profile) {
  const std::vector<Cell> cells = cells_of(kernel, profile.request);
  const model::Variant original = kernel.original();
  ports.progress.step(kBaseline);
  const measure::Budget budget = table_budget(profile.request);
  CeilingShares shares;
  int done = 0;
  for (const Cell& cell : cells) {
    HONE_PROPAGATE(check_interrupt(ports, profile.command, AfterInterrupt::begins_anew));
    ports.progress.advance(done++, static_cast<int>(cells.size()),
                           cell.mode + " at " + kernel.x_name() + " = " + cell.x_value);
    std::vector<std::unique_ptr<measure::Subject>> owned;
    std::vector<std::string> providers = {kernel.own_provider()};
    HONE_TRY(own, timed.subject(original, cell));
    owned.push_back(std::move(*own));
    for (const std::string& provider : kernel.baseline_providers()) {
      HONE_TRY(subject, timed.provider_subject(provider, cell));
      owned.push_back(std::move(*subject));
      providers.push_back(provider);
    }
    // Nothing is decided on the others, and an eager pass may take a hundred times as long.
    std::vector<measure::Subject*> others;
    for (std::size_t i = 1; i < owned.size(); ++i) others.push_back(owned[i].get());
    HONE_TRY(ceiling, timed.ceiling_subject(cell));
    measure::PairedSubject paired(*owned.front(), ceiling->subject.get(), timed.clock());
    HONE_TRY(timings, measure::interleave({&paired}, timed.clock(), budget, others));
    const double floor_ns = 1e6 * timed.floor(cell).floor_ms;
    if (auto share = measure::share_of_ceiling(paired.pairs(), floor_ns, ceiling->expected_ns)) shares[cell] = *share;
    if (const std::string problem = ceiling->problem + paired.problem(); !problem.empty())
      warn(profile, cell, providers.front(), "its share of the ceiling is not paired: " + problem);
    for (std::size_t i = 0; i < providers.size(); ++i) {
      const measure::Timing& timing = (*timings)[i];
      if (timing.kept_disturbed || (timing.few && i == 0)) warn(profile, cell, providers[i], timing.note);
      add_row(profile, cell, providers[i], "speed", "ms", timing.device_ms);
      add_row(profile, cell, providers[i], "wall", "ms", timing.wall_ms);
      const std::string name = fmt::format("samples/v0_{}_{}_{}.csv", providers[i], cell.mode, cell.x_value);
      const std::string head = fmt::format("{} {} {} {} = {}, {}", profile.kernel, providers[i], cell.mode,
                                           kernel.x_name(), cell.x_value, profile.created);
      HONE_PROPAGATE(workspace.write(name, samples_text(head, timing.samples)));
    }
  }
  HONE_PROPAGATE(measure_parts(kernel, timed, cells, original, profile));
  HONE_PROPAGATE(measure_memory(kernel, timed, original, profile));
  return shares;
}

base::Result<void> measure_noise_floor(const repository::Described& kernel, repository::Timed& timed,
                                       const Workspace& workspace, const Ports& ports, model::Profile& profile) {
  const std::vector<Cell> cells = cells_of(kernel, profile.request);
  const model::Variant original = kernel.original();
  ports.progress.step(kNoiseFloor);
  measure::CompareOptions options;
  options.seed = profile.request.seed;
  options.budget = noise_budget();
  int done = 0;
  for (const Cell& cell : cells) {
    HONE_PROPAGATE(check_interrupt(ports, profile.command, AfterInterrupt::begins_anew));
    ports.progress.advance(done++, static_cast<int>(cells.size()),
                           cell.mode + " at " + kernel.x_name() + " = " + cell.x_value);
    HONE_TRY(a, timed.subject(original, cell));
    HONE_TRY(b, timed.subject(original, cell));
    HONE_TRY(floor, measure::noise_floor(**a, **b, timed.clock(), options));
    floor->x_value = cell.x_value;
    floor->mode = cell.mode;
    std::string text = fmt::format("# {} A/A {} {} = {}, {}\na_ns,b_ns\n", profile.kernel, cell.mode, kernel.x_name(),
                                   cell.x_value, profile.created);
    const auto& comparison = floor->comparison;
    for (std::size_t i = 0; i < std::min(comparison.baseline_samples_ns.size(), comparison.candidate_samples_ns.size());
         ++i)
      text += fmt::format("{:.0f},{:.0f}\n", comparison.baseline_samples_ns[i], comparison.candidate_samples_ns[i]);
    HONE_PROPAGATE(workspace.write(fmt::format("samples/aa_{}_{}.csv", cell.mode, cell.x_value), text));
    profile.baseline.noise_floor.push_back(std::move(*floor));
  }
  return {};
}

void add_headroom(const repository::Described& kernel, repository::Timed& timed, const CeilingShares& shares,
                  model::Profile& profile) {
  for (const Cell& cell : cells_of(kernel, profile.request)) {
    const model::BaselineRow* row = speed_row(profile, kernel.own_provider(), cell);
    const repository::PassFloor floor = timed.floor(cell);
    if (!row || floor.floor_ms <= 0) continue;
    model::Headroom headroom;
    headroom.x_value = cell.x_value;
    headroom.mode = cell.mode;
    headroom.floor_ms = floor.floor_ms;
    headroom.physics_floor_ms = floor.physics_floor_ms;
    headroom.measured_ms = row->p50;
    if (const auto found = shares.find(cell); found != shares.end()) {
      const measure::CeilingShare& share = found->second;
      headroom.floor_ms = share.share_pct / 100 * row->p50;
      headroom.paired = share.paired;
      // Nothing is too fast that the device itself was fast enough for.
      headroom.physics_floor_ms /= std::max(1.0, share.quickest);
    }
    headroom.ratio = row->p50 / headroom.floor_ms;
    headroom.bytes = floor.bytes;
    headroom.flops = floor.flops;
    headroom.ceiling = floor.ceiling;
    headroom.share_of_ceiling_pct = 100 / headroom.ratio;
    profile.headroom.push_back(std::move(headroom));
  }
}

}  // namespace hone::stages

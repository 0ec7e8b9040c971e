#include "stages/finalize/three_way.hpp"

#include <algorithm>
#include <memory>

#include "stages/trial/evaluate.hpp"
#include "stages/trial/lab.hpp"
#include "stages/trial/scope.hpp"

namespace hone::stages {

namespace {

using repository::Cell;

class ThreeWaySession {
 public:
  ThreeWaySession(repository::Session& session, model::Profile& profile, const model::Variant& original,
                  const model::Variant& optimized, const ThreeWayOptions& options, const Ports& ports)
      : session_(session),
        profile_(profile),
        original_(original),
        optimized_(optimized),
        options_(options),
        ports_(ports),
        floors_(session, profile, ports),
        changed_(signature(original) != signature(optimized)) {}

  base::Result<ThreeWay> run() {
    if (changed_) {
      auto before = session_.build(original_);
      if (!before) return before.error();
      auto after = session_.build(optimized_);
      if (!after) return after.error();
      original_built_ = std::move(*before), optimized_built_ = std::move(*after);
    }
    const std::vector<Cell> cells = all_cells(session_);
    int done = 0;
    for (const Cell& cell : cells) {
      if (auto go = check_interrupt(ports_, options_.command); !go) return go.error();
      ports_.progress.advance(++done, static_cast<int>(cells.size()), cell.mode + " at " + cell.x_value);
      if (auto measured = table(cell); !measured) return measured.error();
      if (auto measured = kernels_alone(cell); !measured) return measured.error();
      if (!changed_) continue;
      if (auto judged = verdict(cell); !judged) return judged.error();
    }
    for (const std::string& x_value : session_.sizes()) {
      if (auto measured = memory(x_value); !measured) return measured.error();
    }
    add_shares();
    result_.gain = combined(in_scope_);
    return result_;
  }

 private:
  void add_shares() {
    for (model::ThreeWayRow& row : result_.rows) {
      if (row.metric != "speed") continue;
      const double floor_ms = floors_.at({row.x_value, row.mode}).floor_ms;
      if (floor_ms > 0 && row.value.p50 > 0) row.share_of_ceiling_pct = 100 * floor_ms / row.value.p50;
    }
  }

  double noise_floor_pct(const Cell& cell) const {
    for (const model::NoiseFloor& floor : profile_.baseline.noise_floor) {
      if (floor.x_value == cell.x_value && floor.mode == cell.mode) return floor.smallest_effect_pct;
    }
    return 0;
  }

  base::Result<void> table(const Cell& cell) {
    std::vector<std::unique_ptr<measure::Subject>> subjects;
    std::vector<std::string> names;
    const auto add = [&](const std::string& name,
                         base::Result<std::unique_ptr<measure::Subject>> subject) -> base::Result<void> {
      if (!subject) return subject.error();
      subjects.push_back(std::move(*subject));
      names.push_back(name);
      return {};
    };
    if (auto added = add("original", session_.subject(original_, cell)); !added) return added;
    if (changed_) {
      if (auto added = add("optimized", session_.subject(optimized_, cell)); !added) return added;
    }
    for (const std::string& provider : session_.baseline_providers()) {
      if (auto added = add(provider, session_.provider_subject(provider, cell)); !added) return added;
    }
    std::vector<measure::Subject*> pointers;
    for (const auto& subject : subjects) pointers.push_back(subject.get());
    auto timings = measure::interleave_for_table(pointers, session_.clock(), options_.table);
    if (!timings) return timings.error();
    for (const measure::Timing& timing : *timings)
      if (timing.kept_disturbed) {
        result_.warnings.push_back(cell.mode + " at " + cell.x_value + ": " + timing.note);
        break;
      }
    for (std::size_t i = 0; i < names.size(); ++i)
      result_.rows.push_back({cell.x_value, cell.mode, "speed", "ms", names[i], (*timings)[i].device_ms, 0});
    return {};
  }

  // Of a pass that holds more than its kernels: their time without the rest.
  base::Result<void> kernels_alone(const Cell& cell) {
    if (cell.mode == "full") return {};
    for (const auto& [provider, variant] : {std::pair{"original", &original_}, std::pair{"optimized", &optimized_}}) {
      if (variant == &optimized_ && !changed_) continue;
      auto parts = session_.parts(*variant, cell);
      if (!parts) return parts.error();
      if (!*parts) return {};
      const double ms = (*parts)->kernel_ms();
      result_.rows.push_back({cell.x_value, cell.mode, "kernels", "ms", provider, {ms, ms, ms, (*parts)->samples}, 0});
    }
    return {};
  }

  base::Result<void> verdict(const Cell& cell) {
    if (same_code(session_.modes(), original_built_, optimized_built_, cell)) {
      const model::Quantiles time = time_of("original", cell);
      result_.speedups.push_back({cell.x_value, cell.mode, "speed", "ms", time, time, 1, 1, 1, model::Verdict::same});
      return {};
    }
    auto before = session_.subject(original_, cell);
    if (!before) return before.error();
    auto after = session_.subject(optimized_, cell);
    if (!after) return after.error();
    measure::CompareOptions options;
    options.budget = options_.verdict;
    options.noise_floor_pct = noise_floor_pct(cell);
    options.seed = options_.seed + 1;  // a draw of its own, not the one that chose the winner
    auto comparison = floors_.judge(cell, [&](double floor_ns) {
      options.floor_ns = floor_ns;
      return compare_with_more_time(**before, **after, session_.clock(), options);
    });
    if (!comparison && comparison.error().kind != base::ErrorKind::untrusted) return comparison.error();
    if (!comparison) {
      result_.warnings.push_back(cell.mode + " at " + cell.x_value + ": " + comparison.error().found);
      return {};
    }
    const model::Comparison& c = *comparison;
    result_.speedups.push_back({cell.x_value, cell.mode, "speed", "ms", c.baseline_ms, c.candidate_ms, c.ratio,
                                c.ci_low, c.ci_high, c.verdict});
    const std::vector<std::string> passes = passes_in_scope(session_.modes(), profile_.request.scope);
    if (std::find(passes.begin(), passes.end(), cell.mode) != passes.end()) in_scope_.push_back(c);
    return {};
  }

  model::Quantiles time_of(const std::string& provider, const Cell& cell) const {
    for (const model::ThreeWayRow& row : result_.rows) {
      if (row.provider == provider && row.x_value == cell.x_value && row.mode == cell.mode) return row.value;
    }
    return {};
  }

  base::Result<void> memory(const std::string& x_value) {
    const auto row = [&](const std::string& provider, double mb) {
      result_.rows.push_back({x_value, "full", "memory", "MB", provider, {mb, mb, mb, 1}, 0});
    };
    auto before = session_.memory(original_, x_value);
    if (!before) return before.error();
    row("original", before->peak_over_inputs_mb);
    if (changed_) {
      auto after = session_.memory(optimized_, x_value);
      if (!after) return after.error();
      row("optimized", after->peak_over_inputs_mb);
    }
    for (const std::string& provider : session_.baseline_providers()) {
      auto use = session_.provider_memory(provider, x_value);
      if (!use) return use.error();
      row(provider, use->peak_over_inputs_mb);
    }
    return {};
  }

  repository::Session& session_;
  const model::Profile& profile_;
  const model::Variant &original_, &optimized_;
  const ThreeWayOptions& options_;
  const Ports& ports_;
  Floors floors_;
  bool changed_;
  repository::Built original_built_, optimized_built_;
  ThreeWay result_;
  std::vector<model::Comparison> in_scope_;
};

}  // namespace

base::Result<ThreeWay> measure_three_way(repository::Session& session, model::Profile& profile,
                                         const model::Variant& original, const model::Variant& optimized,
                                         const ThreeWayOptions& options, const Ports& ports) {
  return ThreeWaySession(session, profile, original, optimized, options, ports).run();
}

}  // namespace hone::stages

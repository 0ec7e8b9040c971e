#include "stages/finalize/three_way.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "measure/paired_subject.hpp"
#include "stages/trial/evaluate.hpp"
#include "stages/trial/lab.hpp"
#include "stages/trial/scope.hpp"

namespace hone::stages {

namespace {

using repository::Cell;

// A baseline that takes this many times as long is not timed again: its row in the profile says as much.
constexpr double kSlowBaseline = 4;

class ThreeWaySession {
 public:
  ThreeWaySession(const repository::Described& kernel, repository::Buildable& buildable, repository::Timed& timed,
                  model::Profile& profile, const model::Variant& original, const model::Variant& optimized,
                  const ThreeWayOptions& options, const Ports& ports)
      : kernel_(kernel),
        buildable_(buildable),
        timed_(timed),
        profile_(profile),
        original_(original),
        optimized_(optimized),
        options_(options),
        ports_(ports),
        floors_(timed, profile, ports),
        changed_(signature(original) != signature(optimized)) {}

  base::Result<ThreeWay> run() {
    if (changed_) {
      HONE_TRY(before, buildable_.build(original_));
      HONE_TRY(after, buildable_.build(optimized_));
      original_built_ = std::move(*before), optimized_built_ = std::move(*after);
    }
    const std::vector<Cell> cells = all_cells(kernel_);
    int done = 0;
    for (const Cell& cell : cells) {
      HONE_PROPAGATE(check_interrupt(ports_, options_.command));
      ports_.progress.advance(done++, static_cast<int>(cells.size()), cell.mode + " at " + cell.x_value);
      HONE_PROPAGATE(measure(cell));
    }
    for (const std::string& x_value : kernel_.sizes()) {
      HONE_PROPAGATE(memory(x_value));
    }
    add_shares();
    result_.gain = combined(in_scope_);
    return result_;
  }

 private:
  // Of rows that no ceiling's program ran beside.
  void add_shares() {
    for (model::ThreeWayRow& row : result_.rows) {
      if (row.metric != "speed" || row.paired.pairs > 0) continue;
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

  // What decides first; then the rows beside it, which may be missing.
  base::Result<void> measure(const Cell& cell) {
    const bool differs = changed_ && !same_code(kernel_.modes(), original_built_, optimized_built_, cell);
    std::optional<model::Comparison> judged;
    if (differs) {
      HONE_TRY(compared, verdict(cell));
      judged = std::move(*compared);
    }
    if (auto timed = table(cell, differs, judged); !timed) return timed;
    if (changed_ && !differs) {
      const model::Quantiles time = time_of("original", cell);
      add_time(cell, "optimized", time);
      result_.speedups.push_back({cell.x_value, cell.mode, "speed", "ms", time, time, 1, 1, 1, model::Verdict::same});
    }
    return kernels_alone(cell);
  }

  void add_time(const Cell& cell, const std::string& provider, const model::Quantiles& ms,
                model::Source source = model::Source::measured) {
    result_.rows.push_back({cell.x_value, cell.mode, "speed", "ms", provider, ms, 0, source});
  }

  // A row that nothing is decided on costs itself alone; a stop ends everything.
  base::Result<void> without(const std::string& row, const base::Error& error) {
    if (error.kind == base::ErrorKind::interrupted) return error;
    result_.warnings.push_back("Not measured: " + row + ": " + error.found);
    return {};
  }

  const model::BaselineRow* profiled(const std::string& provider, const Cell& cell) const {
    for (const model::BaselineRow& row : profile_.baseline.rows) {
      if (row.x_value == cell.x_value && row.mode == cell.mode && row.provider == provider && row.metric == "speed" &&
          row.source == model::Source::measured)
        return &row;
    }
    return nullptr;
  }

  base::Result<void> table(const Cell& cell, bool differs, const std::optional<model::Comparison>& judged) {
    std::vector<std::unique_ptr<measure::Subject>> owned;
    std::vector<measure::Subject*> others;
    std::vector<std::string> names;
    std::vector<std::pair<std::string, model::Quantiles>> recorded;
    const model::BaselineRow* own = profiled(kernel_.own_provider(), cell);
    for (const std::string& provider : kernel_.baseline_providers()) {
      const model::BaselineRow* known = profiled(provider, cell);
      if (known && own && known->p50 > kSlowBaseline * own->p50) {
        recorded.emplace_back(provider, model::Quantiles{known->p20, known->p50, known->p80, known->samples});
        continue;
      }
      auto subject = timed_.provider_subject(provider, cell);
      if (!subject) {
        if (auto left_out = without(provider + " " + cell.mode + " at " + cell.x_value, subject.error()); !left_out)
          return left_out;
        continue;
      }
      others.push_back(subject->get()), names.push_back(provider);
      owned.push_back(std::move(*subject));
    }
    if (judged && others.empty()) {
      add_time(cell, "original", judged->baseline_ms);
      add_time(cell, "optimized", judged->candidate_ms);
      if (auto paired = pair_shares(cell); !paired) return paired;
    } else if (auto timed = interleaved(cell, differs, others, names); !timed) {
      return timed;
    }
    for (const auto& [provider, ms] : recorded) add_time(cell, provider, ms, model::Source::recorded);
    return {};
  }

  // The original, and where they differ the optimized; both may be the same object.
  std::vector<std::pair<std::string, const model::Variant*>> kernels(bool differ) const {
    std::vector<std::pair<std::string, const model::Variant*>> both = {{"original", &original_}};
    if (differ) both.emplace_back("optimized", &optimized_);
    return both;
  }

  // They with the program of their ceiling.
  struct Own {
    std::vector<std::unique_ptr<measure::Subject>> subjects;
    repository::CeilingSubject ceiling;
    std::vector<std::unique_ptr<measure::PairedSubject>> paired;  // in the same order
  };
  base::Result<Own> own_subjects(const Cell& cell, bool differs) {
    Own own;
    for (const auto& [provider, variant] : kernels(differs)) {
      HONE_TRY(subject, timed_.subject(*variant, cell));
      own.subjects.push_back(std::move(*subject));
    }
    HONE_TRY(ceiling, timed_.ceiling_subject(cell));
    own.ceiling = std::move(*ceiling);
    own.paired = measure::pair_with(own.subjects, own.ceiling.subject.get(), timed_.clock());
    return own;
  }

  void add_paired_share(const Cell& cell, model::ThreeWayRow& row, const Own& own, std::size_t which) {
    const double floor_ns = 1e6 * timed_.floor(cell).floor_ms;
    const auto share = measure::share_of_ceiling(own.paired[which]->pairs(), floor_ns, own.ceiling.expected_ns);
    if (share) row.share_of_ceiling_pct = share->share_pct, row.paired = share->paired;
  }

  // For the last two rows, whose times the verdict gave: few runs, for their shares alone.
  base::Result<void> pair_shares(const Cell& cell) {
    HONE_TRY(own, own_subjects(cell, true));
    if (own->ceiling.subject == nullptr) return {};
    for (int run = 0; run <= measure::kFewestPairs; ++run)
      for (const auto& subject : own->paired)
        if (auto sample = subject->sample(); !sample)
          return without("the share of the ceiling of " + cell.mode + " at " + cell.x_value, sample.error());
    const std::size_t first = result_.rows.size() - own->paired.size();
    for (std::size_t i = 0; i < own->paired.size(); ++i) add_paired_share(cell, result_.rows[first + i], *own, i);
    return {};
  }

  base::Result<void> interleaved(const Cell& cell, bool differs, const std::vector<measure::Subject*>& others,
                                 std::vector<std::string> names) {
    HONE_TRY(own, own_subjects(cell, differs));
    std::vector<measure::Subject*> subjects;
    for (const auto& subject : own->paired) subjects.push_back(subject.get());
    if (differs) names.insert(names.begin(), "optimized");
    names.insert(names.begin(), "original");
    auto timings = measure::interleave(subjects, timed_.clock(), options_.table, others);
    if (!timings && !others.empty()) {
      const std::string rows = "other providers, " + cell.mode + " at " + cell.x_value;
      if (auto left_out = without(rows, timings.error()); !left_out) return left_out;
      return interleaved(cell, differs, {}, {});
    }
    if (!timings) return timings.error();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const measure::Timing& timing = (*timings)[i];
      add_time(cell, names[i], timing.device_ms);
      if (i < own->paired.size()) add_paired_share(cell, result_.rows.back(), *own, i);
      if (timing.kept_disturbed)
        result_.warnings.push_back("Measure again on a quieter machine: " + names[i] + " " + cell.mode + " at " +
                                   cell.x_value + ": " + timing.note);
    }
    return {};
  }

  // Of a pass that holds more than its kernels: their time without the rest.
  base::Result<void> kernels_alone(const Cell& cell) {
    if (cell.mode == "full") return {};
    for (const auto& [provider, variant] : kernels(changed_)) {
      auto parts = timed_.parts(*variant, cell);
      if (!parts) return without("the kernels alone of " + cell.mode + " at " + cell.x_value, parts.error());
      if (!*parts) return {};
      const double ms = (*parts)->kernel_ms();
      result_.rows.push_back({cell.x_value, cell.mode, "kernels", "ms", provider, {ms, ms, ms, (*parts)->samples}, 0});
    }
    return {};
  }

  // Nothing where the comparison can not be trusted: the warnings say why.
  base::Result<std::optional<model::Comparison>> verdict(const Cell& cell) {
    HONE_TRY(before, timed_.subject(original_, cell));
    HONE_TRY(after, timed_.subject(optimized_, cell));
    measure::CompareOptions options;
    options.budget = options_.verdict;
    options.noise_floor_pct = noise_floor_pct(cell);
    options.seed = options_.seed + 1;  // a draw of its own, not the one that chose the winner
    options.patience = kPatience;
    auto comparison = floors_.judge(cell, [&](double floor_ns) {
      options.floor_ns = floor_ns;
      return measure::compare(**before, **after, timed_.clock(), options);
    });
    if (!comparison && comparison.error().kind != base::ErrorKind::untrusted) return comparison.error();
    if (!comparison) {
      result_.warnings.push_back("Measure again: " + cell.mode + " at " + cell.x_value + ": " +
                                 comparison.error().found);
      return std::optional<model::Comparison>();
    }
    const model::Comparison& c = *comparison;
    result_.speedups.push_back({cell.x_value, cell.mode, "speed", "ms", c.baseline_ms, c.candidate_ms, c.ratio,
                                c.ci_low, c.ci_high, c.verdict});
    const std::vector<std::string> passes = passes_in_scope(kernel_.modes(), profile_.request.scope);
    if (std::find(passes.begin(), passes.end(), cell.mode) != passes.end()) in_scope_.push_back(c);
    return std::optional(std::move(*comparison));
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
    const bool decides = profile_.request.goal == "memory";
    const auto take = [&](const std::string& provider, const base::Result<repository::MemoryUse>& use, bool needed) {
      if (use) return row(provider, use->peak_over_inputs_mb), base::Result<void>();
      if (needed) return base::Result<void>(use.error());
      return without("memory of " + provider + " at " + x_value, use.error());
    };
    if (auto taken = take("original", timed_.memory(original_, x_value), decides); !taken) return taken;
    if (changed_) {
      if (auto taken = take("optimized", timed_.memory(optimized_, x_value), decides); !taken) return taken;
    }
    for (const std::string& provider : kernel_.baseline_providers()) {
      if (auto taken = take(provider, timed_.provider_memory(provider, x_value), false); !taken) return taken;
    }
    return {};
  }

  const repository::Described& kernel_;
  repository::Buildable& buildable_;
  repository::Timed& timed_;
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

base::Result<ThreeWay> measure_three_way(const repository::Described& kernel, repository::Buildable& buildable,
                                         repository::Timed& timed, model::Profile& profile,
                                         const model::Variant& original, const model::Variant& optimized,
                                         const ThreeWayOptions& options, const Ports& ports) {
  return ThreeWaySession(kernel, buildable, timed, profile, original, optimized, options, ports).run();
}

}  // namespace hone::stages

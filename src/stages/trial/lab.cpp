#include "stages/trial/lab.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "base/hash.hpp"
#include "stages/trial/settings_function.hpp"

namespace hone::model {

template <>
inline constexpr std::array kWords<stages::Trial::Outcome>{"measured", "over-floor", "untrusted", "failed"};

}  // namespace hone::model

namespace hone::repository {

void fields(auto& archive, model::of<GateResult> auto& gate) {
  archive.optional("first_failure", gate.first_failure);
  archive.optional("detail", gate.detail);
  archive.optional("passed", gate.passed);
  archive.optional("failed", gate.failed);
  archive.optional("error_over_bound", gate.largest_error_over_bound);
}

void fields(auto& archive, model::of<MemoryUse> auto& use) {
  archive.optional("peak", use.peak_over_inputs_mb);
  archive.optional("saved", use.saved_for_backward_mb);
  archive.optional("caller", use.callers_peak_mb);
}

}  // namespace hone::repository

namespace hone::stages {

template <class Archive>
void fields(Archive& archive, model::of<Trial> auto& trial) {
  auto& comparison = trial.comparison;
  archive.optional("outcome", trial.outcome);
  archive.optional("reason", trial.reason);
  archive.optional("verdict", comparison.verdict);
  archive.optional("judged", comparison.reason);
  archive.optional("ratio", comparison.ratio);
  archive.optional("ci_low", comparison.ci_low);
  archive.optional("ci_high", comparison.ci_high);
  archive.optional("wall_ratio", comparison.wall_ratio);
  archive.optional("pairs", comparison.pairs);
  archive.optional("discarded", comparison.discarded);
  archive.optional("baseline_p20", comparison.baseline_ms.p20);
  archive.optional("baseline_p50", comparison.baseline_ms.p50);
  archive.optional("baseline_p80", comparison.baseline_ms.p80);
  archive.optional("candidate_p20", comparison.candidate_ms.p20);
  archive.optional("candidate_p50", comparison.candidate_ms.p50);
  archive.optional("candidate_p80", comparison.candidate_ms.p80);
  archive.optional("samples", comparison.baseline_ms.samples);
  if constexpr (Archive::reads) comparison.candidate_ms.samples = comparison.baseline_ms.samples;
}

void fields(auto& archive, model::of<BuiltSettings> auto& built) {
  archive.optional("code", built.code_hash);
  archive.optional("launch", built.launch_hash);
  archive.optional("error", built.error);
}

namespace {

// A kill loses the notes of at most these, or of four for each compiler at work; the compiler's cache keeps the rest.
constexpr std::size_t kBuildsBetweenRecords = 16;

struct Screening {
  Estimate estimate{0, 1, false};
  std::string reason;  // why it could not be timed
};

template <class Archive>
void fields(Archive& archive, model::of<Screening> auto& screened) {
  archive.optional("reason", screened.reason, model::As::left_out_if_empty);
  archive.optional("log_ratio", screened.estimate.log_ratio);
  archive.optional("deviation", screened.estimate.deviation);
  int usable = screened.estimate.usable ? 1 : 0;
  archive.optional("usable", usable);
  if constexpr (Archive::reads) screened.estimate.usable = usable > 0;
}

// Standard deviation of log(median), from the spread of the samples: (p80 - p20) is 1.68 standard deviations of a normal
// distribution, and a median of n samples has 1.25 / sqrt(n) of theirs.
double median_deviation(const model::Quantiles& q) {
  if (q.samples < 1 || q.p50 <= 0) return 1;
  return 1.25 * (q.p80 - q.p20) / 1.68 / q.p50 / std::sqrt(static_cast<double>(q.samples));
}

std::string one_line(const base::Error& error) {
  return error.found + (error.where.empty() ? "" : " (" + error.where + ")");
}

std::string budget_text(const measure::Budget& b) {
  return fmt::format("{}/{}/{}", b.min_samples, b.max_samples, b.aim_ns);
}

}  // namespace

std::string signature(const model::Variant& variant) {
  model::Variant anonymous = variant;
  anonymous.id.clear(), anonymous.parent.clear(), anonymous.strategy.clear(), anonymous.title.clear();
  for (auto& [pass, function] : anonymous.settings) {
    function.reason.clear();
    function.worst_slowdown_pct = 0;
    for (model::SettingsRule& rule : function.rules) rule.reason.clear();
  }
  return base::content_hash(model::to_json(anonymous));
}

Lab::Lab(const repository::Described& described, repository::Buildable& buildable, repository::Timed& timed,
         repository::Judged& judged, const model::Profile& profile, const OptimizeOptions& options, const Ports& ports,
         const Workspace& workspace, Journal journal)
    : described_(described),
      buildable_(buildable),
      timed_(timed),
      judged_(judged),
      profile_(profile),
      options_(options),
      ports_(ports),
      workspace_(workspace),
      journal_(std::move(journal)),
      floors_(timed_, profile_, ports_) {}

double Lab::noise_floor_pct(const repository::Cell& cell) const {
  for (const model::NoiseFloor& floor : profile_.baseline.noise_floor) {
    if (floor.x_value == cell.x_value && floor.mode == cell.mode) return floor.smallest_effect_pct;
  }
  return 0;
}

model::Quantiles Lab::known_time(const repository::Cell& cell) const {
  const std::vector<std::string> others = described_.baseline_providers();
  for (const model::BaselineRow& row : profile_.baseline.rows) {
    if (row.x_value != cell.x_value || row.mode != cell.mode || row.metric != "speed") continue;
    if (std::find(others.begin(), others.end(), row.provider) != others.end()) continue;
    return {row.p20, row.p50, row.p80, row.samples};
  }
  return {};
}

base::Result<Estimate> Lab::screen(const repository::Cell& where, const model::Settings& shipped,
                                   const model::Settings& settings) {
  HONE_PROPAGATE(check_interrupt());
  const std::string key =
      where.mode + "|" + where.x_value + "|" + settings_text(settings) + "|" + settings_text(shipped);
  if (const auto known = journal_.find<Screening>("screened", key)) return known->estimate;
  Screening screened;
  HONE_TRY(baseline, timed_.subject_with(where, shipped));
  auto candidate = timed_.subject_with(where, settings);
  HONE_PROPAGATE(check_interrupt());  // a stop is no answer
  if (!candidate) {
    screened.reason = one_line(candidate.error());
  } else {
    auto timed = measure::interleave({baseline->get(), candidate->get()}, timed_.clock(), options_.screening);
    HONE_PROPAGATE(check_interrupt());
    if (!timed) {
      screened.reason = one_line(timed.error());
    } else {
      const model::Quantiles &a = (*timed)[0].device_ms, &b = (*timed)[1].device_ms;
      const double deviation = std::max(std::hypot(median_deviation(a), median_deviation(b)), 0.002);
      screened.estimate = {std::log(b.p50 / a.p50), deviation, true};
    }
  }
  HONE_PROPAGATE(journal_.append("screened", key, screened));
  return screened.estimate;
}

base::Result<Trial> Lab::compare_settings(const repository::Cell& where, const model::Settings& baseline,
                                          const model::Settings& candidate) {
  const std::string key = "settings|" + where.mode + "|" + where.x_value + "|" + settings_text(baseline) + "|" +
                          settings_text(candidate) + "|" + budget_text(options_.finals);
  return measured(
      key, "samples/sweep.jsonl", where, options_.finals, [&] { return timed_.subject_with(where, baseline); },
      [&] { return timed_.subject_with(where, candidate); });
}

base::Result<Trial> Lab::compare(const model::Variant& baseline, const model::Variant& candidate,
                                 const repository::Cell& cell) {
  const std::string key = "variants|" + cell.mode + "|" + cell.x_value + "|" + signature(baseline) + "|" +
                          signature(candidate) + "|" + budget_text(options_.verdict);
  const std::string name = candidate.id.empty() ? "variant" : candidate.id;
  return measured(
      key, "samples/" + name + ".jsonl", cell, options_.verdict, [&] { return timed_.subject(baseline, cell); },
      [&] { return timed_.subject(candidate, cell); });
}

base::Result<Trial> Lab::measured(const std::string& key, const std::string& samples_file, const repository::Cell& cell,
                                  const measure::Budget& budget, const MakeSubject& make_baseline,
                                  const MakeSubject& make_candidate) {
  HONE_PROPAGATE(check_interrupt());
  if (const auto known = journal_.find<Trial>("compared", key)) return *known;
  HONE_TRY(baseline, make_baseline());  // what is in production can not be run: nothing can be said about anything
  Trial trial;
  auto candidate = make_candidate();
  HONE_PROPAGATE(check_interrupt());  // a stop is no answer
  if (!candidate) {
    trial.reason = one_line(candidate.error());
  } else {
    measure::CompareOptions options;
    options.budget = budget;
    options.noise_floor_pct = noise_floor_pct(cell);
    options.seed = options_.seed;
    options.patience = kPatience;
    auto comparison = floors_.judge(cell, [&](double floor_ns) {
      options.floor_ns = floor_ns;
      return measure::compare(**baseline, **candidate, timed_.clock(), options);
    });
    if (comparison) {
      trial.outcome = Trial::Outcome::measured;
      trial.comparison = std::move(*comparison);
      HONE_PROPAGATE(keep_samples(samples_file, key, trial.comparison));
    } else if (auto go = check_interrupt(); !go) {
      return go.error();
    } else {
      trial.outcome = comparison.error().kind == base::ErrorKind::gate        ? Trial::Outcome::over_floor
                      : comparison.error().kind == base::ErrorKind::untrusted ? Trial::Outcome::untrusted
                                                                              : Trial::Outcome::failed;
      trial.reason = one_line(comparison.error());
    }
  }
  HONE_PROPAGATE(journal_.append("compared", key, trial));
  return trial;
}

base::Result<void> Lab::keep_samples(const std::string& file, const std::string& key,
                                     const model::Comparison& comparison) {
  const auto line = model::Json::object({{"event", "samples"},
                                         {"key", key},
                                         {"baseline_ns", comparison.baseline_samples_ns},
                                         {"candidate_ns", comparison.candidate_samples_ns}});
  return ports_.files.append(workspace_.at(file), line.dump_plain() + "\n");
}

base::Result<std::vector<BuiltSettings>> Lab::build(const std::string& pass, const std::vector<std::string>& sizes,
                                                    const std::vector<model::Settings>& settings) {
  std::vector<BuiltSettings> all(settings.size());
  std::vector<std::string> keys;
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    keys.push_back(pass + "|" + sizes[i] + "|" + settings_text(settings[i]));
    if (auto known = journal_.find<BuiltSettings>("built", keys[i]))
      all[i] = std::move(*known);
    else
      missing.push_back(i);
  }
  std::vector<std::string> missing_sizes;
  std::vector<model::Settings> missing_settings;
  for (const std::size_t i : missing) missing_sizes.push_back(sizes[i]), missing_settings.push_back(settings[i]);
  ports_.progress.advance(static_cast<int>(all.size() - missing.size()), static_cast<int>(all.size()), "");
  buildable_.build_ahead(pass, missing_sizes, missing_settings);
  // Enough at a time that the slowest of them does not leave the other compilers idle.
  const std::size_t batch = std::max(kBuildsBetweenRecords, 4 * static_cast<std::size_t>(options_.build_threads));
  for (std::size_t start = 0; start < missing.size(); start += batch) {
    HONE_PROPAGATE(check_interrupt());
    const std::size_t end = std::min(start + batch, missing.size());
    std::atomic<std::size_t> next{start};
    const auto work = [&] {
      for (std::size_t n = next++; n < end; n = next++) {
        const std::size_t i = missing[n];
        auto part = buildable_.build_settings(pass, sizes[i], settings[i]);
        all[i] = part ? BuiltSettings{part->machine_code_hash, part->launch_hash, ""}
                      : BuiltSettings{"", "", one_line(part.error())};
      }
    };
    std::vector<std::thread> threads;
    for (int t = 1; t < options_.build_threads; ++t) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    // A stop kills compilers too: their failures say nothing about the configurations.
    HONE_PROPAGATE(check_interrupt());
    for (std::size_t n = start; n < end; ++n)
      HONE_PROPAGATE(journal_.append("built", keys[missing[n]], all[missing[n]]));
    ports_.progress.advance(static_cast<int>(all.size() - missing.size() + end), static_cast<int>(all.size()), "");
  }
  return all;
}

base::Result<repository::GateResult> Lab::gate(const model::Variant& variant, repository::GateLevel level) {
  HONE_PROPAGATE(check_interrupt());
  const std::string key = signature(variant) + (level == repository::GateLevel::full ? "|full" : "|smoke");
  if (auto known = journal_.find<repository::GateResult>("gate", key)) return std::move(*known);
  auto result = judged_.gate(variant, level);
  HONE_PROPAGATE(check_interrupt());  // a stop takes down what the gate runs, which is no verdict
  if (!result) return result.error();
  HONE_PROPAGATE(journal_.append("gate", key, *result));
  return result;
}

base::Result<repository::MemoryUse> Lab::memory(const model::Variant& variant, const std::string& x_value) {
  const std::string key = signature(variant) + "|" + x_value;
  if (const auto known = journal_.find<repository::MemoryUse>("memory", key)) return *known;
  HONE_TRY(use, timed_.memory(variant, x_value));
  HONE_PROPAGATE(journal_.append("memory", key, *use));
  return use;
}

}  // namespace hone::stages

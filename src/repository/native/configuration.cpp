// The current configuration: every knob with its value by size, and whether it is live, proven by machine code.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kernels/catalog/cuda_row_config.hpp"
#include "repository/native/native_session.hpp"

namespace hone::repository::native {

namespace {

// "4", or "1024: 4, 8192: 2" where the value varies by size.
std::string by_size(const std::vector<std::pair<std::int64_t, std::int64_t>>& values) {
  const bool constant =
      std::all_of(values.begin(), values.end(), [&](const auto& v) { return v.second == values.front().second; });
  if (constant) return std::to_string(values.front().second);
  std::vector<std::string> parts;
  for (const auto& [x, value] : values) parts.push_back(fmt::format("{}: {}", x, value));
  return base::join_text(parts, ", ");
}

}  // namespace

std::vector<Knob> NativeSession::knobs() const {
  std::vector<Knob> all;
  for (kernels::Pass pass : passes_in_scope())
    for (const kernels::Knob& knob : operation_.knobs(pass, target_))
      all.push_back({knob.name, kernels::name_of(pass), knob.help, knob.strategy, knob.values});
  return all;
}

// On all cores: what the liveness of each knob is read from. What does not compile is said where it is read.
void NativeSession::compile_knobs(std::int64_t x) {
  std::vector<std::pair<kernels::Pass, kernels::Settings>> all;
  const kernels::Problem problem = problem_at(x);
  for (kernels::Pass pass : passes_in_scope())
    for (const kernels::Knob& knob : operation_.knobs(pass, target_))
      for (std::int64_t value : knob.values) {
        kernels::Settings settings = resolve({}, pass, problem);
        settings[knob.name] = value;
        all.emplace_back(pass, std::move(settings));
      }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < all.size(); i = next++)
      (void)build_part(all[i].first, x, all[i].second, edits_of({})).ok();
  };
  constexpr unsigned kMostThreads = 32;
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < std::min(std::thread::hardware_concurrency(), kMostThreads); ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

base::Result<model::Configuration> NativeSession::configuration() {
  model::Configuration configuration;
  const std::int64_t representative = sizes_.back();
  compile_knobs(representative);
  kernels::Problem problem = problem_at(representative);
  for (kernels::Pass pass : passes_in_scope()) {
    const kernels::Settings in_force = resolve({}, pass, problem);
    const std::string unfit = why_not_in_force(operation_, pass, problem, target_, installed_);
    for (const kernels::Knob& knob : operation_.knobs(pass, target_)) {
      model::Parameter parameter;
      parameter.name = fmt::format("{} ({})", knob.name, kernels::name_of(pass));
      const bool has_file = installed_ && installed_->variant.settings.count(kernels::name_of(pass));
      parameter.how_set = has_file && unfit.empty() ? model::HowSet::settings_file : model::HowSet::settings_function;
      parameter.notes =
          knob.help + (unfit.empty() ? "" : fmt::format("; the installed settings are not in force: {}", unfit));
      std::vector<std::pair<std::int64_t, std::int64_t>> values;
      for (std::int64_t x : sizes_) {
        kernels::Settings settings = resolve({}, pass, problem_at(x));
        if (auto it = settings.find(knob.name); it != settings.end()) values.emplace_back(x, it->second);
      }
      parameter.value = values.empty() ? "not set" : by_size(values);

      std::set<std::string> programs;
      int tried = 0;
      for (std::int64_t value : knob.values) {
        kernels::Settings settings = in_force;
        settings[knob.name] = value;
        if (!operation_.valid(pass, settings, problem, target_).empty()) continue;
        auto built = build_part(pass, representative, settings, edits_of({}));
        if (!built) return built.error();
        programs.insert(built->machine_code_hash + built->launch_hash);
        ++tried;
      }
      const char* what = knob.compiled ? "machine code" : "launch";
      const char* plural = knob.compiled ? "s" : "es";
      if (tried < 2) {
        parameter.live = model::Liveness::unknown;
        parameter.live_evidence =
            fmt::format("{} of its {} values is valid at {} = {}", tried, knob.values.size(), x_name(), representative);
      } else {
        parameter.live = programs.size() > 1 ? model::Liveness::live : model::Liveness::dead;
        parameter.live_evidence = fmt::format("{} values give {} distinct {}{} at {} = {}", tried, programs.size(),
                                              what, programs.size() == 1 ? "" : plural, x_name(), representative);
      }
      configuration.parameters.push_back(std::move(parameter));
    }
  }
  const kernels::SourceNotes notes = kernels::source_notes_on(target_, operation_.source_notes(problem));
  configuration.memory_access = {notes.stride_pattern, notes.cache_modifiers, notes.in_place,
                                 notes.saved_vs_recomputed};
  configuration.compute = {notes.precision_ops, notes.casting_mode, notes.algorithm, notes.constexpr_parameters};
  return configuration;
}

}  // namespace hone::repository::native

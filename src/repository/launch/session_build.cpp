// Settings and variants: what is in force, what may be tried, what is compiled, timed and installed.
#include <algorithm>

#include "base/text.hpp"
#include "model/version.hpp"
#include "repository/launch/session.hpp"

namespace hone::repository::launch {

std::vector<model::Settings> LaunchSession::space(const std::string& pass, const std::string& x_value) const {
  auto at = problem(x_value);
  if (!at) return {};
  auto in_force = launcher_.plan({}, pass, **at);
  if (!in_force) return {};
  std::vector<model::Settings> all = {in_force->settings};
  const std::vector<OperationKnob> knobs = operation_->knobs(pass);
  for (model::Settings& settings : (*at)->valid_settings(pass)) {
    const bool same_beyond = std::all_of(knobs.begin(), knobs.end(), [&](const OperationKnob& knob) {
      if (knob.is_swept) return true;
      const auto a = settings.find(knob.name), b = in_force->settings.find(knob.name);
      return a == settings.end() || b == in_force->settings.end() || a->second == b->second;
    });
    if (same_beyond && settings != in_force->settings) all.push_back(std::move(settings));
  }
  return all;
}

std::optional<double> LaunchSession::search_share() const {
  constexpr std::size_t kFew = 100;  // a model of so few points saves less time than it costs to be wrong
  if (!operation_->times_few_in_full()) return std::nullopt;
  for (const std::string& pass : passes_in_scope()) {
    std::size_t pairs = 0;
    for (const std::string& x : sizes()) pairs += space(pass, x).size();
    if (pairs > kFew) return std::nullopt;
  }
  return 1.0;
}

model::Variant LaunchSession::original() const {
  const InstalledEntry* installed = operation_->installed(operation_->dtype());
  model::Variant variant;
  variant.id = "v0";
  variant.strategy = "baseline";
  variant.title = installed != nullptr ? "as installed" : operation_->shipped_title();
  for (const std::string& pass : operation_->passes()) {
    model::SettingsFunction function;
    function.x_name = x_name();
    for (const std::int64_t x : sizes_) {
      auto at = operation_->problem_at(x);
      auto planned = at ? launcher_.plan({}, pass, **at) : base::Result<Planned>(at.error());
      if (!planned) continue;  // sizes were checked when the session was opened
      if (x == sizes_.back()) {
        const std::string unfit = launcher_.why_not_in_force(pass, **at);
        function.reason =
            installed != nullptr && unfit.empty() ? "settings file: " + installed->reason : operation_->shipped_words();
        if (!unfit.empty()) function.reason += "; the installed settings are not in force: " + unfit;
      }
      if (function.rules.empty() || function.rules.back().settings != planned->settings)
        function.rules.push_back({function.rules.empty() ? 0 : x, planned->settings, ""});
    }
    for (model::SettingsRule& rule : function.rules) rule.reason = function.reason;
    variant.settings[pass] = std::move(function);
  }
  variant.edits = launcher_.edits({}, operation_->dtype());
  return variant;
}

base::Result<std::vector<Planned>> LaunchSession::plans(const model::Variant& variant,
                                                        const std::vector<std::string>& passes,
                                                        const Problem& problem) const {
  std::vector<Planned> plans;
  for (const std::string& pass : passes) {
    HONE_TRY(planned, launcher_.plan(variant, pass, problem));
    plans.push_back(std::move(*planned));
  }
  return plans;
}

base::Result<std::vector<Planned>> LaunchSession::provider_plans(const std::string& provider, const std::string& mode,
                                                                 const Problem& problem) const {
  const std::vector<std::string> providers = operation_->providers();
  if (std::find(providers.begin(), providers.end(), provider) == providers.end())
    return base::Error{base::ErrorKind::usage,
                       providers.empty() ? "no provider: this repository has none"
                                         : "a provider of this repository: " + base::join_text(providers, ", "),
                       "'" + provider + "'", "provider", "choose another, or leave it out"};
  std::vector<Planned> plans;
  for (const std::string& pass : passes_of(mode)) {
    HONE_TRY(plan, problem.provider_plan(provider, pass));
    plans.push_back({pass, std::move(*plan), {}});
  }
  return plans;
}

base::Result<BuiltPart> LaunchSession::build_part(const Planned& planned, const Problem& problem,
                                                  const std::vector<model::SourceEdit>& edits) {
  HONE_TRY(compiled, launcher_.program(planned.plan, planned.pass, edits));
  const device::ProgramInfo& info = (*compiled)->info();
  return BuiltPart{planned.pass,
                   std::to_string(problem.x()),
                   info.machine_code_hash,
                   launch_hash(planned.plan),
                   info.registers_per_thread,
                   info.spill_bytes,
                   info.code_bytes};
}

base::Result<BuiltPart> LaunchSession::build_settings(const std::string& pass, const std::string& x_value,
                                                      const model::Settings& settings) {
  HONE_TRY(at, problem(x_value));
  HONE_TRY(plan, (*at)->plan(pass, settings, Ablation::none));
  return build_part({pass, std::move(*plan), settings}, **at, launcher_.edits({}, operation_->dtype()));
}

base::Result<Built> LaunchSession::build(const model::Variant& variant) {
  Built built;
  const std::vector<model::SourceEdit> edits = launcher_.edits(variant, operation_->dtype());
  for (const std::string& pass : operation_->passes())
    for (const std::int64_t x : sizes_) {
      HONE_TRY(at, operation_->problem_at(x));
      HONE_TRY(planned, launcher_.plan(variant, pass, **at));
      HONE_TRY(part, build_part(*planned, **at, edits));
      built.parts.push_back(std::move(*part));
    }
  return built;
}

base::Result<std::unique_ptr<measure::Subject>> LaunchSession::subject(const model::Variant& variant,
                                                                       const Cell& cell) {
  HONE_TRY(at, problem(cell.x_value));
  if (variant.id.empty() || variant.id == "v0") HONE_PROPAGATE(original_compiles({*at}));
  HONE_TRY(planned, plans(variant, passes_of(cell.mode), **at));
  return launcher_.subject(variant.id.empty() ? "v0" : variant.id, *at, *planned,
                           launcher_.edits(variant, operation_->dtype()));
}

base::Result<std::unique_ptr<measure::Subject>> LaunchSession::subject_with(const Cell& cell,
                                                                            const model::Settings& settings) {
  HONE_TRY(at, problem(cell.x_value));
  std::vector<Planned> planned;
  for (const std::string& pass : passes_of(cell.mode)) {
    HONE_TRY(plan, (*at)->plan(pass, settings, Ablation::none));
    planned.push_back({pass, std::move(*plan), settings});
  }
  return launcher_.subject("settings", *at, planned, launcher_.edits({}, operation_->dtype()));
}

base::Result<std::unique_ptr<measure::Subject>> LaunchSession::provider_subject(const std::string& provider,
                                                                                const Cell& cell) {
  HONE_TRY(at, problem(cell.x_value));
  HONE_TRY(planned, provider_plans(provider, cell.mode, **at));
  return launcher_.subject(provider, *at, *planned, {});
}

base::Result<MemoryUse> LaunchSession::memory_of(const Problem& problem, const std::vector<Planned>& plans) const {
  HONE_TRY(tensors, problem.tensors());
  const auto bytes_of = [&](const std::vector<std::string>& names) {
    double bytes = 0;
    for (const TensorSpec& tensor : *tensors)
      if (std::find(names.begin(), names.end(), tensor.name) != names.end())
        bytes += static_cast<double>(tensor.bytes());
    return bytes;
  };
  std::vector<std::string> given, made;
  for (const TensorSpec& tensor : *tensors)
    if (is_given(problem, operation_->passes(), tensor.name)) given.push_back(tensor.name);
  // Forward's results live on while backward runs; scratch of a pass lives only in it.
  double peak = 0;
  for (const Planned& planned : plans) {
    const PassSpec spec = problem.pass(planned.pass);
    for (const auto* names : {&spec.outputs, &spec.saved})
      for (const std::string& name : *names)
        if (std::find(given.begin(), given.end(), name) == given.end()) made.push_back(name);
    peak = std::max(peak, bytes_of(made) + static_cast<double>(peak_scratch_bytes(planned.plan)));
  }
  const double saved = bytes_of(problem.pass(operation_->passes().front()).saved);
  return MemoryUse{peak / 1e6, saved / 1e6, (bytes_of(given) + peak) / 1e6};
}

base::Result<MemoryUse> LaunchSession::memory(const model::Variant& variant, const std::string& x_value) {
  HONE_TRY(at, problem(x_value));
  HONE_TRY(planned, plans(variant, operation_->passes(), **at));
  return memory_of(**at, *planned);
}

base::Result<MemoryUse> LaunchSession::provider_memory(const std::string& provider, const std::string& x_value) {
  HONE_TRY(at, problem(x_value));
  HONE_TRY(planned, provider_plans(provider, "full", **at));
  return memory_of(**at, *planned);
}

base::Result<model::Variant> LaunchSession::variant_from_source(const std::string& text, const model::Variant& best) {
  const std::string main_file = operation_->main_file();
  if (base::trim(text).empty())
    return base::Error{base::ErrorKind::gate, "the changed text of " + main_file, "an empty file",
                       "variant." + variant_file_extension(), "write the whole source file"};
  model::Variant variant = best;
  variant.parent = best.id;
  std::erase_if(variant.edits, [&](const model::SourceEdit& edit) { return edit.file == main_file; });
  variant.edits.push_back({main_file, text});
  return variant;
}

base::Result<std::vector<FileChange>> LaunchSession::installation(const model::Variant& variant) {
  return operation_->installation({device_.info().name, kernels::name_of(operation_->dtype()), variant,
                                   variant.title.empty() ? variant.strategy : variant.title, context_.clock.utc(),
                                   model::hone_version()});
}

}  // namespace hone::repository::launch

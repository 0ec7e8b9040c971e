// The current configuration: every knob with its value by size, and whether it is live, proven by machine code.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/launch/session.hpp"

namespace hone::repository::launch {

namespace {

// "4", or "1024: 4, 8192: 2" where the value varies by size.
std::string by_size(const std::vector<std::pair<std::int64_t, std::int64_t>>& values) {
  if (values.empty()) return "not set";
  const bool constant =
      std::all_of(values.begin(), values.end(), [&](const auto& v) { return v.second == values.front().second; });
  if (constant) return std::to_string(values.front().second);
  std::vector<std::string> parts;
  for (const auto& [x, value] : values) parts.push_back(fmt::format("{}: {}", x, value));
  return base::join_text(parts, ", ");
}

}  // namespace

// On all cores: what the liveness of each knob is read from.
void LaunchSession::compile_knobs(const Problem& problem) {
  std::vector<Launcher::Wanted> wanted;
  for (const Knob& knob : knobs()) {
    const auto in_force = launcher_.plan({}, knob.pass, problem);
    if (!in_force) continue;
    for (const std::int64_t value : knob.values) {
      model::Settings settings = in_force->settings;
      settings[knob.name] = value;
      if (auto plan = problem.plan(knob.pass, settings, Ablation::none))
        wanted.push_back({{knob.pass, std::move(*plan), std::move(settings)}, problem.dtype()});
    }
  }
  launcher_.compile_ahead(wanted);
}

base::Result<model::Parameter> LaunchSession::parameter_of(const Knob& knob) {
  model::Parameter parameter;
  parameter.name = fmt::format("{} ({})", knob.name, knob.pass);
  std::vector<std::pair<std::int64_t, std::int64_t>> values;
  for (const std::int64_t x : sizes_) {
    const auto at = operation_->problem_at(x);
    const auto planned = at ? launcher_.plan({}, knob.pass, **at) : base::Result<Planned>(at.error());
    if (!planned) continue;
    if (const auto set = planned->settings.find(knob.name); set != planned->settings.end())
      values.emplace_back(x, set->second);
  }
  parameter.value = by_size(values);
  HONE_TRY(at, operation_->problem_at(sizes_.back()));
  const InstalledEntry* installed = operation_->installed(operation_->dtype());
  const std::string unfit = launcher_.why_not_in_force(knob.pass, **at);
  const bool is_installed = installed != nullptr && installed->variant.settings.count(knob.pass) > 0 && unfit.empty();
  parameter.how_set = is_installed ? model::HowSet::settings_file : operation_->how_shipped();
  parameter.notes =
      knob.help + (unfit.empty() ? "" : fmt::format("; the installed settings are not in force: {}", unfit));
  if (!unmeasurable().empty()) {
    parameter.live_evidence = "not compiled here";
    return parameter;
  }
  HONE_TRY(in_force, launcher_.plan({}, knob.pass, **at));
  std::set<std::string> programs, codes;
  int tried = 0;
  for (const std::int64_t value : knob.values) {
    model::Settings settings = in_force->settings;
    settings[knob.name] = value;
    auto plan = (*at)->plan(knob.pass, settings, Ablation::none);
    if (!plan) continue;
    auto built = build_part({knob.pass, std::move(*plan), settings}, **at, launcher_.edits({}, operation_->dtype()));
    // Values that do not compile are the sweep's to report; that nothing compiles is an error of the one in force.
    if (!built && (built.error().kind != base::ErrorKind::gate || settings == in_force->settings)) return built.error();
    if (!built) continue;
    codes.insert(built->machine_code_hash);
    programs.insert(built->machine_code_hash + built->launch_hash);
    ++tried;
  }
  if (tried < 2) {
    parameter.live_evidence =
        fmt::format("{} of its {} values can be built at {} = {}", tried, knob.values.size(), x_name(), sizes_.back());
    return parameter;
  }
  parameter.live = programs.size() > 1 ? model::Liveness::live : model::Liveness::dead;
  parameter.live_evidence = fmt::format("{} values give {} distinct machine codes and {} distinct launches at {} = {}",
                                        tried, codes.size(), programs.size(), x_name(), sizes_.back());
  return parameter;
}

base::Result<model::Configuration> LaunchSession::configuration() {
  model::Configuration configuration;
  HONE_TRY(at, operation_->problem_at(sizes_.back()));
  if (unmeasurable().empty()) compile_knobs(**at);
  for (const Knob& knob : knobs()) {
    HONE_TRY(parameter, parameter_of(knob));
    configuration.parameters.push_back(std::move(*parameter));
  }
  operation_->describe(**at, configuration);
  return configuration;
}

}  // namespace hone::repository::launch

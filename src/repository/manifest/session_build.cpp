// Settings, programs, and launches bound to memory.
#include <algorithm>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "repository/launch_subject.hpp"
#include "repository/manifest/manifest_session.hpp"

namespace hone::repository::manifest {

namespace {

device::Argument device_argument(const PlannedArgument& argument, const TensorViews& tensors) {
  return std::visit(
      [&](const auto& value) -> device::Argument {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
          return tensors.at(value);
        else
          return value;
      },
      argument);
}

// Those that a settings function gives for x, or nothing.
const model::Settings* settings_at(const std::map<std::string, model::SettingsFunction>& by_pass,
                                   const std::string& pass, std::int64_t x) {
  const auto found = by_pass.find(pass);
  return found == by_pass.end() || found->second.rules.empty() ? nullptr : &found->second.at(x);
}

}  // namespace

base::Result<model::Settings> ManifestSession::resolve(const model::Variant& variant, const PassDecl& pass,
                                                       const Problem& problem) const {
  std::vector<model::Settings> candidates;
  if (const auto* own = settings_at(variant.settings, pass.name, problem.x)) candidates.push_back(*own);
  if (installed_)
    if (const auto* installed = settings_at(installed_->settings, pass.name, problem.x))
      candidates.push_back(*installed);
  candidates.push_back(current_settings(*manifest_, pass.name));
  base::Error why;
  for (const model::Settings& settings : candidates) {
    auto fits = plan_of(*manifest_, problem, pass, settings);
    if (fits) return settings;
    why = fits.error();
  }
  const std::vector<model::Settings> all = valid_settings(*manifest_, problem, pass);
  if (!all.empty()) return all.front();
  return why;
}

base::Result<void> ManifestSession::check_values_in_force() const {
  for (const PassDecl* pass : passes_in_scope())
    for (const std::string& x : sizes()) {
      auto at = problem(x);
      if (!at) return at.error();
      const auto* installed = installed_ ? settings_at(installed_->settings, pass->name, at->x) : nullptr;
      const std::string& place = installed != nullptr ? manifest_->settings : manifest_->path;
      if (auto runs = plan_of(*manifest_, *at, *pass,
                              installed != nullptr ? *installed : current_settings(*manifest_, pass->name));
          !runs)
        return base::Error{
            base::ErrorKind::usage,
            fmt::format("values in force that run {} at {} = {}: what they take is what others are compared with",
                        pass->name, manifest_->x_name, x),
            runs.error().found, place, "correct the knob's 'value', or leave the size out of 'sizes'"};
    }
  return {};
}

base::Result<Plan> ManifestSession::plan(const model::Variant& variant, const PassDecl& pass,
                                         const Problem& problem) const {
  auto settings = resolve(variant, pass, problem);
  if (!settings) return settings.error();
  return plan_of(*manifest_, problem, pass, *settings);
}

std::vector<Knob> ManifestSession::knobs() const {
  std::vector<Knob> all;
  for (const PassDecl* pass : passes_in_scope())
    for (const KnobDecl* knob : manifest_->knobs_of(pass->name))
      all.push_back({knob->name, pass->name, knob->help, knob->strategy, knob->values});
  return all;
}

std::vector<model::Settings> ManifestSession::space(const std::string& pass_name, const std::string& x_value) const {
  auto at = problem(x_value);
  const PassDecl* pass = manifest_->find_pass(pass_name);
  if (!at || !pass) return {};
  auto in_force = resolve({}, *pass, *at);
  if (!in_force) return {};
  std::vector<model::Settings> all = {*in_force};
  for (model::Settings& settings : valid_settings(*manifest_, *at, *pass))
    if (settings != *in_force) all.push_back(std::move(settings));
  return all;
}

std::optional<double> ManifestSession::search_share() const {
  constexpr std::size_t kFew = 100;  // a model of so few points saves less time than it costs to be wrong
  for (const PassDecl* pass : passes_in_scope()) {
    std::size_t pairs = 0;
    for (const std::string& x : sizes()) pairs += space(pass->name, x).size();
    if (pairs > kFew) return std::nullopt;
  }
  return 1.0;
}

model::Variant ManifestSession::original() const {
  model::Variant variant;
  variant.id = "v0";
  variant.strategy = "baseline";
  variant.title = installed_ ? "as installed" : "as found";
  for (const PassDecl& pass : manifest_->passes) {
    model::SettingsFunction function;
    function.x_name = x_name();
    function.reason = installed_ ? "settings file: " + installed_->reason : "the values of the manifest";
    for (const std::int64_t x : sizes_) {
      auto at = problem_at(*manifest_, x, *dtype_);
      auto settings = at ? resolve({}, pass, *at) : base::Result<model::Settings>(at.error());
      if (!settings) continue;  // sizes were checked when the session was opened
      if (function.rules.empty() || function.rules.back().settings != *settings)
        function.rules.push_back({function.rules.empty() ? 0 : x, *settings, function.reason});
    }
    variant.settings[pass.name] = std::move(function);
  }
  return variant;
}

base::Result<std::shared_ptr<device::Program>> ManifestSession::program(const Plan& plan,
                                                                        const std::vector<model::SourceEdit>& edits) {
  std::string key = plan.pass;
  for (const auto& [define, value] : plan.defines) key += "|" + define + "=" + value;
  // The function that hone writes around a C++ entry takes its arguments as they are typed.
  for (const PlannedLaunch& launch : plan.launches)
    for (const PlannedArgument& argument : launch.arguments) key += static_cast<char>('0' + argument.index());
  for (const model::SourceEdit& edit : edits) key += "|" + edit.file + ":" + base::content_hash(edit.content);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  }
  for (const model::SourceEdit& edit : edits)
    if (edit.file != manifest_->source)
      return base::Error{base::ErrorKind::gate, "an edit of " + manifest_->source, edit.file, manifest_->name,
                         "change the manifest's source file"};
  auto source = program_source(sources_, *manifest_, plan, edits);
  if (!source) return source.error();
  auto compiled = context_.device.compile(*source);
  if (!compiled) return compiled.error();
  const std::lock_guard<std::mutex> lock(mutex_);
  return programs_.emplace(key, std::move(*compiled)).first->second;
}

base::Result<BuiltPart> ManifestSession::build_part(const Plan& plan, const Problem& problem,
                                                    const std::vector<model::SourceEdit>& edits) {
  auto compiled = program(plan, edits);
  if (!compiled) return compiled.error();
  const device::ProgramInfo& info = (*compiled)->info();
  return BuiltPart{plan.pass,         std::to_string(problem.x), info.machine_code_hash,
                   launch_hash(plan), info.registers_per_thread, info.spill_bytes,
                   info.code_bytes};
}

base::Result<BuiltPart> ManifestSession::build_settings(const std::string& pass, const std::string& x_value,
                                                        const model::Settings& settings) {
  auto at = problem(x_value);
  if (!at) return at.error();
  auto planned = plan_of(*manifest_, *at, pass_of(pass), settings);
  if (!planned) return planned.error();
  return build_part(*planned, *at, {});
}

base::Result<Built> ManifestSession::build(const model::Variant& variant) {
  Built built;
  for (const PassDecl& pass : manifest_->passes)
    for (const std::int64_t x : sizes_) {
      auto at = problem_at(*manifest_, x, *dtype_);
      if (!at) return at.error();
      auto planned = plan(variant, pass, *at);
      if (!planned) return planned.error();
      auto part = build_part(*planned, *at, variant.edits);
      if (!part) return part.error();
      built.parts.push_back(std::move(*part));
    }
  return built;
}

base::Result<BoundLaunches> ManifestSession::bind(const Plan& plan, const std::vector<model::SourceEdit>& edits,
                                                  const TensorViews& tensors, ScratchPool* pool) {
  struct Owned {
    std::shared_ptr<device::Program> program;
    std::vector<std::shared_ptr<device::Buffer>> scratch;
  };
  auto compiled = program(plan, edits);
  if (!compiled) return compiled.error();
  auto owned = std::make_shared<Owned>();
  owned->program = std::move(*compiled);
  TensorViews views = tensors;
  ScratchPool own;
  for (const Tensor& scratch : plan.scratch) {
    auto buffer = (pool != nullptr ? *pool : own).take(context_.device, scratch.name, scratch.bytes());
    if (!buffer) return buffer.error();
    views[scratch.name] = {buffer->get(), 0};
    owned->scratch.push_back(std::move(*buffer));
  }
  BoundLaunches bound;
  bound.owned = owned;
  bound.poison = [this, owned]() -> base::Result<void> {
    for (const auto& buffer : owned->scratch)
      if (auto filled = context_.device.fill({buffer.get(), 0}, 0xff, buffer->bytes()); !filled) return filled;
    return {};
  };
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const PlannedLaunch& planned = plan.launches[i];
    device::Launch launch;
    launch.program = owned->program.get();
    launch.entry = entry_of(*manifest_, plan, i);
    launch.programs = planned.grid[0];
    launch.programs_y = static_cast<int>(planned.grid[1]);
    launch.programs_z = static_cast<int>(planned.grid[2]);
    launch.threads = planned.block[0];
    launch.threads_y = planned.block[1];
    launch.threads_z = planned.block[2];
    launch.dynamic_shared_bytes = static_cast<std::size_t>(planned.shared_bytes);
    for (const PlannedArgument& argument : planned.arguments)
      launch.arguments.push_back(device_argument(argument, views));
    bound.launches.push_back(std::move(launch));
  }
  return bound;
}

base::Result<model::Variant> ManifestSession::variant_from_source(const std::string& text, const model::Variant& best) {
  if (base::trim(text).empty())
    return base::Error{base::ErrorKind::gate, "the changed text of " + manifest_->source, "an empty file",
                       "variant." + variant_file_extension(), "write the whole source file"};
  model::Variant variant = best;
  variant.parent = best.id;
  variant.edits = {{manifest_->source, text}};
  return variant;
}

// Every knob is swept: what else there is to try is in the source, and a proposer's to change.
std::vector<Proposal> ManifestSession::propose(const std::string&, const model::Profile&, const model::Variant&) {
  return {};
}

}  // namespace hone::repository::manifest

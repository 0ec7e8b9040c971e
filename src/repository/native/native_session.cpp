// Opening a session, compiling variants, and the subjects that the measuring protocol runs.
#include "repository/native/native_session.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "measure/physics.hpp"
#include "model/version.hpp"
#include "repository/held_out.hpp"
#include "repository/launch_subject.hpp"

namespace hone::repository::native {

namespace {

base::Error unknown_provider(const std::string& provider) {
  return {base::ErrorKind::usage, "a provider of the built-in repository: eager", "'" + provider + "'", "provider",
          "choose eager"};
}

kernels::Pass pass_named(const std::string& name) {
  return name == "backward" ? kernels::Pass::backward : kernels::Pass::forward;
}

// The ceiling of matrix products with operands of a type, where a device has one of its own for it.
std::string matrix_rate_name(kernels::DType dtype) {
  return dtype == kernels::DType::fp32 ? "" : fmt::format("matrix_{}_flops_per_s", kernels::name_of(dtype));
}

std::int64_t number(const std::string& x_value) { return std::strtoll(x_value.c_str(), nullptr, 10); }

}  // namespace

std::vector<kernels::Pass> passes_of(const std::string& mode) {
  if (mode == "forward") return {kernels::Pass::forward};
  if (mode == "backward") return {kernels::Pass::backward};
  return {kernels::Pass::forward, kernels::Pass::backward};
}

base::Result<std::unique_ptr<Session>> NativeSession::open(NativeContext& context, const kernels::Operation& operation,
                                                           const model::Request& request, kernels::DType dtype,
                                                           const kernels::Options& options,
                                                           const kernels::Target& target,
                                                           const std::vector<std::int64_t>& sizes) {
  std::unique_ptr<NativeSession> session(new NativeSession(context, operation));
  session->request_ = request;
  session->dtype_ = dtype;
  session->options_ = options;
  session->target_ = target;
  session->sizes_ = sizes;
  auto installed = session->store_.load(operation.name(), context.device.info().name, kernels::name_of(dtype));
  if (!installed) return installed.error();
  session->installed_ = std::move(*installed);

  model::Identity& identity = session->identity_;
  identity.kernel = operation.name();
  identity.repository = "native";
  identity.source_file = {operation.main_file(), true,
                          "embedded in the program; the text in use is the snapshot beside this profile"};
  identity.benchmark_script = {"", false, "built in: hone bench " + operation.name()};
  identity.test_file = {"", false, "built in: hone verify " + operation.name()};
  identity.tier = operation.tier();
  identity.tier_description = operation.tier_reason();
  identity.source_hash = session->source_hash();
  return std::unique_ptr<Session>(std::move(session));
}

model::Request NativeSession::resolved(const model::Request& asked) const {
  model::Request request = asked;
  request.dtype = kernels::name_of(dtype_);
  request.sizes = sizes();
  request.options = options_;
  request.last_level_cache_bytes = target_.last_level_bytes;
  return request;
}

model::DeviceInfo NativeSession::device() const {
  model::DeviceInfo info = context_.device.info();
  info.target_gpu = request_.target_gpu;
  info.hardware_match = request_.target_gpu == "auto" || request_.target_gpu == info.architecture;
  return info;
}

// A size alone does not say how much work a row of the tables is.
std::vector<std::string> NativeSession::remarks() {
  std::string text;
  bool same = true;
  for (const std::int64_t x : sizes_) {
    const kernels::Problem problem = problem_at(x);
    same = same && problem.rows == problem_at(sizes_.front()).rows;
    text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", problem.rows, x);
  }
  if (same) return {fmt::format("every size has {} rows", problem_at(sizes_.front()).rows)};
  return {fmt::format("rows by {}: {}", x_name(), text)};
}

std::vector<std::string> NativeSession::sizes() const {
  std::vector<std::string> names;
  for (std::int64_t x : sizes_) names.push_back(std::to_string(x));
  return names;
}

std::vector<std::string> NativeSession::held_out_sizes() const {
  std::vector<std::string> names;
  for (const std::int64_t x : sizes_between(sizes_))
    if (operation_.check(problem_at(x)).empty()) names.push_back(std::to_string(x));
  return names;
}

std::vector<std::pair<std::string, std::string>> NativeSession::snapshot() const {
  kernels::Problem problem = problem_at(sizes_.front());
  kernels::Plan plan = operation_.plan(kernels::Pass::forward, problem, resolve({}, kernels::Pass::forward, problem),
                                       target_, kernels::Ablation::none);
  std::vector<std::pair<std::string, std::string>> files;
  if (auto source = program_source(plan, operation_.name(), edits_of({})); source)
    for (const auto& [path, text] : source->files)
      if (path == plan.main_file) files.emplace_back("original_" + operation_.name() + ".hpp", text);
  if (auto settings = store_.text(operation_.name()); settings && !settings->empty())
    files.emplace_back("original_" + operation_.name() + "_settings.json", *settings);
  return files;
}

std::string NativeSession::source_hash() const {
  std::string text = "hone.native/1\n";
  for (const auto& [name, content] : snapshot()) text += name + "\n" + content + "\n";
  for (kernels::Pass pass : {kernels::Pass::forward, kernels::Pass::backward})
    for (std::int64_t x : sizes_) {
      kernels::Problem problem = problem_at(x);
      kernels::Plan plan = operation_.plan(pass, problem, resolve({}, pass, problem), target_, kernels::Ablation::none);
      if (auto source = program_source(plan, operation_.name(), edits_of({})); source)
        for (const auto& [path, content] : source->files) text += path + base::content_hash(content);
      text += launch_hash(plan);
    }
  return base::content_hash(text);
}

kernels::Settings NativeSession::resolve(const model::Variant& variant, kernels::Pass pass,
                                         const kernels::Problem& problem) const {
  if (auto it = variant.settings.find(kernels::name_of(pass));
      it != variant.settings.end() && !it->second.rules.empty()) {
    const model::Settings& settings = it->second.at(operation_.x_of(problem));
    if (operation_.valid(pass, settings, problem, target_).empty()) return settings;
  }
  return settings_in_force(operation_, pass, problem, target_, installed_);
}

std::vector<model::SourceEdit> NativeSession::edits_of(const model::Variant& variant) const {
  if (!variant.edits.empty() || !installed_) return variant.edits;
  return installed_->variant.edits;
}

model::Variant NativeSession::original() const {
  model::Variant variant;
  variant.id = "v0";
  variant.strategy = "baseline";
  variant.title = installed_ ? "as installed" : "as shipped";
  for (kernels::Pass pass : passes_of("full")) {
    model::SettingsFunction function;
    function.x_name = operation_.x_name();
    const std::string unfit = why_not_in_force(operation_, pass, problem_at(sizes_.back()), target_, installed_);
    function.reason =
        installed_ && unfit.empty() ? "settings file: " + installed_->reason : "the kernel's heuristic for this device";
    if (!unfit.empty()) function.reason += "; the installed settings are not in force: " + unfit;
    for (std::int64_t x : sizes_) {
      model::Settings settings = resolve({}, pass, problem_at(x));
      if (function.rules.empty() || function.rules.back().settings != settings)
        function.rules.push_back({function.rules.empty() ? 0 : x, settings, function.reason});
    }
    variant.settings[kernels::name_of(pass)] = std::move(function);
  }
  variant.edits = edits_of({});
  return variant;
}

base::Result<std::shared_ptr<device::Program>> NativeSession::program(const kernels::Plan& plan,
                                                                      const std::string& name,
                                                                      const std::vector<model::SourceEdit>& edits) {
  std::string key = plan.main_file;
  for (const auto& [define, value] : plan.defines) key += "|" + define + "=" + value;
  for (const auto& edit : edits) key += "|" + edit.file + ":" + base::content_hash(edit.content);
  {
    std::lock_guard lock(mutex_);
    if (auto it = programs_.find(key); it != programs_.end()) return it->second;
  }
  auto source = program_source(plan, name, edits);
  if (!source) return source.error();
  auto compiled = context_.device.compile(*source);
  if (!compiled) return compiled.error();
  std::lock_guard lock(mutex_);
  return programs_.emplace(key, std::move(*compiled)).first->second;
}

base::Result<BuiltPart> NativeSession::build_part(kernels::Pass pass, std::int64_t x, const kernels::Settings& settings,
                                                  const std::vector<model::SourceEdit>& edits) {
  kernels::Problem problem = problem_at(x);
  if (std::string broken = operation_.valid(pass, settings, problem, target_); !broken.empty())
    return base::Error{base::ErrorKind::gate, "settings that are valid for the size", broken,
                       fmt::format("{} {} = {}", kernels::name_of(pass), x_name(), x), "leave this configuration out"};
  kernels::Plan plan = operation_.plan(pass, problem, settings, target_, kernels::Ablation::none);
  auto compiled = program(plan, operation_.name() + " " + kernels::name_of(pass), edits);
  if (!compiled) return compiled.error();
  const device::ProgramInfo& info = (*compiled)->info();
  return BuiltPart{kernels::name_of(pass),    std::to_string(x), info.machine_code_hash, launch_hash(plan),
                   info.registers_per_thread, info.spill_bytes,  info.code_bytes};
}

base::Result<BuiltPart> NativeSession::build_settings(const std::string& pass, const std::string& x_value,
                                                      const model::Settings& settings) {
  return build_part(pass_named(pass), number(x_value), settings, edits_of({}));
}

base::Result<Built> NativeSession::build(const model::Variant& variant) {
  Built built;
  for (kernels::Pass pass : passes_of("full"))
    for (std::int64_t x : sizes_) {
      auto part = build_part(pass, x, resolve(variant, pass, problem_at(x)), edits_of(variant));
      if (!part) return part.error();
      built.parts.push_back(std::move(*part));
    }
  return built;
}

base::Result<std::shared_ptr<Workload>> NativeSession::workload(std::int64_t x) {
  for (auto it = workloads_.begin(); it != workloads_.end(); ++it)
    if (it->first == x) {
      std::rotate(it, it + 1, workloads_.end());
      return workloads_.back().second;
    }
  kernels::Problem problem = problem_at(x);
  double needed = 0;
  for (const kernels::TensorSpec& tensor : operation_.tensors(problem)) needed += static_cast<double>(tensor.bytes());
  // Subjects keep the workload they were made with; dropping one here frees it when its last subject goes.
  const double limit = 0.4 * static_cast<double>(context_.device.info().total_memory_bytes);
  while (!workloads_.empty() && static_cast<double>(context_.device.allocated_bytes()) + 2 * needed > limit)
    workloads_.erase(workloads_.begin());

  auto created = Workload::create(context_.device, operation_, problem, request_.seed);
  if (!created) return created.error();
  std::shared_ptr<Workload> shared = std::move(*created);
  // What forward saves for backward is the same for every variant: the shipped forward writes it once.
  kernels::Plan plan = operation_.plan(kernels::Pass::forward, problem, resolve({}, kernels::Pass::forward, problem),
                                       target_, kernels::Ablation::none);
  auto compiled = program(plan, operation_.name() + " forward", edits_of({}));
  if (!compiled) return compiled.error();
  auto bound = BoundPlan::bind(context_.device, plan, *compiled, shared->views());
  if (!bound) return bound.error();
  if (auto ran = context_.device.run((*bound)->launches()); !ran) return ran.error();
  if (auto kept = shared->keep_saved(); !kept) return kept.error();
  if (auto restored = shared->restore(kernels::Pass::forward); !restored) return restored.error();
  workloads_.emplace_back(x, shared);
  return shared;
}

base::Result<std::unique_ptr<measure::Subject>> NativeSession::make_subject(
    const std::string& name, std::int64_t x, const std::vector<std::pair<kernels::Pass, kernels::Plan>>& passes,
    const std::vector<model::SourceEdit>& edits) {
  auto tensors = workload(x);
  if (!tensors) return tensors.error();
  // Subjects of one size share the workload: same inputs, same addresses.
  auto subject = std::make_unique<LaunchSubject>(name, context_.device);
  for (const auto& [pass, plan] : passes) {
    auto compiled = program(plan, operation_.name() + " " + kernels::name_of(pass), edits);
    if (!compiled) return compiled.error();
    auto bound = BoundPlan::bind(context_.device, plan, *compiled, (*tensors)->views(), &scratch_);
    if (!bound) return bound.error();
    const std::vector<device::Launch>& launches = (*bound)->launches();
    subject->add(
        launches, [workload = *tensors, pass = pass] { return workload->restore(pass); },
        std::shared_ptr<BoundPlan>(std::move(*bound)));
  }
  return std::unique_ptr<measure::Subject>(std::move(subject));
}

base::Result<std::unique_ptr<measure::Subject>> NativeSession::subject(const model::Variant& variant,
                                                                       const Cell& cell) {
  std::vector<std::pair<kernels::Pass, kernels::Plan>> passes;
  kernels::Problem problem = problem_at(number(cell.x_value));
  for (kernels::Pass pass : passes_of(cell.mode))
    passes.emplace_back(
        pass, operation_.plan(pass, problem, resolve(variant, pass, problem), target_, kernels::Ablation::none));
  return make_subject(variant.id.empty() ? "v0" : variant.id, number(cell.x_value), passes, edits_of(variant));
}

base::Result<std::unique_ptr<measure::Subject>> NativeSession::subject_with(const Cell& cell,
                                                                            const model::Settings& settings) {
  std::vector<std::pair<kernels::Pass, kernels::Plan>> passes;
  kernels::Problem problem = problem_at(number(cell.x_value));
  for (kernels::Pass pass : passes_of(cell.mode)) {
    if (std::string broken = operation_.valid(pass, settings, problem, target_); !broken.empty())
      return base::Error{base::ErrorKind::gate, "settings that are valid for the size", broken,
                         cell.mode + " " + x_name() + " = " + cell.x_value, "leave this configuration out"};
    passes.emplace_back(pass, operation_.plan(pass, problem, settings, target_, kernels::Ablation::none));
  }
  return make_subject("settings", number(cell.x_value), passes, edits_of({}));
}

base::Result<std::unique_ptr<measure::Subject>> NativeSession::provider_subject(const std::string& provider,
                                                                                const Cell& cell) {
  if (provider != "eager") return unknown_provider(provider);
  std::vector<std::pair<kernels::Pass, kernels::Plan>> passes;
  kernels::Problem problem = problem_at(number(cell.x_value));
  for (kernels::Pass pass : passes_of(cell.mode))
    passes.emplace_back(pass, operation_.eager_plan(pass, problem, target_));
  return make_subject("eager", number(cell.x_value), passes, {});
}

PassFloor NativeSession::floor(const Cell& cell) {
  PassFloor total;
  kernels::Problem problem = problem_at(number(cell.x_value));
  for (kernels::Pass pass : passes_of(cell.mode)) {
    kernels::Traffic traffic = operation_.traffic(pass, problem);
    total.bytes += traffic.bytes();
    total.flops += traffic.flops;
    total.bytes_read += traffic.bytes_read, total.bytes_written += traffic.bytes_written;
    if (!context_.ceilings->known()) continue;
    const std::int64_t cache =
        std::max(target_.last_level_bytes, context_.device.info().largest_last_level_cache_bytes());
    const measure::PhysicsFloor floor = measure::physics_floor(
        {traffic.bytes_read, traffic.bytes_written, traffic.flops, traffic.matrix_flops, matrix_rate_name(dtype_)},
        *context_.ceilings->known(), {static_cast<double>(cache)});
    total.floor_ms += floor.reference_ns / 1e6;
    // What forward leaves in the cache backward need not fetch: of both in a row only the longer one is certain.
    total.physics_floor_ms = std::max(total.physics_floor_ms, floor.floor_ns / 1e6);
    total.ceiling = floor.reference_ceiling;
  }
  return total;
}

MemoryUse NativeSession::memory_of(const kernels::Problem& problem, const kernels::Plan& forward,
                                   const kernels::Plan& backward) const {
  std::map<std::string, double> bytes;
  for (const kernels::TensorSpec& tensor : operation_.tensors(problem))
    bytes[tensor.name] = static_cast<double>(tensor.bytes());
  kernels::PassSpec first = operation_.pass(kernels::Pass::forward, problem),
                    second = operation_.pass(kernels::Pass::backward, problem);
  auto is_saved = [&](const std::string& name) {
    return std::find(first.saved.begin(), first.saved.end(), name) != first.saved.end();
  };
  auto contains = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };

  double callers = 0, forward_own = 0, backward_own = 0, saved = 0;
  for (const auto& [name, size] : bytes) {
    const bool produced = contains(first.outputs, name) || is_saved(name) || contains(second.outputs, name);
    const bool given = contains(first.inputs, name) || (contains(second.inputs, name) && !produced);
    if (given) callers += size;
    if (is_saved(name)) saved += size;
    if (!given && (contains(first.outputs, name) || is_saved(name))) forward_own += size;
    if (!given && contains(second.outputs, name)) backward_own += size;
  }
  // Forward's results live on while backward runs; scratch of a pass lives only in it.
  const double peak = std::max(forward_own + static_cast<double>(peak_scratch_bytes(forward)),
                               forward_own + backward_own + static_cast<double>(peak_scratch_bytes(backward)));
  return {peak / 1e6, saved / 1e6, (callers + peak) / 1e6};
}

base::Result<MemoryUse> NativeSession::memory(const model::Variant& variant, const std::string& x_value) {
  kernels::Problem problem = problem_at(number(x_value));
  auto plan = [&](kernels::Pass pass) {
    return operation_.plan(pass, problem, resolve(variant, pass, problem), target_, kernels::Ablation::none);
  };
  return memory_of(problem, plan(kernels::Pass::forward), plan(kernels::Pass::backward));
}

base::Result<MemoryUse> NativeSession::provider_memory(const std::string& provider, const std::string& x_value) {
  if (provider != "eager") return unknown_provider(provider);
  kernels::Problem problem = problem_at(number(x_value));
  return memory_of(problem, operation_.eager_plan(kernels::Pass::forward, problem, target_),
                   operation_.eager_plan(kernels::Pass::backward, problem, target_));
}

base::Result<std::vector<FileChange>> NativeSession::installation(const model::Variant& variant) {
  InstalledEntry entry{context_.device.info().name, kernels::name_of(dtype_), variant, variant.title,
                       context_.clock.utc(),        model::hone_version()};
  auto before = store_.text(operation_.name());
  if (!before) return before.error();
  auto after = store_.text_with(operation_.name(), entry);
  if (!after) return after.error();
  return std::vector<FileChange>{{store_.path(operation_.name()), *before, *after, !before->empty()}};
}

std::vector<kernels::Pass> NativeSession::passes_in_scope() const {
  if (request_.scope == "forward") return {kernels::Pass::forward};
  if (request_.scope == "backward") return {kernels::Pass::backward};
  return passes_of("full");
}

}  // namespace hone::repository::native

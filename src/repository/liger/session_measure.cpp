// Machine code, subjects, memory, floors, ceilings and counters.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "measure/dtypes.hpp"
#include "measure/physics.hpp"
#include "measure/statistics.hpp"
#include "repository/liger/liger_session.hpp"
#include "repository/liger/reproduction.hpp"

namespace hone::repository::liger {

namespace {

constexpr const char* kFormula = "formula";

double element_bytes(const std::string& dtype) { return dtype == "fp32" ? 4 : 2; }

base::Error unknown_provider(const std::string& provider) {
  return {base::ErrorKind::usage, "a provider of a Liger checkout: torch", "'" + provider + "'", "provider",
          "choose torch"};
}

model::Ceiling summary_of(const std::vector<double>& samples) {
  model::Ceiling ceiling;
  ceiling.samples = static_cast<int>(samples.size());
  ceiling.p20 = measure::quantile(samples, 0.2).value_or(0);
  ceiling.p50 = measure::quantile(samples, 0.5).value_or(0);
  ceiling.p80 = measure::quantile(samples, 0.8).value_or(0);
  return ceiling;
}

// The kernel that a pass spends its settings on: the one with the most programs' work is not known, so the first.
std::string text_of_launch(const LaunchedKernel& kernel) {
  std::string text = kernel.name;
  for (std::int64_t extent : kernel.grid) text += "," + std::to_string(extent);
  return text + fmt::format(" w{} s{}", kernel.num_warps, kernel.shared_bytes);
}

}  // namespace

base::Result<BuiltPart> LigerSession::build_part(const std::string& implementation, const std::string& pass,
                                                 const std::string& x_value) {
  const std::string key = implementation + "|" + pass + "|" + x_value;
  if (const auto known = built_.find(key); known != built_.end()) return known->second;
  auto running = worker_with(implementation);
  if (!running) return running.error();
  auto reply = (*running)->build(implementation, case_of(x_value), pass);
  if (!reply) return failed(implementation, reply.error());
  BuiltPart part;
  part.pass = pass;
  part.x_value = x_value;
  std::string code, launch = reply->operations;
  part.spill_bytes = 0;
  for (const LaunchedKernel& kernel : reply->kernels) {
    code += kernel.code_hash + "\n";
    launch += text_of_launch(kernel) + "\n";
    part.registers_per_thread = std::max(part.registers_per_thread, kernel.registers);
    part.spill_bytes += std::max(0, kernel.spills);
    part.code_bytes += kernel.code_bytes;
  }
  part.machine_code_hash = base::content_hash(code);
  part.launch_hash = base::content_hash(launch);
  built_[key] = part;
  if (implementation == "v0") {
    // What the checkout's own settings are, as the launches of the original show them.
    model::Settings settings;
    const model::DeviceInfo& info = (*running)->started().device;
    for (const Knob& knob : knobs()) {
      if (knob.pass != pass || reply->kernels.empty()) continue;
      const LaunchedKernel& kernel = reply->kernels.front();
      if (knob.name == "num_warps")
        settings[knob.name] = kernel.num_warps;
      else if (knob.name == "num_stages")
        settings[knob.name] = kernel.num_stages;
      else if (knob.name == "programs_per_sm")
        settings[knob.name] =
            std::max<std::int64_t>(1, kernel.grid.empty() ? 1 : kernel.grid.front() / std::max(1, info.sm_count));
    }
    shipped_[{pass, x_value}] = settings;
  }
  return part;
}

// A failure here is met again, with its reason, where the pass is run.
void LigerSession::compile_ahead(const std::vector<std::string>& implementations, const std::vector<CaseSpec>& cases,
                                 const std::vector<std::string>& passes) {
  std::vector<std::string> loaded;
  for (const std::string& implementation : implementations)
    if (worker_with(implementation)) loaded.push_back(implementation);
  std::vector<AheadItem> items;  // a case's together, so that the worker makes its inputs once
  for (const CaseSpec& spec : cases)
    for (const std::string& implementation : loaded)
      for (const std::string& pass : passes) items.push_back({implementation, spec, pass});
  if (items.size() < 2 || worker_device_ == "cpu") return;
  if (auto compiled = worker_->compile_ahead(items); !compiled) (void)failed(implementations.back(), compiled.error());
}

void LigerSession::learn_shipped() {
  if (!facts_) return;
  std::vector<std::string> all = sizes();
  for (const std::string& x : held_out_sizes()) all.push_back(x);
  std::vector<CaseSpec> missing;
  for (const std::string& x : all)
    if (!shipped_.count({passes().front(), x})) missing.push_back(case_of(x));
  if (!missing.empty()) compile_ahead({"v0"}, missing, passes());
  for (const std::string& x : all)
    for (const std::string& pass : passes())
      if (!shipped_.count({pass, x}))
        (void)build_part("v0", pass, x).ok();  // a pass that does not run is found out where it is asked for
}

// More programs mean more partial results. Values that need more memory than a variant may are no use to anybody: they are
// left out of the sweep, by one measurement each at the largest size.
void LigerSession::probe_memory_of_programs() {
  if (memory_probed_ || !facts_ || worker_device_ == "cpu") return;
  memory_probed_ = true;
  constexpr double kMostMemory = 1.05;  // the guardrail of optimize
  const std::string x = std::to_string(sizes_.back());
  auto before = memory_of("v0", x);
  if (!before || !(before->peak_over_inputs_mb > 0)) return;
  for (const Knob& knob : knobs()) {
    if (knob.name != "programs_per_sm") continue;
    std::vector<model::Settings> each;
    for (std::int64_t value : knob.values) {
      model::Settings settings = shipped_[{knob.pass, x}];
      if (value == 1 || settings.empty()) continue;
      settings["programs_per_sm"] = value;
      each.push_back(std::move(settings));
    }
    build_ahead(knob.pass, std::vector<std::string>(each.size(), x), each);
    for (const model::Settings& settings : each) {
      auto implementation = implementation_with(knob.pass, x, settings);
      if (!implementation) continue;
      auto after = memory_of(*implementation, x);
      if (after && after->peak_over_inputs_mb > kMostMemory * before->peak_over_inputs_mb)
        too_much_memory_[knob.pass][settings.at("programs_per_sm")] =
            after->peak_over_inputs_mb / before->peak_over_inputs_mb;
    }
  }
}

base::Result<Built> LigerSession::build(const model::Variant& variant) {
  std::lock_guard lock(mutex_);
  learn_shipped();
  probe_memory_of_programs();
  auto text = text_of(variant);
  if (!text) return text.error();
  auto implementation = implementation_of(*text);
  if (!implementation) return implementation.error();
  if (!built_.count(*implementation + "|" + passes().back() + "|" + sizes().back())) {
    std::vector<CaseSpec> cases;
    for (const std::string& x : sizes()) cases.push_back(case_of(x));
    compile_ahead({*implementation}, cases, passes());
  }
  Built built;
  for (const std::string& x : sizes())
    for (const std::string& pass : passes()) {
      auto part = build_part(*implementation, pass, x);
      if (!part) return part.error();
      built.parts.push_back(std::move(*part));
    }
  return built;
}

base::Result<std::string> LigerSession::implementation_with(const std::string& pass, const std::string& x_value,
                                                            const model::Settings& settings) {
  const auto known = shipped_.find({pass, x_value});
  if (known != shipped_.end() && known->second == settings) return std::string("v0");
  std::string& name = configured_[{pass, settings}];
  if (name.empty()) {
    auto text = with_settings(text_, {{pass, {x_name(), {{0, settings, ""}}, 0, "one configuration of the sweep"}}});
    if (!text) return text.error();
    auto implementation = implementation_of(*text);
    if (!implementation) return implementation.error();
    name = *implementation;
  }
  return name;
}

// A failure here is met again, with its reason, where the configuration is built.
void LigerSession::build_ahead(const std::string& pass, const std::vector<std::string>& x_values,
                               const std::vector<model::Settings>& settings) {
  std::lock_guard lock(mutex_);
  if (worker_device_ == "cpu") return;
  std::vector<AheadItem> items;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    auto implementation = implementation_with(pass, x_values[i], settings[i]);
    if (!implementation || built_.count(*implementation + "|" + pass + "|" + x_values[i])) continue;
    if (worker_with(*implementation)) items.push_back({*implementation, case_of(x_values[i]), pass});
  }
  if (items.size() < 2) return;
  if (auto compiled = worker_->compile_ahead(items); !compiled) (void)failed("v0", compiled.error());
}

base::Result<BuiltPart> LigerSession::build_settings(const std::string& pass, const std::string& x_value,
                                                     const model::Settings& settings) {
  std::lock_guard lock(mutex_);
  auto implementation = implementation_with(pass, x_value, settings);
  if (!implementation) return implementation.error();
  return build_part(*implementation, pass, x_value);
}

base::Result<std::unique_ptr<measure::Subject>> LigerSession::subject(const model::Variant& variant, const Cell& cell) {
  std::lock_guard lock(mutex_);
  auto text = text_of(variant);
  if (!text) return text.error();
  auto implementation = implementation_of(*text);
  if (!implementation) return implementation.error();
  return subject_of(variant.id.empty() ? "v0" : variant.id, *implementation, cell);
}

base::Result<std::unique_ptr<measure::Subject>> LigerSession::subject_with(const Cell& cell,
                                                                           const model::Settings& settings) {
  std::lock_guard lock(mutex_);
  auto implementation = implementation_with(cell.mode, cell.x_value, settings);
  if (!implementation) return implementation.error();
  return subject_of("settings", *implementation, cell);
}

base::Result<std::unique_ptr<measure::Subject>> LigerSession::provider_subject(const std::string& provider,
                                                                               const Cell& cell) {
  if (provider != "torch") return unknown_provider(provider);
  return subject_of(provider, kFormula, cell);
}

base::Result<std::optional<PassParts>> LigerSession::parts(const model::Variant& variant, const Cell& cell) {
  std::lock_guard lock(mutex_);
  auto text = text_of(variant);
  if (!text) return text.error();
  auto implementation = implementation_of(*text);
  if (!implementation) return implementation.error();
  auto running = worker_with(*implementation);
  if (!running) return running.error();
  constexpr int kSamples = 15;
  auto reply = (*running)->parts(*implementation, case_of(cell.x_value), cell.mode, kSamples);
  if (!reply) return failed(*implementation, reply.error());
  PassParts parts;
  parts.pass_ms = reply->device_ns / 1e6;
  parts.samples = kSamples;
  for (const auto& [name, ns] : reply->kernels) parts.kernels_ms.emplace_back(name, ns / 1e6);
  return std::optional(std::move(parts));
}

base::Result<MemoryUse> LigerSession::memory_of(const std::string& implementation, const std::string& x_value) {
  std::lock_guard lock(mutex_);
  auto running = worker_with(implementation);
  if (!running) return running.error();
  auto reply = (*running)->memory(implementation, case_of(x_value));
  if (!reply) return failed(implementation, reply.error());
  return MemoryUse{reply->peak_bytes / 1e6, reply->saved_bytes / 1e6, (reply->peak_bytes + reply->input_bytes) / 1e6};
}

base::Result<MemoryUse> LigerSession::memory(const model::Variant& variant, const std::string& x_value) {
  std::lock_guard lock(mutex_);
  auto text = text_of(variant);
  if (!text) return text.error();
  auto implementation = implementation_of(*text);
  if (!implementation) return implementation.error();
  return memory_of(*implementation, x_value);
}

base::Result<MemoryUse> LigerSession::provider_memory(const std::string& provider, const std::string& x_value) {
  if (provider != "torch") return unknown_provider(provider);
  return memory_of(kFormula, x_value);
}

base::Result<model::Ceilings> LigerSession::look_at_ceilings() {
  auto running = worker();
  if (!running) return running.error();
  auto samples = (*running)->ceilings(request_.quick);
  if (!samples) return samples.error();
  model::Ceilings ceilings;
  for (const auto& [name, values] : *samples) ceilings.by_name[name] = summary_of(values);
  ceilings.measured_at = context_.clock.utc();
  ceilings.notes = {
      "PyTorch's own copy, fill, maximum and matrix product, device time by events with cold caches; fma_flops_per_s "
      "is a float32 matrix product"};
  return ceilings;
}

base::Result<model::Ceilings> LigerSession::ceilings() {
  std::lock_guard lock(mutex_);
  if (ceilings_) return *ceilings_;
  auto seen = look_at_ceilings();
  if (!seen) return seen.error();
  ceilings_ = std::move(*seen);
  return *ceilings_;
}

void LigerSession::take_ceilings(const model::Ceilings& ceilings) {
  std::lock_guard lock(mutex_);
  ceilings_ = ceilings;
}

base::Result<model::Ceilings> LigerSession::ceilings_again() {
  std::lock_guard lock(mutex_);
  auto first = ceilings();
  if (!first) return first.error();
  auto second = look_at_ceilings();
  if (!second) return second.error();
  ceilings_ = measure::larger_rates(*first, *second);
  return *ceilings_;
}

PassFloor LigerSession::floor(const Cell& cell) {
  PassFloor total;
  if (!facts_ || !facts_->traffic) return total;
  const CaseSpec spec = case_of(cell.x_value);
  std::int64_t cache = 0;
  if (worker_) cache = worker_->started().device.last_level_cache_bytes();
  const std::vector<std::string> all = passes();
  for (const std::string& pass : cell.mode == "full" ? all : std::vector<std::string>{cell.mode}) {
    const Traffic traffic = facts_->traffic(pass, spec.shape, element_bytes(spec.dtype));
    total.bytes += traffic.bytes();
    total.flops += traffic.flops;
    if (!ceilings_ || traffic.bytes() <= 0) continue;
    model::Ceilings ceilings = *ceilings_;
    // A pass with matrix products is held against the matrix units of its type, others against float32 arithmetic.
    const bool matrices = spec.shape.count("hidden") > 0;
    if (matrices && spec.dtype != "fp32")
      ceilings.by_name["fma_flops_per_s"] =
          ceilings.by_name[spec.dtype == "fp16" ? "matrix_fp16_flops_per_s" : "matrix_bf16_flops_per_s"];
    const measure::PhysicsFloor floor = measure::physics_floor(
        {traffic.bytes_read, traffic.bytes_written, traffic.flops}, ceilings, {static_cast<double>(cache)});
    total.floor_ms += floor.reference_ns / 1e6;
    // What forward leaves in the cache backward need not fetch: of both in a row only the longer one is certain.
    total.physics_floor_ms = std::max(total.physics_floor_ms, floor.floor_ns / 1e6);
    total.ceiling = floor.reference_ceiling;
  }
  return total;
}

base::Result<model::Configuration> LigerSession::configuration() {
  model::Configuration configuration = op_.configuration;
  if (!unmeasurable_.empty()) return configuration;
  std::lock_guard lock(mutex_);
  learn_shipped();
  probe_memory_of_programs();
  const std::string largest = std::to_string(sizes_.back());
  // Whether a knob does anything shows at any size. At the largest its extreme values, which no sweep would try there, take
  // longer to compile than everything else of the profile (rms_norm, one warp for 16384 columns: half a minute).
  const std::string representative = sizes()[sizes().size() / 2];
  for (const Knob& knob : knobs()) {
    model::Parameter parameter;
    parameter.name = fmt::format("{} ({})", knob.name, knob.pass);
    parameter.how_set = model::HowSet::settings_function;
    parameter.notes = knob.help;
    if (knob.name == "programs_per_sm")
      for (const auto& [value, ratio] : too_much_memory_[knob.pass])
        parameter.notes += fmt::format("; {} needs {:.2f} x the memory and is left out", value, ratio);
    std::vector<std::string> values;
    std::set<std::int64_t> different;
    for (const std::string& x : sizes())
      if (const auto known = shipped_.find({knob.pass, x}); known != shipped_.end() && known->second.count(knob.name)) {
        values.push_back(fmt::format("{}: {}", x, known->second.at(knob.name)));
        different.insert(known->second.at(knob.name));
      }
    parameter.value = different.size() == 1 ? std::to_string(*different.begin()) : base::join_text(values, ", ");
    std::set<std::string> codes, launches;
    int tried = 0;
    std::vector<model::Settings> each;
    for (std::int64_t value : knob.values) {
      each.push_back(shipped_[{knob.pass, representative}]);
      each.back()[knob.name] = value;
    }
    build_ahead(knob.pass, std::vector<std::string>(each.size(), representative), each);
    for (const model::Settings& settings : each) {
      auto part = build_settings(knob.pass, representative, settings);
      if (!part) continue;
      codes.insert(part->machine_code_hash);
      launches.insert(part->machine_code_hash + part->launch_hash);
      ++tried;
    }
    if (tried > 1) {
      parameter.live = launches.size() > 1 ? model::Liveness::live : model::Liveness::dead;
      parameter.live_evidence =
          fmt::format("{} values give {} distinct machine codes and {} distinct launches at {} = {}", tried,
                      codes.size(), launches.size(), x_name(), representative);
    } else {
      parameter.live_evidence =
          fmt::format("{} of its values could be built at {} = {}", tried, x_name(), representative);
    }
    configuration.parameters.push_back(std::move(parameter));
  }
  for (const std::string& pass : passes())
    if (const auto part = built_.find("v0|" + pass + "|" + largest); part != built_.end()) {
      model::Parameter registers;
      registers.name = fmt::format("registers a thread ({})", pass);
      registers.value = std::to_string(part->second.registers_per_thread);
      registers.notes = fmt::format("{} bytes spilled, {} bytes of instructions, at {} = {}", part->second.spill_bytes,
                                    part->second.code_bytes, x_name(), largest);
      registers.how_set = model::HowSet::default_value;
      registers.live_evidence = "of the compiled kernel";
      configuration.parameters.push_back(std::move(registers));
    }
  return configuration;
}

base::Result<model::Counters> LigerSession::counters() {
  std::lock_guard lock(mutex_);
  WorkerSetup setup;
  setup.device = worker_device_;
  setup.source = base::join(context_.root, "src");
  setup.op = op_.op;
  setup.module = module_;
  std::vector<std::string> kernels;
  for (const model::KernelFact& kernel : op_.jit_kernels)
    if (!kernel.is_device_helper) kernels.push_back(kernel.name);
  const std::string script = base::join(base::parent(context_.scratch), "repro_" + op_.op + ".py");
  const counters::CaptureRequest request = reproduction_capture(context_.python, script, kernels);
  const std::string by_hand = counters::command_by_hand(request);
  const std::string text = reproduction_script(setup, case_of(std::to_string(sizes_.back())), passes(), by_hand);
  if (auto written = context_.files.write_atomically(script, text); !written) return written.error();
  std::map<std::string, std::string> environment;
  for (const char* name : {"PATH", "CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(name)) environment[name] = value;
  auto counters = counters::collect(context_.processes, context_.files, environment, request);
  if (counters && counters->status != "available")
    counters->remedy +=
        "; where counters may be read, capture by hand and give the file to 'hone counters': " + by_hand;
  return counters;
}

}  // namespace hone::repository::liger

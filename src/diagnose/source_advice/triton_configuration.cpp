// "Current Configuration Analysis" of a Triton operation from source: settings and how each is set, memory access, compute patterns.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/source_advice/parts.hpp"

namespace hone::diagnose {

namespace {

using model::HowSet;

HowSet how_set(const std::string& source) {
  if (source == "calculate_settings" || source == "next_power_of_2" || source == "heuristic-helper" ||
      source == "conditional") {
    return HowSet::settings_function;
  }
  if (source == "autotune") return HowSet::autotune;
  if (source == "caller-parameter") return HowSet::passed_by_caller;
  if (source == "default") return HowSet::default_value;
  return HowSet::hard_coded;
}

void add_parameter(model::Configuration& configuration, const model::LaunchFact& launch,
                   const model::SettingSource& setting, std::string value, model::Liveness live, std::string evidence) {
  model::Parameter parameter;
  parameter.name = setting.param;
  parameter.value = std::move(value);
  parameter.how_set = how_set(setting.source);
  parameter.notes = fmt::format("{}, launch at line {}: {}", launch.kernel, launch.line, setting.detail);
  parameter.live = live;
  parameter.live_evidence = std::move(evidence);
  configuration.parameters.push_back(std::move(parameter));
}

void add_settings(model::Configuration& configuration, const model::LaunchFact& launch,
                  const model::KernelFact& kernel) {
  for (const model::SettingSource& block : launch.block_sources) {
    const bool unread =
        std::find(kernel.unused_params.begin(), kernel.unused_params.end(), block.param) != kernel.unused_params.end();
    add_parameter(configuration, launch, block, block.text.value_or(block.detail),
                  unread ? model::Liveness::dead : model::Liveness::live,
                  unread ? "the kernel never reads it" : "a compile-time constant the kernel reads");
  }
  add_parameter(configuration, launch, launch.num_warps, launch.num_warps_effective,
                launch.num_warps.bound_to_kernel_parameter ? model::Liveness::dead : model::Liveness::live,
                launch.num_warps.bound_to_kernel_parameter
                    ? "it reaches only the kernel's parameter of that name; the launch runs with Triton's default of 4"
                    : "it sets the threads of a program");
  const bool stages_bound = launch.num_stages.bound_to_kernel_parameter;
  add_parameter(configuration, launch, launch.num_stages, launch.num_stages_effective,
                stages_bound ? model::Liveness::dead : launch.num_stages_live,
                stages_bound
                    ? "it reaches only the kernel's parameter of that name; the launch runs with Triton's default of 3"
                    : launch.num_stages_reason);
  model::Parameter grid;
  grid.name = "grid";
  grid.value = launch.grid_resolved;
  grid.how_set = HowSet::hard_coded;
  grid.notes = fmt::format("{}, launch at line {}", launch.kernel, launch.line);
  grid.live = model::Liveness::live;
  grid.live_evidence = "it sets the number of programs";
  configuration.parameters.push_back(std::move(grid));
}

std::string algorithm_of(const model::KernelFact& kernel) {
  if (!kernel.dot_lines.empty()) return kernel.name + ": tiled matrix product";
  std::size_t passes = 0;
  bool over_rows = false;
  for (const model::LoopFact& loop : kernel.loops) {
    if (loop.depth != 1 || !loop.loads_inside) continue;
    ++passes;
    over_rows = over_rows || loop.iter.find("row") != std::string::npos ||
                loop.iter.find("num_programs") != std::string::npos || loop.iter.find("NUM_SMS") != std::string::npos;
  }
  if (passes == 0) return kernel.name + ": single pass, a row or tile held in registers";
  if (over_rows) return kernel.name + ": each program walks several rows";
  const bool online =
      std::any_of(kernel.reductions.begin(), kernel.reductions.end(), [](const auto& r) { return r.op == "max"; }) &&
      std::any_of(kernel.reductions.begin(), kernel.reductions.end(), [](const auto& r) { return r.op == "sum"; });
  return fmt::format("{}: chunked, {} pass{} over the row{}", kernel.name, passes, passes == 1 ? "" : "es",
                     online ? ", running maximum and sum" : "");
}

}  // namespace

model::Configuration triton_configuration(const model::AuditedOp& op) {
  model::Configuration configuration;
  Listing strides, hints, algorithms, casts, constexprs, precision;
  for (std::size_t i = 0; i < op.launches.size(); ++i) {
    const model::KernelFact& kernel = op.launched[i];
    if (kernel.name.empty()) continue;
    add_settings(configuration, op.launches[i], kernel);
    bool column_arange = false;
    for (const model::AccessFact& access : kernel.accesses) column_arange = column_arange || access.masked;
    strides.add(fmt::format("{}: {} loads, {} stores{}", kernel.name,
                            kernel.load_lines.size() + kernel.descriptor_load_lines.size(),
                            kernel.store_lines.size() + kernel.descriptor_store_lines.size(),
                            column_arange ? ", neighbouring lanes on neighbouring elements under a mask" : ""));
    for (const model::CacheHint& hint : kernel.cache_hints)
      hints.add(fmt::format("{} {} {} (line {})", hint.call, hint.keyword, hint.value, hint.keyword_line));
    algorithms.add(algorithm_of(kernel));
    casts.add(kernel.float32_cast_lines.empty() ? kernel.name + ": computes in the type of its inputs"
                                                : fmt::format("{}: widened to float32 at lines {}", kernel.name,
                                                              lines_text(kernel.float32_cast_lines)));
    for (const std::string& name : kernel.constexpr_params) constexprs.add(name);
    for (const model::MathFact& math : kernel.precision_ops)
      precision.add(fmt::format("{} (line {})", math.spelled, math.line));
    for (const model::HelperCall& call : kernel.calls_jit_helpers) {
      for (const std::string& math : call.precision_ops)
        precision.add(fmt::format("{} through {} (line {})", math, call.name, call.line));
    }
  }
  configuration.memory_access.stride_pattern = strides.text("no launch to read it from");
  configuration.memory_access.cache_modifiers = hints.text("none");
  Listing in_place;
  for (const model::InPlaceEvidence& evidence : op.in_place.evidence) {
    in_place.add(fmt::format("{} at line {} ({})", evidence.what, evidence.line, evidence.text));
  }
  configuration.memory_access.in_place = in_place.text("none: outputs go to fresh memory");
  Listing saved;
  for (const model::AutogradFact& function : op.autograd_functions) {
    for (const model::SavedTensors& tensors : function.save_for_backward) {
      std::string names;
      for (const std::string& name : tensors.args) names += (names.empty() ? "" : ", ") + name;
      saved.add(fmt::format("{} saves {} (line {})", function.name, names, tensors.line));
    }
  }
  configuration.memory_access.saved_vs_recomputed =
      saved.text("nothing is saved: backward recomputes, or there is none");
  configuration.compute.precision_ops = precision.text("none");
  configuration.compute.casting_mode = casts.text("no kernel to read it from");
  configuration.compute.algorithm = algorithms.text("no kernel to read it from");
  configuration.compute.constexpr_parameters = constexprs.text("none");
  return configuration;
}

}  // namespace hone::diagnose

// "Current Configuration Analysis" of a C++ or CUDA operation from source, and its tier.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/source_advice/parts.hpp"

namespace hone::diagnose {

namespace {

using model::HowSet;

bool is_matrix_product(const model::CppKernelFact& kernel) {
  return std::any_of(kernel.intrinsics.begin(), kernel.intrinsics.end(),
                     [](const model::MathFact& call) { return call.op.find("mma") != std::string::npos; });
}

bool reduces(const model::CppKernelFact& kernel) {
  const bool shuffles = std::any_of(
      kernel.intrinsics.begin(), kernel.intrinsics.end(),
      [](const model::MathFact& call) { return call.op.rfind("__shfl", 0) == 0 || call.op.rfind("__reduce", 0) == 0; });
  return shuffles || !kernel.accumulations.empty() || !kernel.atomics.empty() || !kernel.barrier_lines.empty();
}

void add_parameter(model::Configuration& configuration, const std::string& name, const std::string& value, HowSet how,
                   const std::string& notes, const std::string& evidence) {
  configuration.parameters.push_back({name, value, how, notes, model::Liveness::live, evidence});
}

void add_launches(model::Configuration& configuration, const model::AuditedOp& op) {
  for (const model::CudaLaunchFact& launch : op.cuda_launches) {
    const std::string place = fmt::format("{}, launch at line {}", launch.kernel, launch.line);
    add_parameter(configuration, "block", launch.block, HowSet::hard_coded, place, "it sets the threads of a block");
    add_parameter(configuration, "grid", launch.grid, HowSet::hard_coded, place, "it sets the number of blocks");
    if (launch.shared_bytes != "0")
      add_parameter(configuration, "shared_bytes", launch.shared_bytes, HowSet::hard_coded, place,
                    "it bounds the blocks on a multiprocessor");
    if (!launch.template_arguments.empty())
      add_parameter(configuration, "template arguments", launch.template_arguments, HowSet::hard_coded, place,
                    "compile-time constants");
  }
}

void add_constants(model::Configuration& configuration, const model::CppKernelFact& kernel) {
  const std::string place = fmt::format("{}, line {}", kernel.name, kernel.line);
  for (const std::string& macro : kernel.free_macros)
    add_parameter(configuration, macro, "set by the compiler's command line or a header", HowSet::passed_by_caller,
                  place, "a compile-time constant that the kernel reads");
  if (!kernel.launch_bounds.empty()) {
    std::string bounds;
    for (const std::string& bound : kernel.launch_bounds) bounds += (bounds.empty() ? "" : ", ") + bound;
    add_parameter(configuration, "__launch_bounds__", bounds, HowSet::hard_coded, place, "it bounds the registers");
  }
  for (const auto& [line, factor] : kernel.unroll_pragmas)
    add_parameter(configuration, "#pragma unroll", factor.empty() ? "full" : factor, HowSet::hard_coded,
                  fmt::format("{}, line {}", kernel.name, line), "it changes the loop's code");
}

std::string strides_of(const model::CppKernelFact& kernel, bool cuda) {
  int loads = 0, stores = 0, strided = 0, unit = 0;
  for (const model::ElementAccess& access : kernel.accesses) {
    ++(access.store ? stores : loads);
    strided += access.step == model::Step::strided ? 1 : 0;
    unit += access.step == model::Step::unit ? 1 : 0;
  }
  std::string text = fmt::format("{}: {} loads, {} stores", kernel.name, loads, stores);
  if (unit > 0)
    text +=
        fmt::format(", {} of them {}", unit,
                    cuda ? "neighbouring threads on neighbouring elements" : "on neighbouring elements turn by turn");
  if (strided > 0) text += fmt::format(", {} with a stride", strided);
  if (!kernel.vector_types.empty()) {
    text += ", vectors";
    for (const std::string& type : kernel.vector_types) text += " " + type;
  }
  return text;
}

std::string algorithm_of(const model::CppKernelFact& kernel) {
  if (is_matrix_product(kernel)) return kernel.name + ": matrix units";
  std::string text =
      kernel.name + ": " + fmt::format("{} loop{}", kernel.loops.size(), kernel.loops.size() == 1 ? "" : "s");
  if (!kernel.accumulations.empty()) {
    Listing sums;
    for (const model::ReductionFact& sum : kernel.accumulations)
      sums.add(fmt::format("{} at line {}", sum.op, sum.line));
    text += ", accumulates " + sums.text("");
  }
  if (!kernel.shared_arrays.empty()) {
    text += ", shared memory";
    for (const model::CudaSharedArray& array : kernel.shared_arrays) text += " " + array.name + array.extent;
  }
  if (!kernel.barrier_lines.empty()) text += fmt::format(", {} barriers", kernel.barrier_lines.size());
  if (!kernel.atomics.empty()) text += fmt::format(", {} atomics", kernel.atomics.size());
  return text;
}

bool is_cache_hint(const std::string& call) {
  return call.rfind("__ld", 0) == 0 || call.rfind("__st", 0) == 0 || call.find("stream") != std::string::npos ||
         call.find("nontemporal") != std::string::npos || call.find("prefetch") != std::string::npos;
}

}  // namespace

void read_cpp_tier(model::AuditedOp& op) {
  op.tier = 0;
  op.tier_reason.clear();
  if (op.cpp_kernels.empty()) return;
  const auto& kernels = op.cpp_kernels;
  const auto first = [&](auto holds) { return std::find_if(kernels.begin(), kernels.end(), holds); };
  if (const auto product = first(is_matrix_product); product != kernels.end()) {
    op.tier = 3;
    op.tier_reason = product->name + " uses matrix units";
  } else if (const auto reduction = first(reduces); reduction != kernels.end()) {
    op.tier = 2;
    op.tier_reason = reduction->name + " combines elements: sums in loops, shuffles, barriers or atomics";
  } else {
    op.tier = 1;
    op.tier_reason = "each element is computed by itself";
  }
}

model::Configuration cpp_configuration(const model::AuditedOp& op) {
  const bool cuda = op.language == "cuda";
  model::Configuration configuration;
  add_launches(configuration, op);
  Listing strides, hints, algorithms, casts, constants, precision;
  for (const model::CppKernelFact& kernel : op.cpp_kernels) {
    add_constants(configuration, kernel);
    strides.add(strides_of(kernel, cuda));
    algorithms.add(algorithm_of(kernel));
    casts.add(kernel.double_lines.empty()
                  ? kernel.name + ": as its types say"
                  : fmt::format("{}: double precision at lines {}", kernel.name, lines_text(kernel.double_lines)));
    for (const model::MathFact& call : kernel.intrinsics)
      (is_cache_hint(call.op) ? hints : precision).add(fmt::format("{} (line {})", call.op, call.line));
    for (const model::MathFact& call : kernel.math_calls)
      precision.add(fmt::format("{} (line {})", call.spelled, call.line));
    for (const std::string& macro : kernel.free_macros) constants.add(macro);
    if (!kernel.template_parameters.empty()) constants.add(kernel.name + kernel.template_parameters);
  }
  configuration.memory_access.stride_pattern = strides.text("no kernel to read it from");
  configuration.memory_access.cache_modifiers = hints.text("none in the source");
  configuration.memory_access.in_place = "not read: which pointers are the same memory is the caller's to say";
  configuration.memory_access.saved_vs_recomputed = "not read: the caller decides what is kept";
  configuration.compute.precision_ops = precision.text("none");
  configuration.compute.casting_mode = casts.text("no kernel to read it from");
  configuration.compute.algorithm = algorithms.text("no kernel to read it from");
  configuration.compute.constexpr_parameters = constants.text("none");
  return configuration;
}

}  // namespace hone::diagnose

// Counters of a built-in kernel on a GPU: Nsight Compute over hone itself, started anew to run the passes; occupancy by
// calculation of what was not captured; and what the machine code consists of, where a disassembler is.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "counters/instruction_mix.hpp"
#include "counters/ncu.hpp"
#include "counters/occupancy.hpp"
#include "repository/native/counter_pass.hpp"
#include "repository/native/native_session.hpp"

namespace hone::repository::native {

namespace {

// One launch of each configuration warms up and is skipped, one is captured.
constexpr int kLaunchesOfACapture = 2;
constexpr std::int64_t kCaptureLimitS = 90;

std::map<std::string, std::string> toolkit_environment() {
  std::map<std::string, std::string> environment;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(name)) environment[name] = value;
  return environment;
}

std::string temporary_cubin() {
  const char* folder = std::getenv("TMPDIR");
  return base::join(folder != nullptr && *folder != '\0' ? folder : "/tmp", fmt::format("hone-{}.cubin", ::getpid()));
}

bool has_kernel(const model::Counters& counters, const std::string& name) {
  return std::any_of(counters.kernels.begin(), counters.kernels.end(),
                     [&](const model::CounterSummary& kernel) { return kernel.name == name; });
}

// Launches of the device's own library are its author's, and their kernels' names are not known.
std::vector<device::Launch> own_launches(const BoundPlan& plan) {
  std::vector<device::Launch> own;
  for (const device::Launch& launch : plan.launches())
    if (!launch.product && launch.programs > 0) own.push_back(launch);
  return own;
}

std::optional<model::CounterSummary> calculate(const model::DeviceInfo& device, const device::Program& program,
                                               const device::Launch& launch) {
  const device::EntryResources needs = program.resources(launch.entry);
  const auto shared = static_cast<std::int64_t>(launch.dynamic_shared_bytes) + std::max(0, needs.static_shared_bytes);
  auto summary = counters::calculated_summary(device, launch.entry, launch.programs, launch.threads,
                                              needs.registers_per_thread, shared);
  if (summary && needs.spill_bytes == 0) summary->spills = 0;
  return summary;
}

}  // namespace

base::Result<NativeSession::BoundPass> NativeSession::bind_pass(kernels::Pass pass, std::int64_t x) {
  const kernels::Problem problem = problem_at(x);
  auto tensors = workload(x);
  if (!tensors) return tensors.error();
  const kernels::Plan plan =
      operation_.plan(pass, problem, resolve({}, pass, problem), target_, kernels::Ablation::none);
  auto compiled = program(plan, operation_.name() + " " + kernels::name_of(pass), edits_of({}));
  if (!compiled) return compiled.error();
  auto bound = BoundPlan::bind(context_.device, plan, *compiled, (*tensors)->views());
  if (!bound) return bound.error();
  return BoundPass{std::move(*tensors), std::move(*compiled), std::move(*bound)};
}

base::Result<void> NativeSession::run_passes(int launches) {
  for (const std::int64_t x : sizes_)
    for (const kernels::Pass pass : passes_in_scope()) {
      auto bound = bind_pass(pass, x);
      if (!bound) return bound.error();
      for (int i = 0; i < launches; ++i) {
        if (auto restored = bound->workload->restore(pass); !restored) return restored;
        if (auto ran = context_.device.run(bound->plan->launches()); !ran) return ran;
      }
    }
  return {};
}

base::Result<model::Counters> NativeSession::capture(const std::vector<std::string>& kernels) {
  if (context_.processes == nullptr || context_.counter_command.empty()) {
    model::Counters none;
    none.status = "unavailable";
    none.route = "counter-free";
    none.reason = "this program can not start itself under Nsight Compute";
    none.remedy = "capture by hand and read it with 'hone counters FILE.csv'";
    return none;
  }
  CounterPass pass;
  pass.settings_directory = context_.settings_directory;
  pass.kernel = operation_.name();
  pass.dtype = kernels::name_of(dtype_);
  pass.x_value = std::to_string(sizes_.back());
  pass.scope = request_.scope;
  pass.seed = request_.seed;
  pass.launches = kLaunchesOfACapture;
  pass.options = options_;
  counters::CaptureRequest request;
  request.command = context_.counter_command;
  request.command.push_back(context_.device.info().id);
  for (std::string& word : pass.words()) request.command.push_back(std::move(word));
  request.kernels = kernels;
  request.limit_s = kCaptureLimitS;
  return counters::collect(*context_.processes, context_.files, toolkit_environment(), request);
}

void NativeSession::add_instructions(const device::Program& program, model::Counters& counters) {
  const std::string image = program.machine_code();
  if (context_.processes == nullptr || image.empty()) return;
  const auto tool = counters::find_disassembler(*context_.processes, context_.files, toolkit_environment());
  if (!tool) return;
  // A disassembler older than the compiler does not know the code: then the row is left out, nothing else.
  const auto mixes = counters::instruction_mix(*tool, image, temporary_cubin(), *context_.processes, context_.files);
  if (!mixes) return;
  for (model::CounterSummary& kernel : counters.kernels)
    if (const auto mix = mixes->find(kernel.name); mix != mixes->end() && kernel.instructions.empty())
      kernel.instructions = mix->second.text();
}

base::Result<model::Counters> NativeSession::gpu_counters() {
  std::vector<BoundPass> passes;
  std::vector<std::string> names;
  std::map<std::string, std::set<std::string>> modes;  // of each kernel
  for (const kernels::Pass pass : passes_in_scope()) {
    auto bound = bind_pass(pass, sizes_.back());
    if (!bound) return bound.error();
    for (const device::Launch& launch : own_launches(*bound->plan)) {
      if (modes[launch.entry].empty()) names.push_back(launch.entry);
      modes[launch.entry].insert(kernels::name_of(pass));
    }
    passes.push_back(std::move(*bound));
  }
  auto captured = capture(names);
  if (!captured) return captured.error();
  model::Counters counters = std::move(*captured);
  std::string missed;
  for (const BoundPass& pass : passes)
    for (const device::Launch& launch : own_launches(*pass.plan)) {
      if (has_kernel(counters, launch.entry)) continue;
      missed += (missed.empty() ? "" : ", ") + launch.entry;
      if (auto summary = calculate(context_.device.info(), *pass.program, launch))
        counters.kernels.push_back(std::move(*summary));
    }
  if (counters.status == "available" && !missed.empty())
    counters.reason += (counters.reason.empty() ? "" : "; ") + ("not captured, and calculated instead: " + missed);
  for (const BoundPass& pass : passes) add_instructions(*pass.program, counters);
  // A kernel that several passes launch is left without one.
  for (model::CounterSummary& kernel : counters.kernels)
    if (const auto found = modes.find(kernel.name); found != modes.end() && found->second.size() == 1)
      kernel.pass = *found->second.begin();
  return counters;
}

}  // namespace hone::repository::native

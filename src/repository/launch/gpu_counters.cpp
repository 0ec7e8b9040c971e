#include "repository/launch/gpu_counters.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "counters/instruction_mix.hpp"
#include "counters/ncu.hpp"
#include "counters/occupancy.hpp"

namespace hone::repository::launch {

namespace {

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

std::optional<model::CounterSummary> calculate(const model::DeviceInfo& device, const device::Program& program,
                                               const device::Launch& launch) {
  const device::EntryResources needs = program.resources(launch.entry);
  const auto shared = static_cast<std::int64_t>(launch.dynamic_shared_bytes) + std::max(0, needs.static_shared_bytes);
  auto summary = counters::calculated_summary(
      device, launch.entry, launch.programs * launch.programs_y * launch.programs_z,
      launch.threads * launch.threads_y * launch.threads_z, needs.registers_per_thread, shared);
  if (summary && needs.spill_bytes == 0) summary->spills = 0;
  return summary;
}

base::Result<model::Counters> capture(const CaptureTools& tools, const std::vector<std::string>& kernels) {
  if (tools.processes == nullptr || tools.command.empty()) {
    model::Counters none;
    none.status = "unavailable";
    none.route = "counter-free";
    none.reason = "this program can not start itself under Nsight Compute";
    none.remedy = "capture by hand and read it with 'hone counters FILE.csv'";
    return none;
  }
  counters::CaptureRequest request;
  request.command = tools.command;
  request.kernels = kernels;
  request.limit_s = kCaptureLimitS;
  return counters::collect(*tools.processes, tools.files, toolkit_environment(), request);
}

void add_instructions(const CaptureTools& tools, const device::Program& program, model::Counters& counters) {
  const std::string image = program.machine_code();
  if (tools.processes == nullptr || image.empty()) return;
  const auto tool = counters::find_disassembler(*tools.processes, tools.files, toolkit_environment());
  if (!tool) return;
  // A disassembler older than the compiler does not know the code: then the row is left out, nothing else.
  const auto mixes = counters::instruction_mix(*tool, image, temporary_cubin(), *tools.processes, tools.files);
  if (!mixes) return;
  for (model::CounterSummary& kernel : counters.kernels)
    if (const auto mix = mixes->find(kernel.name); mix != mixes->end() && kernel.instructions.empty())
      kernel.instructions = mix->second.text();
}

std::vector<device::Launch> own_launches(const CountedPass& pass) {
  std::vector<device::Launch> own;
  for (const device::Launch& launch : pass.launches)
    if (!launch.product && launch.programs > 0) own.push_back(launch);
  return own;
}

}  // namespace

base::Result<model::Counters> gpu_counters(const model::DeviceInfo& device, const std::vector<CountedPass>& passes,
                                           const CaptureTools& tools) {
  std::vector<std::string> names;
  std::map<std::string, std::set<std::string>> modes;  // of each kernel
  for (const CountedPass& pass : passes)
    for (const device::Launch& launch : own_launches(pass)) {
      if (modes[launch.entry].empty()) names.push_back(launch.entry);
      modes[launch.entry].insert(pass.mode);
    }
  HONE_TRY(captured, capture(tools, names));
  model::Counters counters = std::move(*captured);
  std::string missed;
  for (const CountedPass& pass : passes)
    for (const device::Launch& launch : own_launches(pass)) {
      if (has_kernel(counters, launch.entry)) continue;
      missed += (missed.empty() ? "" : ", ") + launch.entry;
      if (auto summary = calculate(device, *pass.program, launch)) counters.kernels.push_back(std::move(*summary));
    }
  if (counters.status == "available" && !missed.empty())
    counters.reason += (counters.reason.empty() ? "" : "; ") + ("not captured, and calculated instead: " + missed);
  for (const CountedPass& pass : passes) add_instructions(tools, *pass.program, counters);
  // A kernel that several passes launch is left without one.
  for (model::CounterSummary& kernel : counters.kernels)
    if (const auto found = modes.find(kernel.name); found != modes.end() && found->second.size() == 1)
      kernel.pass = *found->second.begin();
  return counters;
}

}  // namespace hone::repository::launch

// hone doctor: what this machine has, what is missing, what that costs, and how to get it.
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/terminal.hpp"

namespace hone::cli {

namespace {

struct Part {
  std::string name, found, cost, remedy;  // cost and remedy only where it is missing
  bool present = true;
};

// The first line a program prints for its version flag; nothing when it is not on PATH or fails.
std::string version_of(Machine& machine, const std::string& program, const std::vector<std::string>& arguments) {
  if (!machine.processes.find(program)) return "";
  base::Command command;
  command.arguments = {program};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.deadline_ms = 20'000;
  auto outcome = machine.processes.run(command);
  if (!outcome || outcome->exit_status != 0) return "";
  const std::string text = outcome->output.empty() ? outcome->error : outcome->output;
  for (const std::string& line : base::split(text, '\n'))
    if (!base::trim(line).empty()) return base::trim(line);
  return "";
}

std::string python_package(Machine& machine, const std::string& package) {
  base::Command command;
  command.arguments = {"python3", "-c", "import importlib.metadata as m; print(m.version('" + package + "'))"};
  command.deadline_ms = 20'000;
  auto outcome = machine.processes.run(command);
  return outcome && outcome->exit_status == 0 ? base::trim(outcome->output) : "";
}

Part part(std::string name, std::string found, std::string cost, std::string remedy) {
  const bool present = !found.empty();
  return {std::move(name), present ? std::move(found) : "missing", present ? "" : std::move(cost), present ? "" : std::move(remedy), present};
}

std::vector<Part> inspect(Machine& machine, const std::string& kernel_compiler) {
  std::vector<Part> parts;
  parts.push_back(part("kernel compiler", kernel_compiler, "built-in kernels can not be compiled for the CPU", "apt-get install g++"));
  std::string driver = machine.files.exists("/proc/driver/nvidia/version") ? "NVIDIA driver present" : "";
  parts.push_back(part("NVIDIA driver", driver, "kernels run on the CPU only", "install the driver of your GPU"));
  parts.push_back(part("nvcc", version_of(machine, "nvcc", {"--version"}), "no CUDA headers for run-time compilation from a toolkit", "install the CUDA toolkit, or pip install nvidia-cuda-nvrtc"));
  parts.push_back(part("Nsight Compute (ncu)", version_of(machine, "ncu", {"--version"}), "no hardware counters of a GPU; the counter-free route stands in", "install nsight-compute of the CUDA toolkit"));
  const std::string python = version_of(machine, "python3", {"--version"});
  parts.push_back(part("python3", python, "Liger's Triton kernels can not be run", "apt-get install python3"));
  for (const char* package : {"torch", "triton", "liger_kernel"})
    parts.push_back(part(fmt::format("python package {}", package), python.empty() ? "" : python_package(machine, package),
                         "Liger's Triton kernels and the torch provider can not be run", fmt::format("pip install {}", std::string(package) == "liger_kernel" ? "liger-kernel" : package)));
  parts.push_back(part("rsvg-convert", version_of(machine, "rsvg-convert", {"--version"}), "plots are written as SVG alone, not as PNG", "apt-get install librsvg2-bin"));
  return parts;
}

}  // namespace

int run_doctor(const CommandContext& context) {
  auto device = open_device(context.machine, context.meant.device);
  if (!device) return fail(context, device.error());
  const model::DeviceInfo& info = (*device)->info();
  TerminalProgress progress(context.err, context.machine.clock, context.meant.talk.interactive, context.meant.talk.verbose);
  base::Result<model::Ceilings> ceilings = model::Ceilings{};
  if (!info.compiler.empty()) {
    progress.step("ceilings of " + info.name);
    ceilings = (*device)->ceilings({context.typed.has("--quick")});
    progress.finish();
    if (!ceilings) return fail(context, ceilings.error());
  }
  const std::vector<Part> parts = inspect(context.machine, info.compiler);

  if (context.meant.talk.json) {
    nlohmann::json measured = nlohmann::json::object(), found = nlohmann::json::array();
    for (const auto& [name, ceiling] : ceilings->by_name) measured[name] = {{"p20", ceiling.p20}, {"p50", ceiling.p50}, {"p80", ceiling.p80}, {"samples", ceiling.samples}};
    for (const Part& each : parts) found.push_back({{"name", each.name}, {"present", each.present}, {"found", each.found}, {"cost", each.cost}, {"to_do", each.remedy}});
    nlohmann::json caches = nlohmann::json::array();
    for (const model::Cache& cache : info.caches) caches.push_back({{"level", cache.level}, {"bytes", cache.bytes}, {"shared_by_cores", cache.shared_by_cores}});
    nlohmann::json document = {{"schema", "hone.doctor/1"},
                               {"devices", {{{"id", info.id}, {"name", info.name}, {"kind", info.kind}, {"architecture", info.architecture}, {"isa", info.isa}, {"cores", info.sm_count},
                                             {"caches", caches}, {"total_memory_bytes", info.total_memory_bytes}, {"compiler", info.compiler}, {"driver", info.driver},
                                             {"ceilings", measured}, {"notes", ceilings->notes}}}},
                               {"parts", found}};
    context.out << document.dump(2) << "\n";
    return 0;
  }
  context.out << fmt::format("{}  {}\n  {} cores, {}, {:.1f} GB memory\n", info.id, info.name, info.sm_count, info.architecture, static_cast<double>(info.total_memory_bytes) / 1e9);
  for (const model::Cache& cache : info.caches) context.out << fmt::format("  L{} {} KiB, shared by {} cores\n", cache.level, cache.bytes >> 10, cache.shared_by_cores);
  for (const auto& [name, ceiling] : ceilings->by_name) {
    const bool rate = name.find("_per_s") != std::string::npos;
    const double scale = rate ? 1e9 : 1;
    const char* unit = name.find("bytes_per_s") != std::string::npos ? "GB/s" : rate ? "GFLOP/s" : "ns";
    context.out << fmt::format("  {:<28}{:>9.2f} {:<8} (p20 {:.2f}, p80 {:.2f}, {} samples)\n", name, ceiling.p50 / scale, unit, ceiling.p20 / scale, ceiling.p80 / scale, ceiling.samples);
  }
  context.out << "\n";
  for (const Part& each : parts) {
    context.out << fmt::format("{:<30}{}\n", each.name, each.found);
    if (!each.present) context.out << fmt::format("{:<30}  costs: {}\n{:<30}  to do: {}\n", "", each.cost, "", each.remedy);
  }
  return 0;
}

}  // namespace hone::cli

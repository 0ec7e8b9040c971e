// hone doctor: what this machine has, what is missing, what you lose without it, and how to get it.
#include <cstdlib>
#include <map>
#include <ostream>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "counters/ncu.hpp"
#include "device/cuda/parts.hpp"
#include "model/device_fields.hpp"

namespace hone::cli {

namespace {

struct Part {
  std::string name, found, cost, remedy;  // cost and remedy only where it is missing
  bool present = true;
};

// The first line a program prints for its version flag, or why there is none.
struct Version {
  std::string found, problem;  // problem: empty where the program is not on PATH
};

constexpr std::int64_t kVersionDeadlineMs = 20'000;

Version version_of(Machine& machine, const std::string& program, const std::vector<std::string>& arguments) {
  if (!machine.processes.find(program)) return {};
  base::Command command;
  command.arguments = {program};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.deadline_ms = kVersionDeadlineMs;
  auto outcome = machine.processes.run(command);
  if (!outcome) return {"", outcome.error().found};
  if (outcome->timed_out) return {"", fmt::format("it hangs: no answer within {} s", kVersionDeadlineMs / 1000)};
  const std::string text = outcome->output.empty() ? outcome->error : outcome->output;
  if (outcome->exit_status != 0)
    return {"", fmt::format("it ended with exit status {}: {}", outcome->exit_status, base::trim(text).substr(0, 200))};
  for (const std::string& line : base::split(text, '\n'))
    if (!base::trim(line).empty()) return {base::trim(line), ""};
  return {"", "it says no version"};
}

std::string python_package(Machine& machine, const std::string& package) {
  base::Command command;
  command.arguments = {"python3", "-c", "import importlib.metadata as m; print(m.version('" + package + "'))"};
  command.deadline_ms = kVersionDeadlineMs;
  auto outcome = machine.processes.run(command);
  return outcome && outcome->exit_status == 0 ? base::trim(outcome->output) : "";
}

// `problem`: why it is missing, where that is known.
Part part(std::string name, std::string found, std::string cost, std::string remedy, const std::string& problem = "") {
  const bool present = !found.empty();
  return {std::move(name),
          present           ? std::move(found)
          : problem.empty() ? "missing"
                            : "missing: " + problem,
          present ? "" : std::move(cost), present ? "" : std::move(remedy), present};
}

// Nsight Compute, and whether it may read counters here.
Part ncu_part(Machine& machine) {
  std::map<std::string, std::string> environment;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(name)) environment[name] = value;
  const auto tool = counters::find_ncu(machine.processes, machine.files, environment);
  const std::string cost = "no hardware counters of a GPU; the counter-free route stands in";
  if (!tool) return part("Nsight Compute (ncu)", "", cost, "install nsight-compute of the CUDA toolkit");
  const counters::Permission permission = counters::counter_permission(machine.files);
  if (!permission.allowed)
    return {"Nsight Compute (ncu)", tool->path + ", but counters can not be read: " + permission.reason, cost,
            permission.remedy, false};
  return part("Nsight Compute (ncu)", fmt::format("{}.{} in {}", tool->year, tool->release, tool->path), cost, "");
}

std::vector<Part> inspect(Machine& machine, const std::string& kernel_compiler, const std::string& problem) {
  std::vector<Part> parts;
  parts.push_back(part("kernel compiler", kernel_compiler, "built-in kernels can not be compiled for the CPU",
                       problem.empty() ? "apt-get install g++"
                                       : "mend it, or name another with HONE_CXX; apt-get install g++ installs one",
                       problem));
  const device::cuda::CudaParts cuda =
      device::cuda::inspect_parts(device::cuda::CompilerOptions::from_environment(), machine.files);
  std::string driver = cuda.driver.found;
  for (const std::string& gpu : cuda.gpus) driver += "; " + gpu;
  parts.push_back(part("NVIDIA driver", driver, "kernels run on the CPU only",
                       "install the driver of your GPU: 580 or newer for CUDA 13", cuda.driver.problem));
  parts.push_back(part(
      "NVRTC", cuda.nvrtc.found, "CUDA kernels can not be compiled, so none runs on a GPU",
      "pip install nvidia-cuda-nvrtc==13.0.*, or install the CUDA toolkit, or name the library with HONE_NVRTC", ""));
  parts.push_back(part("NVML", cuda.nvml.found,
                       "a GPU's clock is not watched: samples under a lowered clock are not noticed",
                       "it comes with the NVIDIA driver", cuda.nvml.problem));
  parts.push_back(part("cuBLASLt", cuda.cublas_lt.found,
                       "no matrix rates among the ceilings of a GPU, and no kernels that need matrix products there",
                       "pip install nvidia-cublas, or install the CUDA toolkit", ""));
  parts.push_back(ncu_part(machine));
  const auto [python, python_problem] = version_of(machine, "python3", {"--version"});
  parts.push_back(
      part("python3", python, "Liger's Triton kernels can not be run", "apt-get install python3", python_problem));
  for (const char* package : {"torch", "triton", "liger_kernel"})
    parts.push_back(
        part(fmt::format("python package {}", package), python.empty() ? "" : python_package(machine, package),
             "Liger's Triton kernels and the torch provider can not be run",
             fmt::format("pip install {}", std::string(package) == "liger_kernel" ? "liger-kernel" : package)));
  const auto [converter, converter_problem] = version_of(machine, "rsvg-convert", {"--version"});
  parts.push_back(part("rsvg-convert", converter, "plots are written as SVG alone, not as PNG",
                       "apt-get install librsvg2-bin", converter_problem));
  return parts;
}

model::Json document(const CommandContext& context, const std::vector<Part>& parts, const model::DeviceInfo& info,
                     const model::Ceilings& ceilings, const repository::CeilingOrigin& origin) {
  using model::Json;
  std::map<std::string, Json> measured;
  for (const auto& [name, ceiling] : ceilings.by_name)
    measured[name] = model::json_of(model::Quantiles{ceiling.p20, ceiling.p50, ceiling.p80, ceiling.samples});
  const auto part_of = [](const Part& each) {
    return Json::object({{"name", each.name},
                         {"present", each.present},
                         {"found", each.found},
                         {"cost", each.cost},
                         {"to_do", each.remedy}});
  };
  const std::int64_t effective = info.ceilings.effective_last_level_cache_bytes;
  const Json origin_json = Json::object({{"kept", origin.kept},
                                         {"file", origin.path},
                                         {"measured_at", ceilings.measured_at},
                                         {"age_s", origin.kept ? Json(origin.age_s) : Json()},
                                         {"why_not_kept_ones", origin.refused},
                                         {"why_not_written", origin.not_written}});
  const Json device = Json::object({{"id", info.id},
                                    {"name", info.name},
                                    {"kind", info.kind},
                                    {"architecture", info.architecture},
                                    {"compute_capability", info.compute_capability},
                                    {"isa", info.isa},
                                    {"cores", info.sm_count},
                                    {"caches", model::json_of(info.caches)},
                                    {"reported_last_level_cache_bytes", info.reported_last_level_cache_bytes()},
                                    {"effective_last_level_cache_bytes", effective > 0 ? Json(effective) : Json()},
                                    {"total_memory_bytes", info.total_memory_bytes},
                                    {"compiler", info.compiler},
                                    {"driver", info.driver},
                                    {"ceilings", measured},
                                    {"ceilings_origin", origin_json},
                                    {"notes", ceilings.notes}});
  return Json::object({{"schema", "hone.doctor/1"},
                       {"devices", Json::array({device})},
                       {"parts", Json::list(parts, part_of)},
                       {"configuration", context.meant.configuration}});
}

}  // namespace

int run_doctor(const CommandContext& context) {
  auto device = open_device(context.machine, context.meant.device);
  if (!device) return fail(context, device.error());
  const model::DeviceInfo& info = (*device)->info();
  TerminalProgress progress(context.notes, context.machine.clock, context.meant.talk.live, context.meant.talk.verbose);
  const auto kept = ceilings_of(context.machine, **device);
  base::Result<model::Ceilings> ceilings = model::Ceilings{};
  if (!info.compiler.empty()) {
    progress.step("ceilings of " + info.name);
    ceilings = kept->ceilings(context.typed.has("--quick"));
    progress.finish();
  }
  std::string host_compiler = info.compiler, compiler_problem = info.compiler_problem;
  if (info.kind == "cuda") {
    if (auto host = open_device(context.machine, "cpu"))
      host_compiler = (*host)->info().compiler, compiler_problem = (*host)->info().compiler_problem;
  }
  const std::vector<Part> parts = inspect(context.machine, host_compiler, compiler_problem);
  // Programs that were stopped while they told their version are not missing.
  if (interrupted())
    return fail(context, {base::ErrorKind::interrupted, "to ask every part of the machine", "stopped by the user", "",
                          "give the command again"});
  // The rest of the machine is told all the same; the exit status says that something is wrong with the device.
  std::string no_ceilings;
  int code = 0;
  if (!ceilings) {
    no_ceilings = "no ceilings: " + ceilings.error().found;
    code = base::exit_code(ceilings.error().kind == base::ErrorKind::untrusted ? base::ErrorKind::untrusted
                                                                               : base::ErrorKind::preflight);
    context.err << base::describe(ceilings.error()) << "\n";
    ceilings = model::Ceilings{};
    ceilings->notes = {no_ceilings};
  }

  const std::int64_t effective = info.ceilings.effective_last_level_cache_bytes;
  if (context.meant.talk.json) {
    context.out << document(context, parts, info, *ceilings, kept->origin()).dump_plain(2) << "\n";
    return code;
  }
  const std::string configuration = base::join_text(context.meant.configuration, ", then ");
  const bool gpu = info.kind == "cuda";
  context.out << fmt::format("{}  {}\n  {} {}, {}{}, {:.1f} GB memory\n", info.id, info.name, info.sm_count,
                             gpu ? "multiprocessors" : "cores", info.architecture,
                             gpu ? " (compute capability " + info.compute_capability + ")" : "",
                             static_cast<double>(info.total_memory_bytes) / 1e9);
  for (const model::Cache& cache : info.caches)
    context.out << fmt::format("  L{} {} KiB, shared by {} {}\n", cache.level, cache.bytes >> 10, cache.shared_by_cores,
                               gpu ? "multiprocessors" : "cores");
  context.out << (effective > 0
                      ? fmt::format("  last-level cache: {:.0f} MiB effective, measured; {:.0f} MiB as reported\n",
                                    static_cast<double>(effective) / 1048576,
                                    static_cast<double>(info.reported_last_level_cache_bytes()) / 1048576)
                      : "  last-level cache: no effective size was measured, the reported one is used\n");
  if (gpu)
    context.out << fmt::format(
        "  {} KiB shared memory a block, {} registers and {} threads a multiprocessor\n  driver {}, compiler {}\n",
        info.shared_memory_per_block_bytes >> 10, info.registers_per_sm, info.max_threads_per_sm, info.driver,
        info.compiler.empty() ? "none" : info.compiler);
  for (const auto& [name, ceiling] : ceilings->by_name) {
    const bool rate = name.find("_per_s") != std::string::npos;
    const double scale = rate ? 1e9 : 1;
    const char* unit = name.find("bytes_per_s") != std::string::npos ? "GB/s" : rate ? "GFLOP/s" : "ns";
    context.out << fmt::format("  {:<28}{:>9.2f} {:<8} (p20 {:.2f}, p80 {:.2f}, {} samples)\n", name,
                               ceiling.p50 / scale, unit, ceiling.p20 / scale, ceiling.p80 / scale, ceiling.samples);
  }
  const render::Style& style = context.style();
  for (const std::string& note : ceilings->notes) context.out << render::labelled("", note, style, 2);
  context.out << "\n";
  constexpr std::size_t kName = 30, kNarrowName = 28;
  const std::size_t name = style.width < 80 ? kNarrowName : kName;
  for (const Part& each : parts) {
    context.out << render::labelled(each.name, each.found, style, name,
                                    each.present ? render::Ink::plain : render::Ink::warning);
    if (!each.present)
      context.out << render::labelled("  you lose", each.cost, style, name)
                  << render::labelled("  to do", each.remedy, style, name);
  }
  context.out << render::labelled("configuration", configuration.empty() ? "no file" : configuration, style, name);
  return code;
}

}  // namespace hone::cli

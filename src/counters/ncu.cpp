#include "counters/ncu.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"

namespace hone::counters {

namespace {

// The sections that hold what a summary reads. 'full' would replay each kernel 38 times on an H200 instead of about 10.
constexpr const char* kSections[] = {"SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy",
                                     "LaunchStats",  "WarpStateStats",         "SchedulerStats"};
// DRAM bytes, and stall reasons one by one, for versions whose sections print only some of them.
constexpr const char* kMetrics =
    "dram__bytes_read.sum,dram__bytes_write.sum,smsp__sass_inst_executed_op_local_ld.sum,smsp__sass_inst_executed_op_"
    "local_st.sum,"
    "regex:smsp__average_warps_issue_stalled_.*_per_issue_active";
// Counting launches for each kernel and configuration apart came with this release.
constexpr int kPerConfigurationYear = 2023;
constexpr std::int64_t kInterruptGraceS = 20;  // to print what was captured
constexpr int kSysAdmin = 21;                  // CAP_SYS_ADMIN, linux/capability.h

const char* kOpenRemedy =
    "run as root with CAP_SYS_ADMIN (docker run --cap-add SYS_ADMIN), or let all users read counters: "
    "options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d, then load the driver again";

// "2024.1.0" before "2024.10.0": parts compared as numbers where both are.
bool newer(const std::string& a, const std::string& b) {
  const auto parts = [](const std::string& name) {
    std::vector<long> numbers;
    for (std::size_t i = 0; i < name.size();) {
      if (name[i] < '0' || name[i] > '9') {
        ++i;
        continue;
      }
      long number = 0;
      for (; i < name.size() && name[i] >= '0' && name[i] <= '9'; ++i)
        number = std::min(number * 10 + (name[i] - '0'), 1'000'000L);
      numbers.push_back(number);
    }
    return numbers;
  };
  return parts(a) > parts(b);
}

std::vector<std::string> newest_first(base::FileSystem& files, const std::string& folder, const std::string& prefix) {
  auto names = files.list(folder);
  if (!names) return {};
  std::vector<std::string> kept;
  for (const std::string& name : *names)
    if (base::starts_with(name, prefix)) kept.push_back(name);
  std::stable_sort(kept.begin(), kept.end(), newer);
  return kept;
}

std::vector<std::string> candidates(base::Processes& processes, base::FileSystem& files,
                                    const std::map<std::string, std::string>& environment) {
  std::vector<std::string> paths;
  if (const auto on_path = processes.find("ncu")) paths.push_back(*on_path);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const auto found = environment.find(variable);
    if (found != environment.end() && !found->second.empty()) paths.push_back(base::join(found->second, "bin/ncu"));
  }
  for (const std::string& name : newest_first(files, "/usr/local", "cuda"))
    paths.push_back("/usr/local/" + name + "/bin/ncu");
  for (const std::string& name : newest_first(files, "/opt/nvidia/nsight-compute", ""))
    paths.push_back("/opt/nvidia/nsight-compute/" + name + "/ncu");
  return paths;
}

// "Version 2025.3.1.0 (build 36398880) (public-release)"
void read_version(const std::string& output, NcuTool& tool) {
  const std::size_t at = output.find("Version ");
  if (at == std::string::npos) return;
  const std::vector<std::string> parts = base::split(output.substr(at + 8, 16), '.');
  if (parts.size() < 2) return;
  tool.year = std::atoi(parts[0].c_str());
  tool.release = std::atoi(parts[1].c_str());
}

std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) text.push_back('\\');
    text.push_back(c);
  }
  return text;
}

// As a POSIX shell takes it for itself.
std::string shell_word(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=:+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string first_message(const base::Outcome& outcome) {
  for (const std::string* stream : {&outcome.output, &outcome.error})
    for (const std::string& line : base::split(*stream, '\n'))
      if (base::starts_with(line, "==ERROR==")) return base::trim(line);
  const std::string text = base::trim(outcome.error);
  return text.substr(0, text.find('\n'));
}

bool capability_held(const std::string& status, int bit) {
  const std::size_t at = status.find("CapEff:");
  if (at == std::string::npos) return false;
  const unsigned long long mask = std::strtoull(status.c_str() + at + 7, nullptr, 16);
  return (mask >> bit & 1) != 0;
}

model::Counters unavailable(const std::string& reason, const std::string& remedy) {
  model::Counters counters;
  counters.status = "unavailable";
  counters.route = "counter-free";
  counters.reason = reason;
  counters.remedy = remedy;
  return counters;
}

}  // namespace

std::optional<NcuTool> find_ncu(base::Processes& processes, base::FileSystem& files,
                                const std::map<std::string, std::string>& environment) {
  for (const std::string& path : candidates(processes, files, environment)) {
    if (!files.exists(path)) continue;
    base::Command command;
    command.arguments = {path, "--version"};
    auto outcome = processes.run(command);
    if (!outcome || outcome->exit_status != 0) continue;  // a wrapper without its program behind it
    NcuTool tool{path};
    read_version(outcome->output, tool);
    return tool;
  }
  return std::nullopt;
}

Permission counter_permission(base::FileSystem& files) {
  const auto params = files.read("/proc/driver/nvidia/params");
  if (!params)
    return {false, "no NVIDIA driver is loaded here (/proc/driver/nvidia/params can not be read)",
            "run on a machine with an NVIDIA GPU and its driver"};
  const std::size_t at = params->find("RmProfilingAdminOnly:");
  const bool admin_only = at == std::string::npos || params->compare(at + 21, 2, " 0") != 0;
  if (!admin_only) return {true, "", ""};
  const auto status = files.read("/proc/self/status");
  if (status && capability_held(*status, kSysAdmin)) return {true, "", ""};
  return {false,
          "the driver lets only administrators read counters (RmProfilingAdminOnly: 1), and this process has no "
          "CAP_SYS_ADMIN, as is usual in containers",
          kOpenRemedy};
}

base::Command capture_command(const NcuTool& tool, const CaptureRequest& request) {
  base::Command command;
  std::vector<std::string>& arguments = command.arguments;
  arguments = {"timeout",
               "--signal=INT",
               "--kill-after=" + std::to_string(kInterruptGraceS),
               std::to_string(request.limit_s),
               tool.path,
               "--target-processes",
               "all",
               "--csv",
               "--page",
               "raw",
               "--clock-control",
               "none",
               "--kernel-name-base",
               "function"};
  const auto add = [&](const std::string& flag, const std::string& value) {
    arguments.insert(arguments.end(), {flag, value});
  };
  if (!request.from_start) add("--profile-from-start", "off");
  if (!request.kernels.empty()) {
    std::vector<std::string> names;
    for (const std::string& kernel : request.kernels) names.push_back(escaped(kernel));
    add("--kernel-name", "regex:^(" + base::join_text(names, "|") + ")$");
  }
  const bool by_configuration = tool.year >= kPerConfigurationYear;
  if (by_configuration) add("--filter-mode", "per-launch-config");
  const int kernels = by_configuration ? 1 : std::max<int>(1, static_cast<int>(request.kernels.size()));
  if (request.warmup_launches > 0) add("--launch-skip", std::to_string(request.warmup_launches * kernels));
  // Without a filter, and counting all launches together, the number of kernels is not known: nothing is cut off.
  if (request.launches > 0 && (by_configuration || !request.kernels.empty()))
    add("--launch-count", std::to_string(request.launches * kernels));
  for (const char* section : kSections) add("--section", section);
  add("--metrics", kMetrics);
  arguments.insert(arguments.end(), request.command.begin(), request.command.end());
  command.directory = request.directory;
  command.deadline_ms = (request.limit_s + 2 * kInterruptGraceS) * 1000;
  command.output_limit_bytes = 64u << 20;
  return command;
}

std::string command_by_hand(const CaptureRequest& request) {
  const std::vector<std::string> all = capture_command({"ncu", kPerConfigurationYear, 0}, request).arguments;
  std::string text;
  for (auto word = std::find(all.begin(), all.end(), "ncu"); word != all.end(); ++word) text += shell_word(*word) + " ";
  return text + "> FILE.csv";
}

base::Result<Capture> capture(base::Processes& processes, const NcuTool& tool, const CaptureRequest& request) {
  HONE_TRY(outcome, processes.run(capture_command(tool, request)));
  auto read = read_ncu_csv(outcome->output, "the output of " + tool.path);
  constexpr int kTimeoutEnded = 124;
  const bool ended_early = outcome->timed_out || outcome->exit_status == kTimeoutEnded;
  if (!read) {
    base::Error error = read.error();
    error.kind = base::ErrorKind::preflight;
    const std::string message = first_message(*outcome);
    if (ended_early)
      error.found = "no launch within " + std::to_string(request.limit_s) + " s";
    else if (!message.empty())
      error.found = message;
    if (message.find("ERR_NVGPUCTRPERM") != std::string::npos)
      error.remedy = kOpenRemedy;
    else if (ended_early)
      error.remedy = "allow more time, or filter for the kernel's own launches";
    else
      error.remedy = "run the same command by hand: " + base::join_text(capture_command(tool, request).arguments, " ");
    return error;
  }
  if (ended_early)
    read->notes.push_back("ended after " + std::to_string(request.limit_s) +
                          " s: these are the launches captured until then");
  else if (outcome->exit_status != 0)
    read->notes.push_back("the profiled program ended with status " + std::to_string(outcome->exit_status) +
                          "; what was captured before stands");
  return read;
}

base::Result<model::Counters> collect(base::Processes& processes, base::FileSystem& files,
                                      const std::map<std::string, std::string>& environment,
                                      const CaptureRequest& request) {
  const Permission permission = counter_permission(files);
  if (!permission.allowed) return unavailable(permission.reason, permission.remedy);
  const std::optional<NcuTool> tool = find_ncu(processes, files, environment);
  if (!tool)
    return unavailable(
        "Nsight Compute (ncu) was not found on PATH, below $CUDA_HOME, /usr/local/cuda* or /opt/nvidia/nsight-compute",
        "install nsight-compute of the CUDA toolkit, or put ncu on PATH");
  auto captured = capture(processes, *tool, request);
  if (!captured) {
    if (captured.error().kind == base::ErrorKind::interrupted) return captured.error();
    return unavailable("Nsight Compute captured nothing: " + captured.error().found, captured.error().remedy);
  }
  model::Counters counters;
  counters.status = "available";
  counters.route = "nsight-compute";
  // That the clocks are left alone is what was asked for.
  std::vector<std::string>& notes = captured->notes;
  notes.erase(
      std::remove_if(notes.begin(), notes.end(),
                     [](const std::string& note) { return note.find("unmodified GPU clocks") != std::string::npos; }),
      notes.end());
  counters.reason = base::join_text(notes, "; ");
  counters.kernels = std::move(captured->kernels);
  return counters;
}

}  // namespace hone::counters

// Kernels whose class is known by construction, measured and diagnosed as a profile's passes are: the confusion table.
//
//   classes [--device auto|cpu|cuda:N] [--write]     --write: also results/<cpu|h200>/classes.md, by the device's name
//
// Three judgements of each kernel: without counters (shares of the measured ceilings, ablations, occupancy by calculation, the
// caller's wall time); by counters alone; and by both, as a profile has them. Counters are Nsight Compute's, over this program
// started anew. Exit 0 when every kernel is classified right, 4 when not.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/composition.hpp"
#include "counters/ncu.hpp"
#include "diagnose/diagnose.hpp"
#include "diagnose/launch.hpp"
#include "model/version.hpp"
#include "tools/bench/classes_kernels.hpp"

namespace {

using namespace tools;

constexpr char kPassWord[] = "--pass";
constexpr int kLaunchesOfACapture = 2;  // one warms up, one is captured

struct Judgement {
  BottleneckClass cls = BottleneckClass::balanced;
  std::string confidence, limiter;
};

Judgement judgement_of(const model::Bottleneck& bottleneck) {
  return {bottleneck.cls, model::word(bottleneck.confidence), bottleneck.limiter};
}

struct Row {
  const Synthetic* kernel = nullptr;
  double measured_us = 0;
  Judgement without;
  std::optional<Judgement> counters, both;
};

// The counters of every kernel but the one whose class lies in its caller.
model::Counters capture(cli::Machine& machine, const Kernels& kernels, const model::DeviceInfo& device) {
  counters::CaptureRequest request;
  request.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "--device", device.id, kPassWord};
  std::set<std::string> names;
  for (const Synthetic& kernel : kernels.list())
    if (kernel.host_work_ns == 0) names.insert(kernel.launch.entry);
  request.kernels.assign(names.begin(), names.end());
  return value_or_fail(counters::collect(machine.processes, machine.files, {}, request));
}

Row judge(const Synthetic& kernel, model::Profile profile, const model::Counters& counted) {
  Row row;
  row.kernel = &kernel;
  row.measured_us = 1000 * profile.headroom.front().measured_ms;
  row.without = judgement_of(diagnose::diagnose(profile).bottleneck);
  if (counted.kernels.empty()) return row;
  for (const model::CounterSummary& summary : counted.kernels) {
    if (kernel.host_work_ns > 0 || summary.name != kernel.launch.entry) continue;
    row.counters = judgement_of(diagnose::diagnose_kernel(summary, profile.device).bottleneck);
    profile.counters.kernels = {summary};
    profile.counters.status = "available";
    profile.counters.route = counted.route;
  }
  row.both = judgement_of(diagnose::diagnose(profile).bottleneck);
  return row;
}

std::string cell(const std::optional<Judgement>& judgement) {
  if (!judgement) return "-";
  return fmt::format("{} ({}): {}", model::word(judgement->cls), judgement->confidence, judgement->limiter);
}

std::string confusion(const char* title, const std::vector<Row>& rows, std::optional<Judgement> (*of)(const Row&),
                      int& right, int& total) {
  const BottleneckClass classes[] = {BottleneckClass::memory_bound, BottleneckClass::compute_bound,
                                     BottleneckClass::balanced, BottleneckClass::latency_bound,
                                     BottleneckClass::host_bound};
  std::map<BottleneckClass, std::map<BottleneckClass, int>> found;
  int right_here = 0, total_here = 0;
  for (const Row& row : rows) {
    const std::optional<Judgement> judgement = of(row);
    if (!judgement) continue;
    ++found[row.kernel->known][judgement->cls];
    ++total_here;
    right_here += judgement->cls == row.kernel->known ? 1 : 0;
  }
  if (total_here == 0) return "";
  std::string text = fmt::format("\n{}: {} of {} right.\n\n| known \\ found |", title, right_here, total_here);
  for (const BottleneckClass cls : classes) text += fmt::format(" {} |", model::word(cls));
  text += "\n|---|---:|---:|---:|---:|---:|\n";
  for (auto& [known, counts] : found) {
    text += fmt::format("| {} |", model::word(known));
    for (const BottleneckClass cls : classes) text += fmt::format(" {} |", counts[cls]);
    text += "\n";
  }
  right += right_here;
  total += total_here;
  return text;
}

std::string document(const std::string& when, const model::DeviceInfo& info, const model::Counters& counted,
                     const std::vector<Row>& rows, int& right, int& total) {
  std::string text = fmt::format(
      "# Classes of kernels that are what they are by construction\n\n{}, {}, {}, {}, hone {} ({}).\nMade with `./dev "
      "bench classes --device {} --write`.\n\nCeilings: copy {:.2f} GB/s, multiply-add {:.1f} GFLOP/s. Counters: "
      "{}.\n\n",
      info.name, info.driver, info.compiler, when, model::hone_version(), model::hone_commit(), info.id,
      info.ceilings.p50("copy_bytes_per_s") / 1e9, info.ceilings.p50("fma_flops_per_s") / 1e9,
      counted.status == "available" ? "Nsight Compute" : "none: " + counted.reason);
  text +=
      "| kernel | why its class is known | us | known | without counters | counters alone | both |\n|---|---|---:|---|"
      "---|---|---|\n";
  for (const Row& row : rows)
    text +=
        fmt::format("| {} | {} | {:.1f} | {} | {} | {} | {} |\n", row.kernel->name, row.kernel->why, row.measured_us,
                    model::word(row.kernel->known), cell(row.without), cell(row.counters), cell(row.both));
  text += "\nIn brackets the confidence, then what is named as the limiter.\n";
  text += confusion(
      "Without counters", rows, [](const Row& row) { return std::optional(row.without); }, right, total);
  text += confusion(
      "By counters alone", rows, [](const Row& row) { return row.counters; }, right, total);
  text += confusion(
      "By both", rows, [](const Row& row) { return row.both; }, right, total);
  if (info.kind == "cpu")
    text +=
        "\none_block_copy and register_starved have no counterpart on a CPU: a core is never short of registers for "
        "warps, and one core may fill the memory alone.\n";
  return text;
}

// results/cpu, or the folder of the GPU's model: "NVIDIA H200" -> results/h200.
std::string results_file(const model::DeviceInfo& info) {
  std::string folder = info.kind == "cpu" ? "cpu" : info.name.substr(info.name.rfind(' ') + 1);
  for (char& c : folder) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return "results/" + folder + "/classes.md";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto has = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  const auto device_word = std::find(words.begin(), words.end(), "--device");
  const bool named = device_word != words.end() && device_word + 1 != words.end();
  cli::Machine machine;
  auto device = value_or_fail(cli::open_device(machine, named ? *(device_word + 1) : "auto"));
  Kernels kernels(*device, machine.clock);
  kernels.prepare();
  if (has(kPassWord)) {
    for (const Synthetic& kernel : kernels.list())
      if (kernel.host_work_ns == 0) kernels.run(kernel, kLaunchesOfACapture);
    return 0;
  }
  model::DeviceInfo info = device->info();
  info.ceilings = value_or_fail(device->ceilings({true}));
  model::Counters counted;
  counted.reason = "a CPU's are not read kernel by kernel";
  if (info.kind == "cuda") counted = capture(machine, kernels, info);
  std::vector<Row> rows;
  for (const Synthetic& kernel : kernels.list())
    rows.push_back(judge(kernel, kernels.profile_of(kernel, info.ceilings), counted));
  int right = 0, total = 0;
  const std::string text = document(machine.clock.utc(), info, counted, rows, right, total);
  fmt::print("{}", text);
  if (has("--write")) check(machine.files.write_atomically(results_file(info), text));
  return right == total && total > 0 ? 0 : 4;
}

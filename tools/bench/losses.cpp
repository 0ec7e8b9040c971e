// The losses at the sizes of a large model's vocabulary, and what the chunks of the fused one cost.
//
//   losses [--device cuda:0|cpu] [--dtype bf16|fp16|fp32] [--rounds 9] [--tokens 8192] [--hidden 4096] [--classes 128256]
//          [--small-classes 32768] [--grpo-classes 151936] [--grpo-tokens 16384] [--only cross_entropy|grpo_loss|fused]
//
// cross_entropy forward (loss and gradient in place) and backward, grpo_loss forward and backward: device time and the share of a
// copy's bandwidth in the same run, with the shipped settings and, on a GPU, with others. fused_linear_cross_entropy forward with gradients at each chunk size: its time, its three
// matrix products alone in the same chunks and in one piece, and the memory beside its inputs. Samples of all rows of a table
// take turns; medians. Values are random, repeated every few million elements, and no row is left out; what a pass overwrites is brought back before
// each sample.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/composition.hpp"
#include "measure/statistics.hpp"
#include "repository/native/native_repository.hpp"
#include "tools/bench/bound_subjects.hpp"

namespace {

using namespace hone;
using namespace hone::bench;

struct Arguments {
  std::string device = "cuda:0", dtype = "bf16", only;
  std::int64_t rounds = 9, tokens = 8192, hidden = 4096, classes = 128256, small_classes = 32768, grpo_classes = 151936,
               grpo_tokens = 16384;
};

// Forward and backward of an operation whose time is memory's.
void print_streaming(device::Device& device, const std::string& name, const kernels::Problem& problem, double copy,
                     std::int64_t rounds) {
  const kernels::Operation& operation = *kernels::find(name);
  const kernels::Target target = repository::native::target_of(device.info());
  Tensors tensors(device, operation, problem);
  std::vector<Subject> subjects;
  for (const kernels::Pass pass : {kernels::Pass::forward, kernels::Pass::backward}) {
    const kernels::Settings shipped = operation.heuristic(pass, problem, target);
    const auto add = [&](const std::string& what, const kernels::Settings& settings) {
      const kernels::Plan plan = operation.plan(pass, problem, settings, target, kernels::Ablation::none);
      subjects.push_back(bound_subject(device, name + " " + kernels::name_of(pass) + what, pass, plan, tensors));
    };
    add("", shipped);
    if (target.machine != kernels::Machine::cuda) continue;
    for (const std::int64_t warps : {8, 16, 32}) {
      kernels::Settings settings = shipped;
      settings["num_warps"] = warps, settings["VECTORS"] = 4, settings["CACHE_POLICY"] = 0;
      if (settings.count("ROW_RING")) settings["ROW_RING"] = 0;
      if (settings != shipped && operation.valid(pass, settings, problem, target).empty())
        add(fmt::format(", {} warps of 4 vectors", warps), settings);
    }
    for (const auto [warps, programs, policy] : {std::array{8, 1, 0}, {8, 2, 0}, {8, 2, 1}, {16, 1, 0}, {16, 1, 1}}) {
      kernels::Settings settings = shipped;
      if (!settings.count("ROW_RING")) break;
      settings["ROW_RING"] = 1, settings["num_warps"] = warps, settings["VECTORS"] = 2, settings["BLOCK_ROW"] = 1;
      settings["PROGRAMS_PER_SM"] = programs, settings["CACHE_POLICY"] = policy;
      if (settings != shipped && operation.valid(pass, settings, problem, target).empty())
        add(fmt::format(", in {} by {} warps{}", programs == 2 ? "two rings" : "a ring", warps,
                        policy == 1 ? ", results evicted first" : ""),
            settings);
    }
    kernels::Settings other = shipped;
    other["CACHE_POLICY"] = 1 - shipped.at("CACHE_POLICY");
    if (!shipped.count("ROW_RING") || shipped.at("ROW_RING") == 0)
      add(other.at("CACHE_POLICY") == 1 ? ", results evicted first" : ", results cached", other);
  }
  take_turns(device, tensors, subjects, rounds);
  for (const Subject& subject : subjects) {
    const double ms = *measure::median(subject.ms), bytes = operation.traffic(subject.pass, problem).bytes();
    fmt::print("| {} | {} x {} | {:.3f} | {:.3f} to {:.3f} | {:.0f} | {:.1f} % |\n", subject.name, problem.rows,
               problem.columns, ms, *measure::quantile(subject.ms, 0.2), *measure::quantile(subject.ms, 0.8),
               bytes / ms / 1e6, 100 * bytes / (ms * 1e-3) / copy);
  }
}

std::vector<device::Launch> products_of(const std::vector<device::Launch>& launches) {
  std::vector<device::Launch> products;
  for (const device::Launch& launch : launches) {
    if (launch.product) products.push_back(launch);
  }
  return products;
}

void print_fused(device::Device& device, const Arguments& arguments, kernels::DType dtype) {
  const kernels::Operation& operation = *kernels::find("fused_linear_cross_entropy");
  const kernels::Target target = repository::native::target_of(device.info());
  const kernels::Pass pass = kernels::Pass::forward;
  const kernels::Problem problem = problem_of(operation, arguments.tokens, arguments.classes, arguments.hidden, dtype);
  Tensors tensors(device, operation, problem);
  double outputs = 0;
  for (const kernels::TensorSpec& spec : operation.tensors(problem)) {
    const auto names = operation.pass(pass, problem).outputs;
    if (std::count(names.begin(), names.end(), spec.name) > 0) outputs += double(spec.bytes());
  }
  std::vector<Subject> subjects;
  const auto add = [&](const std::string& name, const kernels::Problem& of, std::int64_t chunk) {
    kernels::Settings settings = operation.heuristic(pass, of, target);
    settings["CHUNK_ROWS"] = chunk;
    if (!operation.valid(pass, settings, of, target).empty()) return;
    const kernels::Plan plan = operation.plan(pass, of, settings, target, kernels::Ablation::none);
    Subject whole = bound_subject(device, name, pass, plan, tensors);
    whole.extra_bytes = outputs + double(repository::launch::peak_scratch_bytes(plan));
    Subject products{name + ", its products alone", pass, {products_of(whole.bound.launches), whole.bound.owned, {}}};
    subjects.push_back(std::move(whole));
    subjects.push_back(std::move(products));
  };
  const std::int64_t shipped = operation.heuristic(pass, problem, target).at("CHUNK_ROWS");
  const std::vector<kernels::Knob> knobs = operation.knobs(pass, target);
  for (const std::int64_t chunk : knobs.back().values) add(fmt::format("chunks of {}", chunk), problem, chunk);
  kernels::Problem in_fp32 = problem;
  in_fp32.options["accum_dtype"] = "fp32";
  if (dtype != kernels::DType::fp32)
    add(fmt::format("chunks of {}, dweight summed up in fp32", shipped), in_fp32, shipped);
  take_turns(device, tensors, subjects, arguments.rounds);
  const double flops = operation.traffic(pass, problem).matrix_flops;
  double best_products = 0;
  for (const Subject& subject : subjects) {
    if (subject.extra_bytes == 0) best_products = std::max(best_products, flops / *measure::median(subject.ms) / 1e9);
  }
  fmt::print("\nfused_linear_cross_entropy forward with gradients, {} x {} x {}, {}; shipped: chunks of {}\n\n",
             problem.rows, problem.depth, problem.columns, kernels::name_of(dtype), shipped);
  fmt::print(
      "| what | ms | TFLOP/s of its products | share of the best products alone | GB beside the inputs |\n"
      "|---|---|---|---|---|\n");
  for (const Subject& subject : subjects) {
    const double ms = *measure::median(subject.ms), rate = flops / ms / 1e9;
    fmt::print("| {} | {:.2f} | {:.1f} | {:.1f} % | {} |\n", subject.name, ms, rate, 100 * rate / best_products,
               subject.extra_bytes == 0 ? "" : fmt::format("{:.2f}", subject.extra_bytes / 1e9));
  }
}

}  // namespace

int main(int count, char** words) {
  Arguments arguments;
  const std::map<std::string, std::int64_t*> numbers = {{"--rounds", &arguments.rounds},
                                                        {"--tokens", &arguments.tokens},
                                                        {"--hidden", &arguments.hidden},
                                                        {"--classes", &arguments.classes},
                                                        {"--small-classes", &arguments.small_classes},
                                                        {"--grpo-classes", &arguments.grpo_classes},
                                                        {"--grpo-tokens", &arguments.grpo_tokens}};
  for (int i = 1; i < count; i += 2) {
    const std::string flag = words[i], value = i + 1 < count ? words[i + 1] : "";
    if (flag == "--device") {
      arguments.device = value;
    } else if (flag == "--dtype") {
      arguments.dtype = value;
    } else if (flag == "--only" && (value == "cross_entropy" || value == "grpo_loss" || value == "fused")) {
      arguments.only = value;
    } else if (const auto number = numbers.find(flag); number != numbers.end() && std::atoll(value.c_str()) > 0) {
      *number->second = std::atoll(value.c_str());
    } else {
      fail(
          {base::ErrorKind::usage, "a flag and its value", flag + " " + value, "losses", "see the head of losses.cpp"});
    }
  }
  const auto dtype = kernels::parse_dtype(arguments.dtype);
  if (!dtype || *dtype == kernels::DType::int64)
    fail({base::ErrorKind::usage, "bf16, fp16 or fp32", arguments.dtype, "--dtype", "choose one of them"});
  cli::Machine machine;
  const auto device = value_or_fail(cli::open_device(machine, arguments.device));
  const model::Ceilings ceilings = value_or_fail(device->ceilings({true}));
  const double copy = std::max(ceilings.p50("copy_bytes_per_s"), ceilings.p50("copy_streaming_bytes_per_s"));
  fmt::print("{}, {}\n", device->info().name, device->info().driver);
  for (const auto& [name, ceiling] : ceilings.by_name) fmt::print("{} {:.4g}\n", name, ceiling.p50);
  fmt::print("\n| what | tokens x classes | ms | 20 to 80 % | GB/s | share of the copy |\n|---|---|---|---|---|---|\n");
  const auto wanted = [&](const char* what) { return arguments.only.empty() || arguments.only == what; };
  for (const std::int64_t classes : {arguments.classes, arguments.small_classes}) {
    if (!wanted("cross_entropy")) break;
    print_streaming(*device, "cross_entropy",
                    problem_of(*kernels::find("cross_entropy"), arguments.tokens, classes, 0, *dtype), copy,
                    arguments.rounds);
  }
  if (wanted("grpo_loss")) {
    print_streaming(*device, "grpo_loss",
                    problem_of(*kernels::find("grpo_loss"), arguments.grpo_tokens, arguments.grpo_classes, 8, *dtype),
                    copy, arguments.rounds);
  }
  if (wanted("fused")) print_fused(*device, arguments, *dtype);
  return 0;
}

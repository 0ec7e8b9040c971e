// Every valid setting of a built-in kernel's pass, timed in turns with the one that the heuristic chooses.
//
//   settings KERNEL[,KERNEL] [--device cuda:0|cpu] [--dtype bf16|fp16|fp32] [--passes forward,backward] [--columns 1024,4096]
//            [--rows 16384] [--depth 0] [--rounds 15] [--where NAME=VALUE,...] [--best 8] [--untimed 1]
//
// Device time, the cache emptied before each sample; medians, the best ones first, with what comes between 20 and 80 % of the samples
// and the share of a copy's bandwidth in the same run. '*' marks the heuristic's. --where keeps the settings that have these values. --untimed 1 runs each once
// and times nothing: for a profiler that looks from outside, which the timing's gate would hold up.
#include <atomic>
#include <sstream>
#include <thread>

#include "cli/composition.hpp"
#include "measure/statistics.hpp"
#include "repository/native/native_repository.hpp"
#include "tools/bench/bound_subjects.hpp"

namespace {

using namespace hone;
using namespace hone::bench;

struct Arguments {
  std::string device = "cuda:0", dtype = "bf16", passes = "forward,backward", columns = "1024,4096,8192", where;
  std::int64_t rows = 16384, depth = 0, rounds = 15, best = 8, untimed = 0;
};

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::stringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

std::string text_of(const kernels::Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

bool is_wanted(const kernels::Settings& settings, const std::string& where) {
  for (const std::string& word : words_of(where)) {
    const auto at = word.find('=');
    const auto found = settings.find(word.substr(0, at));
    if (found != settings.end() && std::to_string(found->second) != word.substr(at + 1)) return false;
  }
  return true;
}

// Fills the compiler's cache on all cores: the subjects find their programs there.
void compile_all(device::Device& device, const std::vector<kernels::Plan>& plans, const std::string& name) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    workers.emplace_back([&] {
      for (std::size_t at = next++; at < plans.size(); at = next++) {
        if (auto source = repository::native::program_source(plans[at], name, {})) (void)device.compile(*source);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
}

void print_pass(device::Device& device, const kernels::Operation& operation, kernels::Pass pass,
                const kernels::Problem& problem, const Arguments& arguments, double copy) {
  const kernels::Target target = repository::native::target_of(device.info());
  const kernels::Settings shipped = operation.heuristic(pass, problem, target);
  std::vector<kernels::Settings> all = {shipped};
  for (const kernels::Settings& settings : operation.enumerate(pass, problem, target)) {
    if (settings != shipped && is_wanted(settings, arguments.where)) all.push_back(settings);
  }
  std::vector<kernels::Plan> plans;
  for (const kernels::Settings& settings : all) {
    plans.push_back(operation.plan(pass, problem, settings, target, kernels::Ablation::none));
  }
  compile_all(device, plans, operation.name());
  Tensors tensors(device, operation, problem);
  std::vector<Subject> subjects;
  for (std::size_t i = 0; i < all.size(); ++i) {
    subjects.push_back(bound_subject(device, (i == 0 ? "* " : "  ") + text_of(all[i]), pass, plans[i], tensors));
  }
  if (arguments.untimed != 0) {
    for (const Subject& subject : subjects) check(device.run(subject.bound.launches));
    return;
  }
  take_turns(device, tensors, subjects, arguments.rounds);
  std::stable_sort(subjects.begin(), subjects.end(),
                   [](const Subject& a, const Subject& b) { return *measure::median(a.ms) < *measure::median(b.ms); });
  const double bytes = operation.traffic(pass, problem).bytes();
  fmt::print("{} {} {} x {}, {} settings\n", operation.name(), kernels::name_of(pass), problem.rows, problem.columns,
             all.size());
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Subject& subject = subjects[i];
    if (static_cast<std::int64_t>(i) >= arguments.best && subject.name[0] != '*') continue;
    const double ms = *measure::median(subject.ms);
    fmt::print("  {:3} {:.4f} ms ({:.4f} to {:.4f}) {:5.1f} % {}\n", i + 1, ms, *measure::quantile(subject.ms, 0.2),
               *measure::quantile(subject.ms, 0.8), 100 * bytes / (ms * 1e-3) / copy, subject.name);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  Arguments arguments;
  const std::map<std::string, std::string*> texts = {{"--device", &arguments.device},
                                                     {"--dtype", &arguments.dtype},
                                                     {"--passes", &arguments.passes},
                                                     {"--columns", &arguments.columns},
                                                     {"--where", &arguments.where}};
  const std::map<std::string, std::int64_t*> numbers = {{"--rows", &arguments.rows},
                                                        {"--depth", &arguments.depth},
                                                        {"--rounds", &arguments.rounds},
                                                        {"--best", &arguments.best},
                                                        {"--untimed", &arguments.untimed}};
  if (count < 2) fail({base::ErrorKind::usage, "a kernel", "nothing", "settings", "see the head of settings.cpp"});
  for (int i = 2; i < count; i += 2) {
    const std::string flag = words[i], value = i + 1 < count ? words[i + 1] : "";
    if (const auto text = texts.find(flag); text != texts.end()) {
      *text->second = value;
    } else if (const auto number = numbers.find(flag); number != numbers.end() && !value.empty()) {
      *number->second = std::atoll(value.c_str());
    } else {
      fail({base::ErrorKind::usage, "a flag and its value", flag + " " + value, "settings",
            "see the head of settings.cpp"});
    }
  }
  const auto dtype = kernels::parse_dtype(arguments.dtype);
  if (!dtype || *dtype == kernels::DType::int64)
    fail({base::ErrorKind::usage, "bf16, fp16 or fp32", arguments.dtype, "--dtype", "choose one of them"});
  cli::Machine machine;
  const auto device = value_or_fail(cli::open_device(machine, arguments.device));
  const model::Ceilings ceilings = value_or_fail(device->ceilings({true}));
  const double copy = std::max(ceilings.p50("copy_bytes_per_s"), ceilings.p50("copy_streaming_bytes_per_s"));
  fmt::print("{}, {}; copy {:.0f} GB/s; {} rounds\n", device->info().name, device->info().driver, copy / 1e9,
             arguments.rounds);
  for (const std::string& name : words_of(words[1])) {
    const kernels::Operation* operation = kernels::find(name);
    if (operation == nullptr)
      fail({base::ErrorKind::usage, "a built-in kernel", name, "settings", "'hone list' shows them"});
    for (const std::string& pass : words_of(arguments.passes)) {
      for (const std::string& columns : words_of(arguments.columns)) {
        print_pass(*device, *operation, pass == "backward" ? kernels::Pass::backward : kernels::Pass::forward,
                   problem_of(*operation, arguments.rows, std::atoll(columns.c_str()), arguments.depth, *dtype),
                   arguments, copy);
      }
    }
  }
  return 0;
}

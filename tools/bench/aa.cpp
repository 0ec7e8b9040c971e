// How often the measuring protocol is wrong, and how small an effect it finds, with real work on this machine.
//
//   aa            200 comparisons of a kernel with its own copy, 50 with 5 % and 50 with 2 % more work planted
//   aa --short    the same with 20, 8 and 8, for continuous integration: only false verdicts and the time limit count
//   aa --write    also writes the table to results/cpu/aa.md
//   aa --part identical|five|two --first SEED --trials N
//                 a part of a campaign, for a machine that is quiet for a minute or two at a time: one row, no thresholds;
//                 parts of different seeds add up
//
// The kernel is rms_norm forward. The copy is the same machine code, compiled apart and loaded at another address; the planted
// slow-down is that copy asked for more rows. All share their buffers, so no subject has luckier memory than another.
// Exit 0 when the thresholds hold, 4 when they do not, 1 when nothing could be measured.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "device/cpu/cpu_device.hpp"
#include "kernels/catalog/operation.hpp"
#include "measure/inputs.hpp"
#include "measure/judge.hpp"
#include "measure/protocol.hpp"
#include "measure/statistics.hpp"
#include "model/version.hpp"
#include "repository/launch/bound_plan.hpp"

namespace {

using namespace hone;

// 4000 rows of 4096 fp32 are 66 MB in and 66 MB out, four times a last-level cache of 32 MiB; 5 % and 2 % are whole rows.
constexpr std::int64_t kRows = 4000, kColumns = 4096;
constexpr double kTimeLimitS = 2.0;

// Only what a program may do and the library may not: print, and end.
[[noreturn]] void fail(const base::Error& error) {
  fmt::print(stderr, "{}", base::describe(error));
  std::exit(1);
}

template <class T>
T value_or_fail(base::Result<T> result) {
  if (!result) fail(result.error());
  return *std::move(result);
}

// rms_norm forward on the CPU: two programs of equal machine code over one set of buffers.
class Workload {
 public:
  Workload(device::Device& device, std::int64_t most_rows) : device_(device), operation_(*kernels::find("rms_norm")) {
    const model::DeviceInfo& info = device.info();
    target_.cores = info.sm_count;
    for (const model::Cache& cache : info.caches) {
      if (cache.level == 1) target_.l1_bytes = cache.bytes;
      if (cache.level == 2) target_.l2_bytes = cache.bytes;
    }
    target_.last_level_bytes = info.last_level_cache_bytes();
    settings_ = operation_.heuristic(kernels::Pass::forward, problem(kRows), target_);
    for (const kernels::TensorSpec& tensor : operation_.tensors(problem(most_rows))) {
      const auto bytes = static_cast<std::size_t>(tensor.bytes());
      buffers_[tensor.name] = value_or_fail(device.allocate(bytes));
      std::vector<unsigned char> values(bytes);
      measure::fill({.scale = tensor.scale, .offset = tensor.offset, .seed = 1}, values.data(), bytes / 4);
      if (auto uploaded = device.upload({buffers_[tensor.name].get(), 0}, values.data(), bytes); !uploaded)
        fail(uploaded.error());
    }
    original_ = compile("0");
    copy_ = compile("1");
    if (original_->info().machine_code_hash != copy_->info().machine_code_hash) {
      fail({base::ErrorKind::internal, "the same machine code twice", "two hashes", "rms_norm forward",
            "report this as a defect"});
    }
  }

  std::vector<device::Launch> launches(bool of_copy, std::int64_t rows) const {
    repository::launch::TensorViews views;
    for (const auto& [name, buffer] : buffers_) views[name] = {buffer.get(), 0};
    return value_or_fail(repository::launch::bind(device_, plan(rows), of_copy ? copy_ : original_, views)).launches;
  }

  device::Device& device() const { return device_; }
  std::string settings_words() const {
    std::string words;
    for (const auto& [name, value] : settings_) words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, value);
    return words;
  }

 private:
  kernels::Problem problem(std::int64_t rows) const {
    return {rows, kColumns, 0, kernels::DType::fp32, kernels::default_options(operation_)};
  }
  kernels::Plan plan(std::int64_t rows) const {
    return operation_.plan(kernels::Pass::forward, problem(rows), settings_, target_, kernels::Ablation::none);
  }

  std::shared_ptr<device::Program> compile(const std::string& copy_number) {
    const kernels::Plan planned = plan(kRows);
    device::ProgramSource source{"rms_norm forward", {}, planned.main_file, planned.defines};
    for (const kernels::EmbeddedFile& file : kernels::embedded_sources())
      source.files.emplace_back(file.path, file.text);
    source.defines.emplace_back("HONE_COPY_NUMBER",
                                copy_number);  // read by nobody: another file with the same instructions
    return value_or_fail(device_.compile(source));
  }

  device::Device& device_;
  const kernels::Operation& operation_;
  kernels::Target target_;
  kernels::Settings settings_;
  std::map<std::string, std::unique_ptr<device::Buffer>> buffers_;
  std::shared_ptr<device::Program> original_, copy_;
};

class KernelSubject final : public measure::Subject {
 public:
  KernelSubject(const Workload& workload, std::string name, bool of_copy, std::int64_t rows)
      : device_(workload.device()), name_(std::move(name)), launches_(workload.launches(of_copy, rows)) {}
  std::string name() const override { return name_; }
  base::Result<model::Sample> sample() override { return device_.time(launches_, {.cold_cache = true}); }

 private:
  device::Device& device_;
  std::string name_;
  std::vector<device::Launch> launches_;
};

struct Campaign {
  std::string what;
  int trials = 0;
  std::map<model::Verdict, int> verdicts;
  std::vector<double> ratios, half_widths_pct, durations_s, pairs;
  std::vector<std::string> errors, unresolved_reasons;
  std::vector<std::string> surprises;  // verdicts that are wrong

  int count(model::Verdict verdict) const {
    const auto found = verdicts.find(verdict);
    return found == verdicts.end() ? 0 : found->second;
  }
  int wrong() const { return count(model::Verdict::faster) + count(model::Verdict::slower); }
  double longest_s() const {
    return durations_s.empty() ? 0 : *std::max_element(durations_s.begin(), durations_s.end());
  }
};

Campaign run(const std::string& what, KernelSubject& baseline, KernelSubject& candidate, int trials, bool identical,
             int first_seed = 0) {
  base::SystemClock clock;
  Campaign campaign{.what = what, .trials = trials};
  for (int trial = 0; trial < trials; ++trial) {
    measure::CompareOptions options;
    options.seed = static_cast<std::uint64_t>(first_seed + trial);
    const std::int64_t start = clock.now_ns();
    const base::Result<model::Comparison> result = measure::compare(baseline, candidate, clock, options);
    campaign.durations_s.push_back(static_cast<double>(clock.now_ns() - start) * 1e-9);
    if (!result) {
      campaign.errors.push_back(base::describe(result.error()));
      continue;
    }
    ++campaign.verdicts[result->verdict];
    campaign.ratios.push_back(result->ratio);
    campaign.half_widths_pct.push_back(measure::half_width_pct(*result));
    campaign.pairs.push_back(result->pairs);
    if (result->verdict == model::Verdict::unresolved) campaign.unresolved_reasons.push_back(result->reason);
    const bool wrong =
        result->verdict == model::Verdict::faster || (identical && result->verdict == model::Verdict::slower);
    if (wrong)
      campaign.surprises.push_back(fmt::format("seed {}: {} {:.4f}: {}", first_seed + trial,
                                               model::word(result->verdict), result->ratio, result->reason));
    fmt::print(stderr, "\r{} {}/{}: faster {} slower {} same {} unresolved {}   ", what, trial + 1, trials,
               campaign.count(model::Verdict::faster), campaign.count(model::Verdict::slower),
               campaign.count(model::Verdict::same), campaign.count(model::Verdict::unresolved));
  }
  fmt::print(stderr, "\n");
  return campaign;
}

std::string row_of(const Campaign& campaign) {
  const auto at = [](const std::vector<double>& values, double p) { return measure::quantile(values, p).value_or(0); };
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {:.4f} | {:.4f} to {:.4f} | {:.2f} | {:.0f} | {:.2f} |\n",
                     campaign.what, campaign.trials, campaign.count(model::Verdict::faster),
                     campaign.count(model::Verdict::slower), campaign.count(model::Verdict::same),
                     campaign.count(model::Verdict::unresolved), campaign.errors.size(), at(campaign.ratios, 0.5),
                     at(campaign.ratios, 0.05), at(campaign.ratios, 0.95), at(campaign.half_widths_pct, 0.5),
                     at(campaign.pairs, 0.5), campaign.longest_s());
}

struct Threshold {
  std::string rule;
  bool holds;
};

std::string table_of(const std::vector<Campaign>& campaigns) {
  std::string table =
      "| candidate | comparisons | faster | slower | same | unresolved | errors | ratio p50 | ratio p5 to p95 | half "
      "width p50, % "
      "| pairs p50 | longest, s |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Campaign& campaign : campaigns) table += row_of(campaign);
  return table;
}

std::string conditions_of(const Workload& workload, const measure::Timing& typical, const std::string& command,
                          const std::string& date) {
  const model::DeviceInfo& info = workload.device().info();
  return fmt::format(
      "- kernel: rms_norm forward, fp32, {} x {}, cold caches, {:.2f} ms a run (p50); settings {}\n"
      "- device: {}, {} cores, {}; {}; compiler {}\n- hone {} ({}), {}, command `{}`\n",
      kRows, kColumns, typical.device_ms.p50, workload.settings_words(), info.name, info.sm_count, info.architecture,
      info.driver, info.compiler, model::hone_version(), model::hone_commit(), date, command);
}

struct Arguments {
  bool brief = false, write = false;
  std::string part;
  int first_seed = 0, trials = 0;
};

Arguments parse(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string_view value = values[i];
    if (value == "--short") {
      arguments.brief = true;
    } else if (value == "--write") {
      arguments.write = true;
    } else if (value == "--part" && i + 1 < count) {
      arguments.part = values[++i];
    } else if (value == "--first" && i + 1 < count) {
      arguments.first_seed = std::atoi(values[++i]);
    } else if (value == "--trials" && i + 1 < count) {
      arguments.trials = std::atoi(values[++i]);
    } else {
      fmt::print(stderr, "aa: expected --short, --write, --part, --first or --trials, found '{}'\n", value);
      std::exit(2);
    }
  }
  const bool known = arguments.part == "identical" || arguments.part == "five" || arguments.part == "two";
  if (!arguments.part.empty() && (!known || arguments.trials < 1 || arguments.write || arguments.brief)) {
    fmt::print(stderr, "aa: expected --part identical, five or two with --trials of 1 or more and nothing to write\n");
    std::exit(2);
  }
  return arguments;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments = parse(count, values);
  base::SystemProcesses processes;
  base::SystemFiles files;
  base::SystemClock clock;
  const auto device =
      value_or_fail(device::cpu::open_cpu_device(device::cpu::CpuOptions::from_environment(), processes, files, clock));
  const Workload workload(*device, kRows + kRows / 20);
  KernelSubject original(workload, "rms_norm", false, kRows), copy(workload, "its copy", true, kRows);
  KernelSubject five(workload, "5 % more rows", true, kRows + kRows / 20),
      two(workload, "2 % more rows", true, kRows + kRows / 50);

  const measure::Timing typical = value_or_fail(measure::time(original, clock, {}));
  if (!arguments.part.empty()) {
    const bool identical = arguments.part == "identical";
    KernelSubject& candidate = identical ? copy : arguments.part == "five" ? five : two;
    const Campaign part = run(candidate.name(), original, candidate, arguments.trials, identical, arguments.first_seed);
    fmt::print("{}\n{}", conditions_of(workload, typical, "./dev bench aa --part " + arguments.part, clock.utc()),
               table_of({part}));
    for (const std::string& surprise : part.surprises) fmt::print("wrong: {}\n", surprise);
    return 0;
  }
  const int identical_trials = arguments.brief ? 20 : 200, planted_trials = arguments.brief ? 8 : 50;
  std::vector<Campaign> campaigns;
  campaigns.push_back(run("identical code", original, copy, identical_trials, true));
  campaigns.push_back(run("5 % more rows", original, five, planted_trials, false));
  campaigns.push_back(run("2 % more rows", original, two, planted_trials, false));

  double longest_s = 0;
  std::size_t errors = 0;
  for (const Campaign& campaign : campaigns) {
    longest_s = std::max(longest_s, campaign.longest_s());
    errors += campaign.errors.size();
  }
  const auto found = [](const Campaign& campaign) { return campaign.count(model::Verdict::slower); };
  std::vector<Threshold> thresholds = {
      {fmt::format("identical code called different in {} of {}, at most 2 %", campaigns[0].wrong(), identical_trials),
       campaigns[0].wrong() * 50 <= identical_trials || (arguments.brief && campaigns[0].wrong() <= 1)},
      {fmt::format("longest comparison {:.2f} s, at most {:g} s", longest_s, kTimeLimitS), longest_s <= kTimeLimitS},
      {fmt::format("{} comparisons ended in an error, none may", errors), errors == 0}};
  if (!arguments.brief) {
    thresholds.push_back({fmt::format("5 % found in {} of {}, at least 95 %", found(campaigns[1]), planted_trials),
                          found(campaigns[1]) * 100 >= planted_trials * 95});
    thresholds.push_back({fmt::format("2 % found in {} of {}, at least 80 %", found(campaigns[2]), planted_trials),
                          found(campaigns[2]) * 100 >= planted_trials * 80});
  }

  const std::string command =
      fmt::format("./dev bench aa{}{}", arguments.brief ? " --short" : "", arguments.write ? " --write" : "");
  std::string page = fmt::format("# False verdicts and power of the measuring protocol\n\n{}\n{}\n",
                                 conditions_of(workload, typical, command, clock.utc()), table_of(campaigns));
  bool all_hold = true;
  for (const Threshold& threshold : thresholds) {
    page += fmt::format("- {}: {}\n", threshold.holds ? "holds" : "DOES NOT HOLD", threshold.rule);
    all_hold = all_hold && threshold.holds;
  }
  fmt::print("{}", page);
  for (const Campaign& campaign : campaigns) {
    for (const std::string& surprise : campaign.surprises) fmt::print("wrong, {}: {}\n", campaign.what, surprise);
    if (!campaign.errors.empty()) fmt::print("first error, {}: {}", campaign.what, campaign.errors.front());
    if (!campaign.unresolved_reasons.empty())
      fmt::print("first unresolved, {}: {}\n", campaign.what, campaign.unresolved_reasons.front());
  }
  if (arguments.write) {
    if (auto written = files.write_atomically("results/cpu/aa.md", page); !written) fail(written.error());
  }
  return all_hold ? 0 : 4;
}

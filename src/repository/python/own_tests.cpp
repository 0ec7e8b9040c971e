#include "repository/python/own_tests.hpp"

#include <algorithm>
#include <future>
#include <thread>

#include <fmt/format.h>

#include "base/text.hpp"

namespace hone::repository::python {

namespace {

// A whole test file may hold cases that wait for devices that are not here: each has a limit, and all together.
constexpr TestLimits kSmokeLimits{20, 90}, kFullLimits{15, 120}, kSeveralDevicesLimits{12, 30};

// Beside others a test takes longer; what ran into its limit was not judged.
bool ran_out_of_time(const TestOutcome& test) { return test.outcome == "timed out" || test.outcome == "not run"; }

}  // namespace

// How many processes share a list: each loads torch and opens the device for itself.
std::size_t OwnTests::shares() const {
  if (device_ == "cpu") return 1;
  constexpr std::size_t kMost = 4, kCoresEach = 4;
  return std::clamp<std::size_t>(std::thread::hardware_concurrency() / kCoresEach, 1, kMost);
}

TestRun OwnTests::run_of(GateLevel level, const std::string& name, const std::string& text) const {
  TestRun run;
  run.root = source_.root, run.import_root = source_.import_root, run.package = source_.package;
  run.overlay = base::join(context_.scratch, "package_" + name);
  run.test_file = source_.test_file;
  run.device = device_;
  run.changes = {{source_.relative, text}};  // production may hold the variant already, so the original is written too
  run.level = level;
  run.limits = level == GateLevel::smoke ? kSmokeLimits : kFullLimits;
  return run;
}

// All runs at the same time: tests are not timed.
std::vector<base::Result<TestResults>> OwnTests::run_together(const std::vector<TestRun>& runs) {
  std::vector<std::future<base::Result<TestResults>>> running;
  for (const TestRun& run : runs)
    running.push_back(std::async(std::launch::async, [this, &run] { return servers_.run(run); }));
  std::vector<base::Result<TestResults>> results;
  for (auto& each : running) results.push_back(each.get());
  return results;
}

// The list of a variant in shares and, the first time, the original's beside them.
std::vector<TestRun> OwnTests::runs_of(GateLevel level, const std::string& text, bool first) const {
  std::vector<TestRun> runs;
  const std::size_t shares = this->shares();
  for (std::size_t share = 0; share < shares * (first ? 2 : 1); ++share) {
    const bool original = share >= shares;
    TestRun run = run_of(level, fmt::format("{}_{}", original ? "original" : "variant", share % shares),
                         original ? source_.text : text);
    run.share = share % shares, run.shares = shares;
    if (!first)
      for (const TestOutcome& test : original_.at(level).outcomes)
        if (ran_out_of_time(test)) run.leave_out.push_back(test.id);
    runs.push_back(std::move(run));
  }
  // Each of these spawns a process for every device that it asks for: one after another, and on the original alone, since
  // on a machine with one device they are there to fail.
  if (first && level == GateLevel::full) {
    runs.push_back(run_of(level, "original_devices", source_.text));
    runs.back().devices = Devices::several, runs.back().limits = kSeveralDevicesLimits;
  }
  return runs;
}

base::Result<TestResults> OwnTests::run(GateLevel level, const std::string& text) {
  const bool first = original_.count(level) == 0;
  const std::vector<TestRun> runs = runs_of(level, text, first);
  auto results = run_together(runs);
  const auto middle = results.begin() + static_cast<std::ptrdiff_t>(shares());
  if (first) {
    HONE_TRY(original, joined({middle, results.end()}));
    original_.emplace(level, std::move(*original));
  }
  results.erase(middle, results.end());
  const TestResults& original = original_.at(level);
  // What ran into its limit and passes on the original is run again by itself. So are the tests of several devices that pass
  // there.
  TestRun again = run_of(level, "variant_0", text), devices = again;
  devices.devices = Devices::several, devices.limits = kSeveralDevicesLimits;
  for (const base::Result<TestResults>& share : results)
    for (const TestOutcome& test : share ? share->outcomes : std::vector<TestOutcome>{})
      if (ran_out_of_time(test) && original.outcome_of(test.id) == "passed") again.only.push_back(test.id);
  if (level == GateLevel::full)
    for (const std::string& id : choose_tests(original.collected, level, Devices::several))
      if (original.outcome_of(id) == "passed") devices.only.push_back(id);
  if (!devices.only.empty()) results.push_back(servers_.run(devices));
  auto variant = joined(std::move(results));
  if (!variant || again.only.empty() || runs.size() == 1) return variant;
  HONE_TRY(repeated, servers_.run(again));
  for (TestOutcome& test : variant->outcomes)
    for (const TestOutcome& later : repeated->outcomes)
      if (later.id == test.id) test = later;
  return variant;
}

base::Result<GateResult> OwnTests::judge(GateLevel level, const std::string& text) {
  HONE_TRY(results, run(level, text));
  return judge_tests(original_.at(level), *results);
}

}  // namespace hone::repository::python

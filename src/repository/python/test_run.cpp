#include "repository/python/test_run.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/python/answer_fields.hpp"

namespace hone::repository::python {

namespace {

constexpr std::size_t kMostSmokeTests = 24;
constexpr std::int64_t kStartMs = 240'000;  // python, torch and the tests' own imports

base::Error broken(const std::string& found, const std::string& words) {
  return {base::ErrorKind::gate, "the outcome of the operation's tests", found, "pytest",
          words.empty() ? "run the tests by hand with the same python" : words};
}

// Work of a case as far as its integer parameters tell.
double work_of(const CollectedTest& test) {
  double work = 1;
  for (const auto& [name, value] : test.parameters) {
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && end == value.data() + value.size() && number > 1) work *= static_cast<double>(number);
  }
  return work;
}

bool is_dtype(const std::string& value) {
  return base::starts_with(value, "torch.float") || base::starts_with(value, "torch.bfloat");
}

// Another dtype than float32, where the test has one.
bool other_dtype(const CollectedTest& test) {
  bool any = false, wanted = false;
  for (const auto& [name, value] : test.parameters) {
    any = any || is_dtype(value);
    wanted = wanted || value == "torch.float32";
  }
  return any && !wanted;
}

bool several_devices(const CollectedTest& test) {
  return test.function.find("dtensor") != std::string::npos || test.function.find("distributed") != std::string::npos ||
         test.parameters.count("world_size") > 0;
}

}  // namespace

int TestResults::count(const std::string& outcome) const {
  return static_cast<int>(std::count_if(outcomes.begin(), outcomes.end(),
                                        [&](const TestOutcome& each) { return each.outcome == outcome; }));
}

std::string TestResults::outcome_of(const std::string& id) const {
  for (const TestOutcome& test : outcomes)
    if (test.id == id) return test.outcome;
  return "";
}

std::vector<std::string> choose_tests(const std::vector<CollectedTest>& collected, GateLevel level, Devices devices) {
  std::vector<std::string> chosen;
  if (level == GateLevel::full) {
    for (const CollectedTest& test : collected)
      if (several_devices(test) == (devices == Devices::several)) chosen.push_back(test.id);
    return chosen;
  }
  std::map<std::string, std::vector<const CollectedTest*>> by_function;
  for (const CollectedTest& test : collected)
    if (!several_devices(test)) by_function[test.function].push_back(&test);
  const std::size_t share = std::max<std::size_t>(1, kMostSmokeTests / std::max<std::size_t>(1, by_function.size()));
  for (auto& [function, tests] : by_function) {
    std::stable_sort(tests.begin(), tests.end(), [](const CollectedTest* a, const CollectedTest* b) {
      if (other_dtype(*a) != other_dtype(*b)) return other_dtype(*b);
      return work_of(*a) < work_of(*b);
    });
    for (std::size_t i = 0; i < std::min(tests.size(), share); ++i)
      if (i == 0 || !other_dtype(*tests[i])) chosen.push_back(tests[i]->id);
  }
  return chosen;
}

namespace {

// One line of the process, or why there is none that can be read.
base::Result<Json> hear(base::Dialogue& dialogue, std::int64_t deadline_ms) {
  auto line = dialogue.hear(deadline_ms);
  if (!line) {
    if (line.error().kind == base::ErrorKind::interrupted) return line.error();
    return broken(line.error().found, last_lines(dialogue.last_words()));
  }
  Json answer = answer_in(*line);
  if (answer.members() == nullptr) return broken("'" + line->substr(0, 200) + "'", last_lines(dialogue.last_words()));
  if (const std::string error = text(answer, "error"); !error.empty())
    return broken(error, last_lines(dialogue.last_words()));
  return answer;
}

std::vector<std::string> selection_of(const std::vector<CollectedTest>& collected, const TestRun& run) {
  std::vector<std::string> chosen = choose_tests(collected, run.level, run.devices), selected;
  const auto contains = [](const std::vector<std::string>& ids, const std::string& id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  for (std::size_t i = run.share; i < chosen.size(); i += run.shares)
    if (!contains(run.leave_out, chosen[i]) && (run.only.empty() || contains(run.only, chosen[i])))
      selected.push_back(chosen[i]);
  return selected;
}

base::Result<TestResults> run_tests(base::Dialogue& dialogue, const TestRun& run) {
  const auto change_of = [](const auto& change) {
    return Json::object({{"file", change.first}, {"content", change.second}});
  };
  const Json request = Json::object({{"root", run.root},
                                     {"overlay", run.overlay},
                                     {"import_root", run.import_root},
                                     {"package", run.package},
                                     {"test_file", run.test_file},
                                     {"device", run.device},
                                     {"changes", Json::list(run.changes, change_of)}});
  HONE_PROPAGATE(dialogue.say(request.dump_plain()));
  HONE_TRY(collected, hear(dialogue, kStartMs));
  TestResults results;
  for (const Json& each : list(*collected, "collected")) {
    CollectedTest test{text(each, "id"), text(each, "function"), {}};
    if (const Json::Object* parameters = member(each, "parameters").members())
      for (const auto& [name, value] : *parameters)
        if (value.text() != nullptr) test.parameters[name] = *value.text();
    results.collected.push_back(std::move(test));
  }
  const Json selection = Json::object({{"run", selection_of(results.collected, run)},
                                       {"seconds_each", run.limits.seconds_each},
                                       {"seconds", run.limits.seconds}});
  HONE_PROPAGATE(dialogue.say(selection.dump_plain()));
  HONE_TRY(ran, hear(dialogue, static_cast<std::int64_t>(1000 * (run.limits.seconds + 60))));
  results.package = text(*ran, "package");
  if (!base::starts_with(results.package, run.overlay + "/"))
    return broken(
        "the tests imported " + run.package + " from " + results.package + ", not from hone's overlay " + run.overlay,
        "a setting of pytest or python puts another one first");
  for (const Json& each : list(*ran, "results"))
    results.outcomes.push_back(
        {text(each, "id"), text(each, "outcome"), number(each, "seconds"), text(each, "message")});
  return results;
}

}  // namespace

base::Result<TestResults> TestServers::run(const TestRun& run) {
  std::unique_ptr<base::Dialogue> dialogue;
  {
    std::lock_guard lock(mutex_);
    while (!dialogue && !idle_.empty()) {
      if (idle_.back()->alive()) dialogue = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!dialogue) {
    base::Command command;
    command.arguments = {python_, "-u", script_, run.device};
    command.environment = {{"PYTHONDONTWRITEBYTECODE", "1"}, {"CUBLAS_WORKSPACE_CONFIG", ":4096:8"}};
    HONE_TRY(started, processes_.talk(command));
    dialogue = std::move(*started);
  }
  auto results = run_tests(*dialogue, run);
  if (results) {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(dialogue));
  }
  return results;  // a process that failed is not used again
}

base::Result<TestResults> joined(std::vector<base::Result<TestResults>> shares) {
  TestResults all;
  for (base::Result<TestResults>& share : shares) {
    if (!share) return share.error();
    if (all.collected.empty()) all.collected = share->collected, all.package = share->package;
    all.outcomes.insert(all.outcomes.end(), share->outcomes.begin(), share->outcomes.end());
  }
  return all;
}

GateResult judge_tests(const TestResults& original, const TestResults& variant) {
  GateResult gate;
  std::map<std::string, std::string> before;
  for (const TestOutcome& test : original.outcomes) before[test.id] = test.outcome;
  int fail_on_both = 0, skipped = 0, unjudged = 0, fixed = 0;
  std::set<std::string> seen;
  for (const TestOutcome& test : variant.outcomes) {
    seen.insert(test.id);
    const auto known = before.find(test.id);
    const std::string was = known == before.end() ? "not run" : known->second;
    if (test.outcome == "passed") {
      ++gate.passed;
      fixed += was == "failed";
    } else if (test.outcome == "skipped" || test.outcome == "expected failure") {
      ++skipped;
    } else if (was == "passed") {
      if (gate.failed++ == 0)
        gate.first_failure = fmt::format("{} {} ({}); it passes on the original", test.id, test.outcome, test.message);
    } else if (was == "failed") {
      ++fail_on_both;
    } else {
      ++unjudged;
    }
  }
  int expected = 0;
  for (const auto& [id, was] : before) {
    expected += was == "expected failure" && !seen.count(id);
    if (was != "passed" || seen.count(id)) continue;
    if (gate.failed++ == 0) gate.first_failure = id + " was not run; it passes on the original";
  }
  gate.detail = fmt::format(
      "the operation's tests: {} passed, {} failed, {} skipped, {} fail on the original too, {} timed out or not run "
      "on the original",
      gate.passed, gate.failed, skipped, fail_on_both,
      unjudged + original.count("timed out") + original.count("not run"));
  if (expected > 0)
    gate.detail += fmt::format("; {} are expected to fail on the original and were not run on the variant", expected);
  if (fixed > 0) gate.detail += fmt::format("; {} that fail on the original pass", fixed);
  if (gate.passed + gate.failed == 0) gate.first_failure = "no test was run";
  return gate;
}

}  // namespace hone::repository::python

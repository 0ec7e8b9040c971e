// Gates and installation: numerics against double precision, the operation's own tests, style, the production file.
#include <algorithm>
#include <cmath>
#include <future>
#include <thread>

#include <fmt/format.h>

#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "measure/dtypes.hpp"
#include "measure/numerics.hpp"
#include "repository/liger/liger_session.hpp"
#include "source/sha256.hpp"

namespace hone::repository::liger {

namespace {

// A variant may be at most this much further from the exact result than the original is. Sums in another order move the error
// of a sum of n terms by a few roundings; three times the original's error is more than any of them, and far less than a fault.
constexpr double kErrorFactor = 3;

measure::DType dtype_of(const std::string& torch_name) {
  if (torch_name == "bfloat16") return measure::DType::bf16;
  if (torch_name == "float16") return measure::DType::fp16;
  return measure::DType::fp32;
}

measure::Deviation deviation_of(const TensorDeviation& d) {
  measure::Deviation deviation;
  deviation.elements = static_cast<std::size_t>(d.elements);
  deviation.non_finite = static_cast<std::size_t>(d.non_finite);
  deviation.worst_error = d.worst_error;
  deviation.worst_error_index = static_cast<std::size_t>(std::max<std::int64_t>(0, d.worst_index));
  deviation.norm_error = d.norm_error;
  deviation.largest_reference = d.largest_reference;
  return deviation;
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const auto& [name, extent] : shape) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, extent);
  return text;
}

// A whole test file may hold cases that wait for devices that are not here: each has a limit, and all together.
constexpr TestLimits kSmokeLimits{20, 90}, kFullLimits{15, 120}, kSeveralDevicesLimits{12, 30};

// What is wrong with a variant's answer on one case; empty when nothing is.
std::string fault_of(const CheckReply& reply, double& largest_ratio) {
  if (!reply.original_refused.empty()) return "";  // the original does not run this shape: nothing to compare
  if (!reply.candidate_refused.empty()) return "it does not run, and the original does: " + reply.candidate_refused;
  if (!reply.disturbed.empty())
    return "it writes to memory that is not its own: changed are " + base::join_text(reply.disturbed, ", ");
  if (!reply.changed_inputs.empty()) return "it overwrites its input " + base::join_text(reply.changed_inputs, ", ");
  if (!reply.missing.empty()) return "it does not give " + base::join_text(reply.missing, ", ");
  for (const CheckedTensor& tensor : reply.tensors) {
    if (!tensor.same_form) return tensor.name + " has another shape or type than the original's";
    if (!tensor.has_reference) return tensor.name + " has no reference";
    const TensorDeviation &c = tensor.candidate, &o = tensor.original;
    if (c.non_finite > o.non_finite)
      return fmt::format(
          "{}: {} values are not finite where the exact result is (the first is element {}); the original has {}",
          tensor.name, c.non_finite, c.first_non_finite, o.non_finite);
    const std::string worse =
        measure::worse_than_baseline(deviation_of(c), deviation_of(o), kErrorFactor, dtype_of(tensor.dtype));
    if (o.norm_error > 0) largest_ratio = std::max(largest_ratio, c.norm_error / o.norm_error / kErrorFactor);
    if (!worse.empty())
      return fmt::format("{}: {}; worst is element {}: {:.6g} instead of {:.6g}", tensor.name, worse, c.worst_index,
                         c.worst_value, c.worst_reference);
  }
  return "";
}

}  // namespace

base::Result<GateResult> LigerSession::numerics(const std::string& implementation, GateLevel level,
                                                const std::function<void()>& after_first_pass) {
  GateResult gate;
  const bool interpreted = worker_device_ == "cpu";
  const bool wide = level == GateLevel::full;
  // Triton's interpreter computes bfloat16 and float16 in ways the compiler does not; there float32 is what can be judged.
  std::vector<std::string> dtypes = {"fp32"};
  if (!interpreted)
    dtypes = wide ? std::vector<std::string>{"fp32", "bf16", "fp16"}
                  : std::vector<std::string>{"fp32", request_.dtype == "fp32" ? "bf16" : request_.dtype};
  int refused = 0, unrepeatable = 0;
  const auto spec_of = [&](const Shape& shape, const std::string& dtype) {
    CaseSpec spec{shape, dtype, request_.options, request_.seed + 1};
    spec.options.erase(kTokens);
    spec.options.erase(kBenchmarkSeconds);
    return spec;
  };
  const std::vector<Shape> shapes = gate_shapes(*facts_, wide, interpreted);
  std::vector<CaseSpec> cases;
  for (const Shape& shape : shapes)
    for (const std::string& dtype : dtypes) cases.push_back(spec_of(shape, dtype));
  compile_ahead({"v0", implementation}, cases, passes());
  for (const Shape& shape : shapes) {
    for (const std::string& dtype : dtypes) {
      const CaseSpec spec = spec_of(shape, dtype);
      for (const std::string& needed : {std::string("v0"), implementation})
        if (auto ready = worker_with(needed); !ready) return ready.error();
      auto reply = worker_->check("v0", implementation, spec);
      if (!reply) {
        base::Error error = failed(implementation, reply.error());
        if (error.kind == base::ErrorKind::interrupted) return error;
        if (gate.failed++ == 0) gate.first_failure = fmt::format("{} {}: {}", dtype, shape_text(shape), error.found);
        if (ended_.count(implementation)) break;
        continue;
      }
      if (!reply->original_refused.empty()) {
        ++refused;
        continue;
      }
      for (const CheckedTensor& tensor : reply->tensors) unrepeatable += tensor.repeats ? 0 : 1;
      const std::string fault = fault_of(*reply, gate.largest_error_over_bound);
      if (!reply->disturbed.empty()) abandon(implementation, fault);
      if (fault.empty()) {
        if (++gate.passed == 1) after_first_pass();
      } else if (gate.failed++ == 0) {
        gate.first_failure = fmt::format("{} {}: {}", dtype, shape_text(shape), fault);
      }
      if (ended_.count(implementation)) break;
    }
    if (ended_.count(implementation)) break;
  }
  gate.detail =
      fmt::format("numerics against double precision: {} cases passed, {} failed, {} that the original refuses",
                  gate.passed, gate.failed, refused);
  if (unrepeatable > 0) gate.detail += fmt::format("; {} results differ from run to run", unrepeatable);
  if (gate.passed + gate.failed == 0) gate.first_failure = "the original refuses every case: nothing was compared";
  return gate;
}

// How many processes share a list: each loads torch and opens the device for itself.
std::size_t LigerSession::test_shares() const {
  if (worker_device_ == "cpu") return 1;
  constexpr std::size_t kMost = 4, kCoresEach = 4;
  return std::clamp<std::size_t>(std::thread::hardware_concurrency() / kCoresEach, 1, kMost);
}

TestRun LigerSession::test_run(GateLevel level, const std::string& name, const std::string& text) const {
  TestRun run;
  run.checkout = context_.root;
  run.overlay = base::join(context_.scratch, "package_" + name);
  run.test_file = op_.preflight.test_file;
  run.device = worker_device_;
  run.changes = {{relative_, text}};  // production may hold the variant already, so the original is written too
  run.level = level;
  run.limits = level == GateLevel::smoke ? kSmokeLimits : kFullLimits;
  return run;
}

// All runs at the same time: tests are not timed.
std::vector<base::Result<TestResults>> LigerSession::run_together(const std::vector<TestRun>& runs) {
  std::vector<std::future<base::Result<TestResults>>> running;
  for (const TestRun& run : runs)
    running.push_back(std::async(std::launch::async, [this, &run] { return tests_->run(run); }));
  std::vector<base::Result<TestResults>> results;
  for (auto& each : running) results.push_back(each.get());
  return results;
}

// The variant's results and, the first time, the original's beside them.
base::Result<TestResults> LigerSession::run_own_tests(GateLevel level, const std::string& text) {
  const bool first = original_tests_.count(level) == 0;
  const std::size_t shares = test_shares();
  std::vector<TestRun> runs;
  for (std::size_t share = 0; share < shares * (first ? 2 : 1); ++share) {
    const bool original = share >= shares;
    TestRun run = test_run(level, fmt::format("{}_{}", original ? "original" : "variant", share % shares),
                           original ? text_ : text);
    run.share = share % shares, run.shares = shares;
    if (!first)
      for (const TestOutcome& test : original_tests_.at(level).outcomes)
        if (test.outcome == "timed out" || test.outcome == "not run") run.leave_out.push_back(test.id);
    runs.push_back(std::move(run));
  }
  // Each of these spawns a process for every device that it asks for: one after another, and on the original alone, since
  // on a machine with one device they are there to fail.
  if (first && level == GateLevel::full) {
    runs.push_back(test_run(level, "original_devices", text_));
    runs.back().devices = Devices::several, runs.back().limits = kSeveralDevicesLimits;
  }
  auto results = run_together(runs);
  const auto middle = results.begin() + static_cast<std::ptrdiff_t>(shares);
  if (first) {
    auto original = joined({middle, results.end()});
    if (!original) return original.error();
    original_tests_.emplace(level, std::move(*original));
  }
  results.erase(middle, results.end());
  const TestResults& original = original_tests_.at(level);
  // Beside others a test takes longer: what ran into its limit and passes on the original is run again by itself. So are the
  // tests of several devices that pass there.
  TestRun again = test_run(level, "variant_0", text), devices = again;
  devices.devices = Devices::several, devices.limits = kSeveralDevicesLimits;
  for (const base::Result<TestResults>& share : results)
    for (const TestOutcome& test : share ? share->outcomes : std::vector<TestOutcome>{}) {
      if ((test.outcome == "timed out" || test.outcome == "not run") && original.outcome_of(test.id) == "passed")
        again.only.push_back(test.id);
    }
  if (level == GateLevel::full)
    for (const std::string& id : choose_tests(original.collected, level, Devices::several))
      if (original.outcome_of(id) == "passed") devices.only.push_back(id);
  if (!devices.only.empty()) results.push_back(tests_->run(devices));
  auto variant = joined(std::move(results));
  if (!variant || again.only.empty() || runs.size() == 1) return variant;
  auto repeated = tests_->run(again);
  if (!repeated) return repeated.error();
  for (TestOutcome& test : variant->outcomes)
    for (const TestOutcome& later : repeated->outcomes)
      if (later.id == test.id) test = later;
  return variant;
}

base::Result<GateResult> LigerSession::gate(const model::Variant& variant, GateLevel level) {
  std::lock_guard lock(mutex_);
  if (!facts_)
    return base::Error{base::ErrorKind::preflight, "inputs for " + op_.op, "hone does not know how to build them",
                       "gate", "add its adapter"};
  if (auto started = worker(); !started) return started.error();
  auto text = text_of(variant);
  if (!text) return text.error();
  auto implementation = implementation_of(*text);
  if (!implementation) return implementation.error();
  // A text that has been judged is judged: finalize asks again for what optimize has asked.
  const std::pair<std::string, GateLevel> key(*implementation, level);
  if (const auto known = gates_.find(key); known != gates_.end()) return known->second;
  auto judged = gate_of(*implementation, *text, level);
  if (judged) gates_.emplace(key, *judged);
  return judged;
}

base::Result<GateResult> LigerSession::gate_of(const std::string& implementation, const std::string& text,
                                               GateLevel level) {
  const bool has_tests = op_.preflight.test_exists;
  // Tests and benchmark must be what they were: a variant may not pass by changing them.
  const auto hashes = [&] {
    std::string all;
    for (const std::string& file : {op_.preflight.test_file, std::string("test/utils.py"),
                                    std::string("test/conftest.py"), op_.preflight.benchmark_script}) {
      auto content = base::read_regular(context_.files, base::join(context_.root, file));
      all += file + " " + (content ? source::sha256_hex(*content) : "absent") + "\n";
    }
    return all;
  };
  const std::string before = hashes();
  if (!tests_)
    tests_ = std::make_unique<TestServers>(context_.processes, context_.python,
                                           base::join(context_.scratch, "worker/hone_tests.py"));
  // On a GPU the tests run beside the other cases once one has passed: what hangs or ends its process has shown it by then.
  // The two share no process and no member that either writes.
  std::future<base::Result<TestResults>> beside;
  auto numbers = numerics(implementation, level, [&] {
    if (worker_device_ != "cpu" && has_tests)
      beside = std::async(std::launch::async, [&] { return run_own_tests(level, text); });
  });
  if (beside.valid()) beside.wait();
  if (!numbers || numbers->failed > 0) return numbers;
  if (!has_tests) {
    numbers->detail += "; the checkout has no test file for the operation";
    return numbers;
  }
  auto results = beside.valid() ? beside.get() : run_own_tests(level, text);
  if (!results) return results.error();
  GateResult tests = judge_tests(original_tests_.at(level), *results);
  if (hashes() != before) {
    ++tests.failed;
    tests.first_failure = "the operation's tests or benchmark changed while they ran";
  }
  if (!tests.ok()) {
    tests.detail = numbers->detail + "; " + tests.detail;
    return tests;
  }
  GateResult both;
  both.passed = numbers->passed + tests.passed;
  both.largest_error_over_bound = numbers->largest_error_over_bound;
  both.detail = numbers->detail + "; " + tests.detail;
  return both;
}

// The text as the repository's own checks want it: ruff with the checkout's configuration, fixed and formatted once.
base::Result<std::string> LigerSession::styled(const std::string& text) {
  model::GateCount style;
  style.name = "style";
  style_ = style;
  if (!context_.processes.find("ruff")) {
    style_->detail =
        "not checked: ruff is not installed (pip install ruff); the repository runs 'ruff check' and 'ruff format'";
    return text;
  }
  const std::string folder = base::join(context_.scratch, "style");
  const std::string path = base::join(folder, base::file_name(path_));
  if (auto written = context_.files.write_atomically(path, text); !written) return written.error();
  const std::string configuration = base::join(context_.root, "pyproject.toml");
  const auto ruff = [&](std::vector<std::string> words) -> base::Result<base::Outcome> {
    base::Command command;
    command.arguments = {"ruff"};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.arguments.insert(command.arguments.end(), {"--no-cache", "--config", configuration, path});
    command.directory = context_.root;
    return context_.processes.run(command);
  };
  const auto clean = [&]() -> base::Result<std::string> {
    auto check = ruff({"check", "--output-format=concise"});
    if (!check) return check.error();
    auto format = ruff({"format", "--check"});
    if (!format) return format.error();
    return (check->exit_status == 0 ? "" : check->output) +
           (format->exit_status == 0 ? "" : format->output + format->error);
  };
  auto first = clean();
  if (!first) return first.error();
  if (first->empty()) {
    style_->passed = 2;
    style_->detail = "ruff check and ruff format --check pass";
    return text;
  }
  if (auto fixed = ruff({"check", "--fix", "--quiet"}); !fixed) return fixed.error();
  if (auto formatted = ruff({"format", "--quiet"}); !formatted) return formatted.error();
  auto second = clean();
  if (!second) return second.error();
  auto after = context_.files.read(path);
  if (!after) return after.error();
  style_->passed = second->empty() ? 2 : 0;
  style_->failed = second->empty() ? 0 : 1;
  style_->detail = second->empty() ? "ruff check and ruff format pass after one automatic fix"
                                   : "after one automatic fix ruff still says: " + second->substr(0, 400);
  return *after;
}

base::Result<std::vector<FileChange>> LigerSession::installation(const model::Variant& variant) {
  std::lock_guard lock(mutex_);
  auto text = text_of(variant);
  if (!text) return text.error();
  auto styled_text = styled(*text);
  if (!styled_text) return styled_text.error();
  auto now = base::read_regular(context_.files, path_);
  if (!now) return now.error();
  return std::vector<FileChange>{{path_, *now, *styled_text, true}};
}

}  // namespace hone::repository::liger

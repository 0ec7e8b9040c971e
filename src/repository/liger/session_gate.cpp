// Gates and installation: numerics against double precision, the operation's own tests, style, the production file.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

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
constexpr TestLimits kSmokeLimits{20, 90}, kFullLimits{15, 120};

// What is wrong with a variant's answer on one case; empty when nothing is.
std::string fault_of(const CheckReply& reply, double& largest_ratio) {
  if (!reply.original_refused.empty()) return "";  // the original does not run this shape: nothing to compare
  if (!reply.candidate_refused.empty()) return "it does not run, and the original does: " + reply.candidate_refused;
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

base::Result<GateResult> LigerSession::numerics(const std::string& implementation, GateLevel level) {
  GateResult gate;
  const bool interpreted = worker_device_ == "cpu";
  const bool wide = level == GateLevel::full;
  // Triton's interpreter computes bfloat16 and float16 in ways the compiler does not; there float32 is what can be judged.
  std::vector<std::string> dtypes = {"fp32"};
  if (!interpreted)
    dtypes = wide ? std::vector<std::string>{"fp32", "bf16", "fp16"}
                  : std::vector<std::string>{"fp32", request_.dtype == "fp32" ? "bf16" : request_.dtype};
  int refused = 0, unrepeatable = 0;
  for (const Shape& shape : gate_shapes(*facts_, wide, interpreted)) {
    for (const std::string& dtype : dtypes) {
      CaseSpec spec;
      spec.shape = shape;
      spec.dtype = dtype;
      spec.options = request_.options;
      spec.options.erase("tokens");
      spec.seed = request_.seed + 1;
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
      if (fault.empty())
        ++gate.passed;
      else if (gate.failed++ == 0)
        gate.first_failure = fmt::format("{} {}: {}", dtype, shape_text(shape), fault);
    }
  }
  gate.detail =
      fmt::format("numerics against double precision: {} cases passed, {} failed, {} that the original refuses",
                  gate.passed, gate.failed, refused);
  if (unrepeatable > 0) gate.detail += fmt::format("; {} results differ from run to run", unrepeatable);
  if (gate.passed + gate.failed == 0) gate.first_failure = "the original refuses every case: nothing was compared";
  return gate;
}

base::Result<const TestResults*> LigerSession::tests_on_original(GateLevel level) {
  if (const auto known = original_tests_.find(level); known != original_tests_.end()) return &known->second;
  TestRun run;
  run.python = context_.python;
  run.script = base::join(context_.scratch, "worker/hone_tests.py");
  run.checkout = context_.root;
  run.overlay = base::join(context_.scratch, "package_original");
  run.test_file = op_.preflight.test_file;
  run.device = worker_device_;
  run.changes = {{relative_, text_}};  // production may hold the variant already
  run.level = level;
  run.limits = level == GateLevel::smoke ? kSmokeLimits : kFullLimits;
  auto results = run_tests(context_.processes, run);
  if (!results) return results.error();
  return &original_tests_.emplace(level, std::move(*results)).first->second;
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

  auto numbers = numerics(*implementation, level);
  if (!numbers || numbers->failed > 0) return numbers;
  if (!op_.preflight.test_exists) {
    numbers->detail += "; the checkout has no test file for the operation";
    return numbers;
  }
  // Tests and benchmark must be what they were: a variant may not pass by changing them.
  const auto hashes = [&] {
    std::string all;
    for (const std::string& file : {op_.preflight.test_file, std::string("test/utils.py"),
                                    std::string("test/conftest.py"), op_.preflight.benchmark_script}) {
      auto content = context_.files.read(base::join(context_.root, file));
      all += file + " " + (content ? source::sha256_hex(*content) : "absent") + "\n";
    }
    return all;
  };
  const std::string before = hashes();
  auto original = tests_on_original(level);
  if (!original) return original.error();
  TestRun run;
  run.python = context_.python;
  run.script = base::join(context_.scratch, "worker/hone_tests.py");
  run.checkout = context_.root;
  run.overlay = base::join(context_.scratch, "package_variant");
  run.test_file = op_.preflight.test_file;
  run.device = worker_device_;
  run.changes = {{relative_, *text}};
  run.level = level;
  run.limits = level == GateLevel::smoke ? kSmokeLimits : kFullLimits;
  for (const TestOutcome& test : (*original)->outcomes)
    if (test.outcome == "timed out" || test.outcome == "not run") run.leave_out.push_back(test.id);
  auto results = run_tests(context_.processes, run);
  if (!results) return results.error();
  GateResult tests = judge_tests(**original, *results);
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
  auto now = context_.files.read(path_);
  if (!now) return now.error();
  return std::vector<FileChange>{{path_, *now, *styled_text, true}};
}

}  // namespace hone::repository::liger

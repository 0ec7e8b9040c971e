// The operation's own tests as a gate: collected in one process, chosen by parameter value, run with limits, and judged
// against the same list run on the original.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "repository/repository.hpp"

namespace hone::repository::liger {

struct CollectedTest {
  std::string id, function;
  std::map<std::string, std::string> parameters;  // name -> value as text: "torch.float32", "128"
};

struct TestOutcome {
  std::string id, outcome;  // "passed", "failed", "skipped", "expected failure", "timed out", "not run"
  double seconds = 0;
  std::string message;
};

struct TestResults {
  std::vector<CollectedTest> collected;
  std::vector<TestOutcome> outcomes;
  std::string package;  // the liger_kernel that was imported
  int count(const std::string& outcome) const;
};

struct TestLimits {
  double seconds_each = 20, seconds = 150;
};

struct TestRun {
  std::string python, script;     // hone_tests.py
  std::string checkout, overlay;  // overlay: a folder of hone's own, made anew
  std::string test_file, device;  // "test/transformers/test_rms_norm.py"; "cpu" is Triton's interpreter
  std::vector<std::pair<std::string, std::string>> changes;  // path below the checkout -> content
  GateLevel level = GateLevel::smoke;
  TestLimits limits;
  std::vector<std::string> leave_out;  // ids not to run: timed out on the original
};

// Smoke: of each test function the case with float32 (where it has a dtype) and the smallest sizes, at most two dozen; functions
// whose parameters say several devices are left to the full run. Full: all.
std::vector<std::string> choose_tests(const std::vector<CollectedTest>& collected, GateLevel level);

base::Result<TestResults> run_tests(base::Processes& processes, const TestRun& run);

// What passed on the original must pass on the variant; what did not is named apart. Nothing passed: not ok.
GateResult judge_tests(const TestResults& original, const TestResults& variant);

}  // namespace hone::repository::liger

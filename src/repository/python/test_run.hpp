// An operator's own tests: collected in one process, chosen by parameter value, run with limits, and judged
// against the same list run on the original.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "repository/judged.hpp"

namespace hone::repository::python {

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
  std::string package;  // the file of the package that was imported
  int count(const std::string& outcome) const;
  std::string outcome_of(const std::string& id) const;  // empty where it is not among them
};

// Tests that spawn processes for several devices, and the others.
enum class Devices { one, several };

struct TestLimits {
  double seconds_each = 20, seconds = 150;
};

struct TestRun {
  std::string root, overlay;                                 // the tree; overlay: a folder of hone's own, made anew
  std::string import_root, package;                          // below the root: "src", and in it "my_kernels"
  std::string test_file;                                     // "test/test_rms_norm.py"
  std::string device;                                        // "cpu" is Triton's interpreter
  std::vector<std::pair<std::string, std::string>> changes;  // path below the root -> content
  GateLevel level = GateLevel::smoke;
  TestLimits limits;
  std::vector<std::string> leave_out;  // ids not to run: timed out on the original
  std::vector<std::string> only;       // run these of the chosen ones alone; empty: all
  Devices devices = Devices::one;
  std::size_t share = 0, shares = 1;  // of the chosen tests every `shares`-th, from this one on
};

// Smoke: of each test function the case with float32 (where it has a dtype) and the smallest sizes, at most two dozen, and
// none for several devices. Full: all of that number of devices.
std::vector<std::string> choose_tests(const std::vector<CollectedTest>& collected, GateLevel level,
                                      Devices devices = Devices::one);

// Processes that run tests, kept from one run to the next: each holds what takes long to import and answers by a fork. Safe
// to use from several threads; runs at the same time have a process each.
class TestServers {
 public:
  TestServers(base::Processes& processes, std::string python, std::string script)  // hone_tests.py
      : processes_(processes), python_(std::move(python)), script_(std::move(script)) {}
  base::Result<TestResults> run(const TestRun& run);

 private:
  base::Processes& processes_;
  std::string python_, script_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<base::Dialogue>> idle_;
};

// The shares of one list as one result, in the order given. The first that failed is the error.
base::Result<TestResults> joined(std::vector<base::Result<TestResults>> shares);

// What passed on the original must pass on the variant; what did not is named apart. Nothing passed: not ok.
GateResult judge_tests(const TestResults& original, const TestResults& variant);

}  // namespace hone::repository::python

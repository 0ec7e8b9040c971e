// A checkout as python and git see it, and the pre-flight checks made of that.
#include "repository/liger/checkout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hone::repository::liger {
namespace {

using python::parse_environment;
using python::PythonEnvironment;

const char* kWithGpu =
    R"({"python":"3.12.3","executable":"/usr/bin/python3","installed":"","torch":"2.11.0","triton":"3.6.0","pytest":"8.4","transformers":"5.17","imported":"/co/src/liger_kernel/__init__.py","cuda":"13.0","cuda_devices":1,"cuda_error":"","device_names":["NVIDIA H200"]})";

const PreflightCheck* check_named(const std::vector<PreflightCheck>& checks, const std::string& name) {
  const auto found =
      std::find_if(checks.begin(), checks.end(), [&](const PreflightCheck& check) { return check.name == name; });
  return found == checks.end() ? nullptr : &*found;
}

TEST(Checkout, TellsHowTheCheckoutIsImported) {
  PythonEnvironment environment = parse_environment(kWithGpu);
  EXPECT_NE(import_route(environment, "/co").find("not installed"), std::string::npos);
  environment.installed = "/co/src/liger_kernel/__init__.py";
  EXPECT_NE(import_route(environment, "/co").find("pip install -e"), std::string::npos);
  environment.installed = "/usr/lib/python3/site-packages/liger_kernel/__init__.py";
  EXPECT_NE(import_route(environment, "/co").find("site-packages"), std::string::npos);
}

TEST(Checkout, EveryMissingPartHasARemedy) {
  PythonEnvironment nothing = parse_environment(
      R"({"python":"3.11","executable":"/p","installed":"","torch":"","triton":"","pytest":"","imported":"","cuda_devices":0,"cuda_error":""})");
  for (const PreflightCheck& check : checkout_checks(nothing, {}, "/co", "auto")) {
    EXPECT_TRUE(check.passed || !check.remedy.empty()) << check.name;
  }
  const auto checks = checkout_checks(nothing, {}, "/co", "auto");
  for (const char* name :
       {"torch", "triton", "pytest", "GPU and CUDA", "liger_kernel of this checkout", "git commit"}) {
    const PreflightCheck* check = check_named(checks, name);
    ASSERT_TRUE(check) << name;
    EXPECT_FALSE(check->passed) << name;
  }
}

TEST(Checkout, ADirtyWorkTreeIsNamedAndNoObstacle) {
  const auto checks = checkout_checks(
      parse_environment(kWithGpu), {"0123456789abcdef", "main", {"src/liger_kernel/ops/rms_norm.py"}}, "/co", "auto");
  const PreflightCheck* check = check_named(checks, "clean work tree");
  ASSERT_TRUE(check);
  EXPECT_FALSE(check->passed);
  EXPECT_FALSE(check->required);
  EXPECT_NE(check->found.find("rms_norm.py"), std::string::npos);
}

TEST(Checkout, GitIsAskedWithoutTakingLocks) {
  base::ScriptedProcesses processes;
  base::Outcome commit, branch, status;
  commit.output = "abc123\n";
  branch.output = "main\n";
  status.output = " M src/a.py\n";
  processes.answers = {commit, branch, status};
  const GitState state = git_state(processes, "/co");
  EXPECT_EQ(state.commit, "abc123");
  EXPECT_EQ(state.changed, std::vector<std::string>{"src/a.py"});
  for (const base::Command& command : processes.commands)
    EXPECT_NE(std::find(command.arguments.begin(), command.arguments.end(), "--no-optional-locks"),
              command.arguments.end());
}

}  // namespace
}  // namespace hone::repository::liger

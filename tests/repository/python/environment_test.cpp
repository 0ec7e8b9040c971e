// What python says of itself, and the pre-flight checks made of it.
#include "repository/python/environment.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hone::repository::python {
namespace {

const char* kWithGpu =
    R"({"python":"3.12.3","executable":"/usr/bin/python3","installed":"","torch":"2.11.0","triton":"3.6.0","pytest":"8.4","transformers":"5.17","imported":"/tree/src/kernels/__init__.py","cuda":"13.0","cuda_devices":1,"cuda_error":"","device_names":["NVIDIA H200"]})";

TEST(Environment, ReadsWhatPythonHas) {
  const PythonEnvironment environment = parse_environment(kWithGpu);
  EXPECT_TRUE(environment.problem.empty());
  EXPECT_EQ(environment.torch, "2.11.0");
  EXPECT_EQ(environment.cuda_devices, 1);
  EXPECT_EQ(environment.device_names, std::vector<std::string>{"NVIDIA H200"});
}

TEST(Environment, AnAnswerThatIsNoObjectIsAProblem) { EXPECT_FALSE(parse_environment("Traceback").problem.empty()); }

TEST(Environment, APythonThatFailsOrIsMissingIsAProblemAndNoError) {
  base::ScriptedProcesses processes;
  base::Outcome failed;
  failed.exit_status = 1;
  failed.error = "Traceback\nSyntaxError: invalid syntax";
  processes.answers = {failed};
  base::MemoryFiles files;
  base::ManualClock clock;
  const Context context{files, processes, clock, "/scratch"};
  EXPECT_NE(inspect_python(context, "/tree/src", "kernels").problem.find("SyntaxError"), std::string::npos);
  EXPECT_FALSE(inspect_python(context, "/tree/src", "kernels").problem.empty());  // no answer left
  EXPECT_EQ(processes.commands.front().arguments.back(), "kernels");
}

TEST(Environment, TheFirstObstacleIsNamed) {
  PythonEnvironment environment = parse_environment(kWithGpu);
  EXPECT_EQ(obstacle(environment, "auto"), "");
  EXPECT_NE(obstacle(environment, "cpu").find("interpreter"), std::string::npos);
  environment.cuda_devices = 0;
  EXPECT_NE(obstacle(environment, "auto").find("no GPU"), std::string::npos);
  environment.triton.clear();
  EXPECT_NE(obstacle(environment, "cpu").find("triton is not installed"), std::string::npos);
}

TEST(Environment, TheInterpreterNeedsNoGpu) {
  const auto checks = environment_checks(parse_environment(kWithGpu), true);
  EXPECT_TRUE(
      std::none_of(checks.begin(), checks.end(), [](const auto& check) { return check.name == "GPU and CUDA"; }));
  EXPECT_TRUE(std::all_of(checks.begin(), checks.end(), [](const auto& check) { return check.passed; }));
}

}  // namespace
}  // namespace hone::repository::python

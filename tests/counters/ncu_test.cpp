// Finding Nsight Compute, asking for permission, planning and running a capture: all through the ports, without a GPU.
#include "counters/ncu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.hpp"

namespace hone::counters {
namespace {

using base::MemoryFiles;
using base::Outcome;
using base::ScriptedProcesses;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kVersion =
    "NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 36398880) (public-release)\n";
constexpr const char* kParams = "/proc/driver/nvidia/params";
constexpr const char* kStatus = "/proc/self/status";
constexpr const char* kCsv =
    "==PROF== Connected to process 7\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"CC\",\"gpu__time_duration.sum\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"\",\"us\"\n\"0\",\"7\",\"_rms_norm_backward_kernel\",\"(132, 1, 1)\",\"(256, 1, "
    "1)\",\"9.0\",\"47.01\"\n";

Outcome printed(const std::string& output, int status = 0) {
  Outcome outcome;
  outcome.output = output;
  outcome.exit_status = status;
  return outcome;
}

void put(MemoryFiles& files, const std::string& path, const std::string& content) {
  ASSERT_TRUE(files.write_atomically(path, content).ok());
}

std::string after(const std::vector<std::string>& arguments, const std::string& flag) {
  const auto found = std::find(arguments.begin(), arguments.end(), flag);
  return found == arguments.end() || found + 1 == arguments.end() ? "" : *(found + 1);
}

CaptureRequest request() {
  CaptureRequest request;
  request.command = {"python3", "repro.py"};
  request.kernels = {"_rms_norm_backward_kernel", "kernel.v2"};
  return request;
}

TEST(FindNcu, TakesTheOneOnPathFirst) {
  ScriptedProcesses processes;
  MemoryFiles files;
  processes.programs["ncu"] = "/usr/bin/ncu";
  put(files, "/usr/bin/ncu", "");
  put(files, "/usr/local/cuda/bin/ncu", "");
  processes.answers = {printed(kVersion)};
  const auto tool = find_ncu(processes, files, {});
  ASSERT_TRUE(tool.has_value());
  EXPECT_EQ(tool->path, "/usr/bin/ncu");
  EXPECT_EQ(tool->year, 2025);
  EXPECT_EQ(tool->release, 3);
}

TEST(FindNcu, LooksBelowCudaHomeThenAtTheNewestInstallation) {
  ScriptedProcesses processes;
  MemoryFiles files;
  put(files, "/opt/nvidia/nsight-compute/2024.1.0/ncu", "");
  put(files, "/opt/nvidia/nsight-compute/2024.10.0/ncu", "");
  processes.answers = {printed(kVersion), printed(kVersion)};
  EXPECT_EQ(find_ncu(processes, files, {})->path, "/opt/nvidia/nsight-compute/2024.10.0/ncu") << "10 is newer than 1";
  put(files, "/cuda/bin/ncu", "");
  EXPECT_EQ(find_ncu(processes, files, {{"CUDA_HOME", "/cuda"}})->path, "/cuda/bin/ncu");
}

TEST(FindNcu, PassesOverAWrapperThatDoesNotRun) {
  ScriptedProcesses processes;
  MemoryFiles files;
  put(files, "/usr/local/cuda-13.0/bin/ncu", "");
  put(files, "/usr/local/cuda-12.4/bin/ncu", "");
  processes.answers = {printed("ncu: exec failed", 127), printed(kVersion)};
  EXPECT_EQ(find_ncu(processes, files, {})->path, "/usr/local/cuda-12.4/bin/ncu");
}

TEST(FindNcu, FindsNoneWhereThereIsNone) {
  ScriptedProcesses processes;
  MemoryFiles files;
  EXPECT_FALSE(find_ncu(processes, files, {}).has_value());
}

TEST(CounterPermission, FollowsTheDriverAndTheCapability) {
  MemoryFiles files;
  EXPECT_THAT(counter_permission(files).reason, HasSubstr("no NVIDIA driver"));
  put(files, kParams, "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n");
  put(files, kStatus, "Uid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\n");  // a container's root
  const Permission container = counter_permission(files);
  EXPECT_FALSE(container.allowed);
  EXPECT_THAT(container.remedy, HasSubstr("--cap-add SYS_ADMIN"));
  EXPECT_THAT(container.remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  put(files, kStatus, "CapEff:\t000001ffffffffff\n");
  EXPECT_TRUE(counter_permission(files).allowed);
  put(files, kStatus, "CapEff:\t0000000000000000\n");
  put(files, kParams, "RmProfilingAdminOnly: 0\n");
  EXPECT_TRUE(counter_permission(files).allowed);
}

TEST(CaptureCommand, CapturesTheKernelsOwnLaunchesOnceForEachConfigurationAndLeavesTheClocks) {
  const base::Command command = capture_command({"/ncu", 2025, 3}, request());
  const auto& arguments = command.arguments;
  EXPECT_EQ(after(arguments, "--kernel-name"), "regex:^(_rms_norm_backward_kernel|kernel\\.v2)$")
      << "a name is no pattern";
  EXPECT_EQ(after(arguments, "--kernel-name-base"), "function");
  EXPECT_EQ(after(arguments, "--filter-mode"), "per-launch-config");
  EXPECT_EQ(after(arguments, "--launch-skip"), "1");
  EXPECT_EQ(after(arguments, "--launch-count"), "1");
  EXPECT_EQ(after(arguments, "--clock-control"), "none");
  EXPECT_THAT(arguments, Not(Contains("full"))) << "the full set replays every kernel several times as often";
  EXPECT_EQ(arguments.back(), "repro.py");
}

TEST(CaptureCommand, EndsByAnInterruptSoThatPartialResultsArePrinted) {
  CaptureRequest limited = request();
  limited.limit_s = 30;
  const base::Command command = capture_command({"/ncu", 2025, 3}, limited);
  EXPECT_EQ(command.arguments[0], "timeout");
  EXPECT_EQ(command.arguments[1], "--signal=INT");
  EXPECT_EQ(command.arguments[3], "30");
  EXPECT_GT(command.deadline_ms, 50'000) << "time to print after the interrupt";
}

TEST(CaptureCommand, AProgramThatSaysWhenIsNotCapturedFromItsStartAndHasNoWarmUpToSkip) {
  CaptureRequest marked = request();
  marked.from_start = false;
  marked.warmup_launches = 0;
  const auto arguments = capture_command({"/ncu", 2025, 3}, marked).arguments;
  EXPECT_EQ(after(arguments, "--profile-from-start"), "off");
  EXPECT_THAT(arguments, Not(Contains("--launch-skip")));
  EXPECT_THAT(capture_command({"/ncu", 2025, 3}, request()).arguments, Not(Contains("--profile-from-start")));
}

TEST(CaptureCommand, ByHandIsOneLineForAShell) {
  CaptureRequest spaced = request();
  spaced.command = {"python3", "it's here/repro.py"};
  const std::string line = command_by_hand(spaced);
  EXPECT_THAT(line, ::testing::StartsWith("ncu --target-processes all --csv"));
  EXPECT_THAT(line, HasSubstr("'regex:^(_rms_norm_backward_kernel|kernel\\.v2)$'"));
  EXPECT_THAT(line, ::testing::EndsWith(" python3 'it'\\''s here/repro.py' > FILE.csv"));
}

TEST(CaptureCommand, AnOlderVersionCountsOverAllKernels) {
  const base::Command command = capture_command({"/ncu", 2022, 4}, request());
  EXPECT_THAT(command.arguments, Not(Contains("--filter-mode")));
  EXPECT_EQ(after(command.arguments, "--launch-skip"), "2");
  EXPECT_EQ(after(command.arguments, "--launch-count"), "2");
}

TEST(Capture, ReadsWhatThePrinterPrinted) {
  ScriptedProcesses processes;
  processes.answers = {printed(kCsv)};
  const auto captured = capture(processes, {"/ncu", 2025, 3}, request());
  ASSERT_TRUE(captured.ok());
  EXPECT_DOUBLE_EQ(*captured->kernels.at(0).duration_us, 47.01);
}

TEST(Capture, KeepsPartialResultsOfATimeBoundAndOfAProgramThatFailed) {
  ScriptedProcesses processes;
  processes.answers = {printed(kCsv, 124), printed(kCsv, 1)};
  const auto late = capture(processes, {"/ncu", 2025, 3}, request());
  ASSERT_TRUE(late.ok());
  EXPECT_THAT(late->notes, Contains(HasSubstr("ended after 120 s")));
  const auto failed = capture(processes, {"/ncu", 2025, 3}, request());
  ASSERT_TRUE(failed.ok());
  EXPECT_THAT(failed->notes, Contains(HasSubstr("ended with status 1")));
}

TEST(Capture, NothingCapturedCarriesTheProfilersOwnMessage) {
  ScriptedProcesses processes;
  processes.answers = {
      printed("==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", 1),
      printed("", 124)};
  const auto refused = capture(processes, {"/ncu", 2025, 3}, request());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().found, HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_THAT(refused.error().remedy, HasSubstr("SYS_ADMIN"));
  const auto late = capture(processes, {"/ncu", 2025, 3}, request());
  ASSERT_FALSE(late.ok());
  EXPECT_THAT(late.error().found, HasSubstr("no launch within 120 s"));
}

TEST(Collect, GoesOnWithoutCountersAndSaysWhyAndHow) {
  ScriptedProcesses processes;
  MemoryFiles files;
  auto counters = collect(processes, files, {}, request());
  ASSERT_TRUE(counters.ok());
  EXPECT_EQ(counters->status, "unavailable");
  EXPECT_EQ(counters->route, "counter-free");
  EXPECT_FALSE(counters->remedy.empty());
  EXPECT_TRUE(processes.commands.empty()) << "nothing is run without permission";

  put(files, kParams, "RmProfilingAdminOnly: 0\n");
  counters = collect(processes, files, {}, request());
  EXPECT_THAT(counters->reason, HasSubstr("was not found"));

  put(files, "/usr/local/cuda/bin/ncu", "");
  processes.answers = {printed(kVersion), printed(kCsv)};
  counters = collect(processes, files, {}, request());
  EXPECT_EQ(counters->status, "available");
  EXPECT_EQ(counters->route, "nsight-compute");
  EXPECT_EQ(counters->kernels.size(), 1u);
}

TEST(Collect, SaysNothingOfClocksThatWereLeftAloneOnPurpose) {
  ScriptedProcesses processes;
  MemoryFiles files;
  put(files, kParams, "RmProfilingAdminOnly: 0\n");
  put(files, "/usr/local/cuda/bin/ncu", "");
  processes.answers = {printed(kVersion),
                       printed("==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, "
                               "profiling results may be inconsistent.\n==WARNING== Something else.\n" +
                               std::string(kCsv))};
  const auto counters = collect(processes, files, {}, request());
  ASSERT_TRUE(counters.ok());
  EXPECT_EQ(counters->reason, "==WARNING== Something else.");
}

TEST(Collect, AnInterruptionIsPassedOn) {
  ScriptedProcesses processes;
  MemoryFiles files;
  put(files, kParams, "RmProfilingAdminOnly: 0\n");
  put(files, "/usr/local/cuda/bin/ncu", "");
  processes.answers = {printed(kVersion), base::Error{base::ErrorKind::interrupted, "", "", "", ""}};
  const auto counters = collect(processes, files, {}, request());
  ASSERT_FALSE(counters.ok());
  EXPECT_EQ(counters.error().kind, base::ErrorKind::interrupted);
}

}  // namespace
}  // namespace hone::counters

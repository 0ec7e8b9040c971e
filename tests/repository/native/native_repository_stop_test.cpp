// A stop in the middle of a gate of a built-in kernel is no verdict on the kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "device/cpu/cpu_device.hpp"
#include "device/stoppable.hpp"
#include "repository/native/native_repository.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::repository::native {
namespace {

// Asks for the stop when the first kernel has been compiled.
class StopAfterACompilation final : public base::Processes {
 public:
  explicit StopAfterACompilation(std::atomic<bool>& stop) : stop_(stop) {}
  base::Result<base::Outcome> run(const base::Command& command) override {
    auto outcome = system_.run(command);
    const bool version = command.arguments.back() == "--version";
    compilations += version ? 0 : 1;
    if (!version) stop_ = true;
    return outcome;
  }
  std::optional<std::string> find(const std::string& program) override { return system_.find(program); }
  std::atomic<int> compilations{0};

 private:
  base::SystemProcesses system_;
  std::atomic<bool>& stop_;
};

TEST(NativeGate, EndsBetweenTwoRunsWhenItIsStopped) {
  const test::TemporaryFolder folder;
  std::atomic<bool> stop{false};
  StopAfterACompilation processes(stop);
  base::SystemFiles files;
  base::SystemClock clock;
  device::cpu::CpuOptions options;
  options.temporary_directory = folder.path();
  auto opened = device::cpu::open_cpu_device(options, processes, files, clock);
  ASSERT_TRUE(opened);
  const auto device = device::stoppable(std::move(*opened), &stop);
  NativeRepository repository({*device, files, clock}, folder / "settings");
  model::Request request;
  request.kernel = "relu_squared";
  request.sizes = {"64"};
  auto session = repository.open(request);
  ASSERT_TRUE(session) << base::describe(session.error());
  const auto gate = (*session)->gate((*session)->original(), GateLevel::full);
  ASSERT_FALSE(gate) << gate->first_failure;
  EXPECT_EQ(gate.error().kind, base::ErrorKind::interrupted);
  EXPECT_GE(processes.compilations, 1);
  EXPECT_LE(processes.compilations, std::max(1, static_cast<int>(std::thread::hardware_concurrency())))
      << "those that had begun when it was stopped, one on each core";
}

}  // namespace
}  // namespace hone::repository::native

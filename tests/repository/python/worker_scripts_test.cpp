// Parts of the worker's Python by themselves, with the python that the gates use: what they do on a machine that no test has.
#include <gtest/gtest.h>

#include "base/process.hpp"
#include "repository/python/test_run.hpp"
#include "tests/repository/liger/checkout_copy.hpp"

namespace hone::repository::python {
namespace {

using liger::CheckoutCopy;
using liger::python_with_triton;

const std::string worker_folder = std::string(HONE_SOURCE_DIR) + "/src/repository/python/worker";

class WorkerScripts : public testing::Test {
 protected:
  void SetUp() override {
    if (python_with_triton().empty())
      GTEST_SKIP() << "no python with torch and triton: tools/fetch_python.sh installs it";
  }
  // What a program of these lines prints.
  std::string printed(const std::string& program) {
    base::Command command;
    command.arguments = {python_with_triton(), "-c",
                         "import sys\nsys.path.insert(0, '" + worker_folder + "')\n" + program};
    auto outcome = processes_.run(command);
    EXPECT_TRUE(outcome);
    if (!outcome) return "";
    EXPECT_EQ(outcome->exit_status, 0) << outcome->error;
    return outcome->output;
  }
  base::SystemProcesses processes_;
};

// A device whose samples are given: time after the pass, whether launches were late, how long queueing took.
constexpr const char* kMachine = R"(
import hone_machine
hone_machine._device_synchronize = lambda: None
hone_machine._amax = lambda *a, **k: None
class Device(hone_machine.CudaMachine):
    def __init__(self, samples):
        self.samples, self.asked = list(samples), 0
        self._flush = self._flushed = None
        self._enqueue_ns = 200_000
        self.nvml = type("Nvml", (), {"sm_clock_mhz": lambda self: 1980})()
    def _queued(self, call):
        self.asked += 1
        outside, blocked = self.samples.pop(0)
        return 1000.0 + self.asked, outside, blocked, 10_000
def tell(*samples):
    device = Device(samples)
    found = device.time(lambda: (lambda: None))
    print(device.asked, int(found["outside_ns"]), found["blocked"])
)";

TEST_F(WorkerScripts, AHostThatIsLateOnceIsNoWorkOnAnotherStream) {
  EXPECT_EQ(printed(std::string(kMachine) + R"(
tell((2_000, False))
tell((4_040_000, False), (2_000, False))
tell((4_040_000, False), (5_000_000, False), (4_500_000, False))
tell((4_040_000, True), (2_000, False))
)"),
            "1 2000 False\n"     // an idle device
            "2 2000 False\n"     // the host was interrupted once
            "3 4040000 False\n"  // the device is busy after every run of the pass
            "2 2000 False\n");   // launches were late, and then were not
}

// What takes long to import is imported by the first run's process and, while its tests run, by the one that forks the next.
TEST_F(WorkerScripts, ASecondTestRunFindsWhatTheFirstImported) {
  CheckoutCopy copy;
  ASSERT_TRUE(copy.complete()) << "the liger-kernel sources are fetched by ./dev";
  const std::filesystem::path root = std::filesystem::path(copy.path()).parent_path(), log = root / "imports.txt";
  std::filesystem::create_directories(root / "elsewhere");
  std::ofstream(root / "elsewhere/hone_slow_import.py")
      << "import os\nwith open('" << log.string() << "', 'a') as out:\n    out.write(f'{os.getpid()}\\n')\n";
  std::ofstream(root / "co/test/test_it.py") << "import os\nimport sys\nimport time\n"
                                             << "sys.path.append('" << (root / "elsewhere").string() << "')\n"
                                             << "import hone_slow_import\n"
                                             << "def test_that_takes_a_while():\n    time.sleep(1.5)\n";
  TestServers servers(processes_, python_with_triton(), worker_folder + "/hone_tests.py");
  TestRun run;
  run.root = copy.path(), run.overlay = (root / "overlay").string();
  run.import_root = "src", run.package = "liger_kernel";
  run.test_file = "test/test_it.py", run.device = "cpu", run.level = GateLevel::full;
  run.limits = {60, 120};
  const auto imports = [&] {
    std::ifstream in(log);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  };
  // The forking process does not search the folder that the test file has added, so it is told.
  ::setenv("PYTHONPATH", (root / "elsewhere").c_str(), 1);
  auto first = servers.run(run);
  ::unsetenv("PYTHONPATH");
  ASSERT_TRUE(first) << first.error().found << first.error().remedy;
  EXPECT_EQ(first->count("passed"), 1);
  ASSERT_EQ(imports().size(), 2u);
  EXPECT_NE(imports().front(), imports().back());
  auto second = servers.run(run);
  ASSERT_TRUE(second) << second.error().found;
  EXPECT_EQ(second->count("passed"), 1);
  EXPECT_EQ(imports().size(), 2u);
}

}  // namespace
}  // namespace hone::repository::python

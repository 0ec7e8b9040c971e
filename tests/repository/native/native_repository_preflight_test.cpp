// Pre-flight of the built-in kernels: a compiler that hangs is no missing compiler.
#include <gmock/gmock.h>

#include <algorithm>

#include "device/cpu/cpu_device.hpp"
#include "repository/native/native_repository.hpp"

namespace hone::repository::native {
namespace {

using ::testing::HasSubstr;

PreflightCheck compiler_check(const base::Outcome& answer_to_version) {
  base::ScriptedProcesses processes;
  processes.programs["c++"] = "/usr/bin/c++";
  processes.answers = {answer_to_version};
  base::MemoryFiles files;
  base::ManualClock clock;
  auto device = device::cpu::open_cpu_device({}, processes, files, clock);
  EXPECT_TRUE(device);
  NativeRepository repository({**device, files, clock}, "settings");
  model::Request request;
  request.kernel = "rms_norm";
  for (const PreflightCheck& check : repository.preflight(request))
    if (check.name == "kernel compiler") return check;
  ADD_FAILURE() << "no check of the compiler";
  return {};
}

TEST(NativePreflight, ACompilerThatHangsIsNamedAsHangingWithItsDeadline) {
  base::Outcome hung;
  hung.timed_out = true;
  const PreflightCheck check = compiler_check(hung);
  EXPECT_FALSE(check.passed);
  EXPECT_EQ(check.found, "it hangs: no answer within 20 s, /usr/bin/c++ --version");
  EXPECT_THAT(check.remedy, HasSubstr("HONE_CXX"));
}

// What forward leaves in a cache backward need not fetch: only the longer of the two is certain. And a session takes the
// ceilings of a profile as its own.
TEST(NativeFloor, OfBothPassesInARowIsTheLongerOne) {
  base::ScriptedProcesses processes;
  base::MemoryFiles files;
  base::ManualClock clock;
  auto device = device::cpu::open_cpu_device({}, processes, files, clock);
  ASSERT_TRUE(device);
  NativeRepository repository({**device, files, clock}, "settings");
  model::Request request;
  request.kernel = "rms_norm";
  request.sizes = {"1024"};
  auto session = repository.open(request);
  ASSERT_TRUE(session) << base::describe(session.error());
  EXPECT_EQ((*session)->floor({"1024", "full"}).physics_floor_ms, 0) << "no ceiling is known";
  model::Ceilings ceilings;
  for (const char* name : {"copy_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s"})
    ceilings.by_name[name] = {1e10, 1e10, 1e10, 5};
  (*session)->take_ceilings(ceilings);
  const double forward = (*session)->floor({"1024", "forward"}).physics_floor_ms,
               backward = (*session)->floor({"1024", "backward"}).physics_floor_ms;
  EXPECT_GT(forward, 0);
  EXPECT_DOUBLE_EQ((*session)->floor({"1024", "full"}).physics_floor_ms, std::max(forward, backward));
}

TEST(NativePreflight, ACompilerThatFailsSaysHow) {
  base::Outcome broken;
  broken.exit_status = 127;
  broken.error = "error while loading shared libraries: libmpc.so.3\n";
  EXPECT_THAT(compiler_check(broken).found, HasSubstr("exit status 127: error while loading shared libraries"));
}

}  // namespace
}  // namespace hone::repository::native

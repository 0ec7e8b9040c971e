// Pre-flight of the built-in kernels: a compiler that hangs is no missing compiler.
#include <gmock/gmock.h>

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
  NativeRepository repository({**device, files, clock, "settings"});
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

TEST(NativePreflight, ACompilerThatFailsSaysHow) {
  base::Outcome broken;
  broken.exit_status = 127;
  broken.error = "error while loading shared libraries: libmpc.so.3\n";
  EXPECT_THAT(compiler_check(broken).found, HasSubstr("exit status 127: error while loading shared libraries"));
}

}  // namespace
}  // namespace hone::repository::native

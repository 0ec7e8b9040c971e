// A built-in kernel that does not end costs one deadline, not one for each case of the matrix.
#include <gmock/gmock.h>

#include "device/cpu/cpu_device.hpp"
#include "repository/native/native_repository.hpp"
#include "tests/support/endless_device.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::repository::native {
namespace {

using ::testing::HasSubstr;

class Endless : public ::testing::Test {
 protected:
  void SetUp() override {
    device::cpu::CpuOptions options;
    options.temporary_directory = folder_.path();
    auto opened = device::cpu::open_cpu_device(options, processes_, files_, clock_);
    ASSERT_TRUE(opened) << base::describe(opened.error());
    real_ = std::move(*opened);
    device_ = std::make_unique<test::EndlessDevice>(*real_, 1, false);
  }

  test::TemporaryFolder folder_;
  base::SystemFiles files_;
  base::SystemProcesses processes_;
  base::SystemClock clock_;
  std::unique_ptr<device::Device> real_;
  std::unique_ptr<test::EndlessDevice> device_;
};

TEST_F(Endless, VerifyStopsAtTheFirstCaseThatHangs) {
  NativeRepository repository({*device_, files_, clock_}, folder_ / "settings");
  model::Request request;
  request.kernel = "relu_squared";
  request.dtype = "fp32";
  auto session = repository.open_to_verify(request);
  ASSERT_TRUE(session) << base::describe(session.error());
  int told = 0;
  auto cases = (*session)->verify(launch::Extent::smoke, false, [&](int done, int total, const launch::CaseResult&) {
    EXPECT_LT(done, total);
    return ++told > 0;
  });
  ASSERT_TRUE(cases) << base::describe(cases.error());
  ASSERT_EQ(cases->size(), 1u);
  EXPECT_TRUE(cases->front().hung);
  EXPECT_FALSE(cases->front().passed);
  EXPECT_THAT(cases->front().failure, HasSubstr("does not end: still running after 60 s"));
  EXPECT_EQ(device_->tries, 1);
  EXPECT_EQ(told, 1);
}

TEST_F(Endless, AGateFailsAtTheFirstCaseThatHangs) {
  NativeRepository repository({*device_, files_, clock_}, folder_ / "settings");
  model::Request request;
  request.kernel = "relu_squared";
  request.sizes = {"64"};
  auto session = repository.open(request);
  ASSERT_TRUE(session) << base::describe(session.error());
  const auto gate = (*session)->gate((*session)->original(), GateLevel::full);
  ASSERT_TRUE(gate) << base::describe(gate.error());
  EXPECT_EQ(gate->passed, 0);
  EXPECT_EQ(gate->failed, 1);
  EXPECT_THAT(gate->first_failure, HasSubstr("does not end"));
  EXPECT_EQ(device_->tries, 1);
}

}  // namespace
}  // namespace hone::repository::native

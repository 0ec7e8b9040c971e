// A stop reaches whatever goes through the device, before it starts and while the ceilings are taken.
#include "device/stoppable.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/device/cpu/cpu_fixture.hpp"

namespace hone::device {
namespace {

class StoppableTest : public cpu::CpuFixture {
 protected:
  void SetUp() override {
    CpuFixture::SetUp();
    device_ = stoppable(std::move(device_), &stop_);
  }
  std::atomic<bool> stop_{false};
};

TEST_F(StoppableTest, NothingIsCompiledOrRunAfterAStop) {
  const auto program = compile(source("extern \"C\" void one(void* const*, long, long, int, int, void*) {}"));
  ASSERT_NE(program, nullptr);
  const std::vector<Launch> launches = {launch(*program, "one", 1, {})};
  EXPECT_TRUE(device_->run(launches));
  EXPECT_TRUE(device_->time(launches, {}));
  stop_ = true;
  const base::ErrorKind interrupted = base::ErrorKind::interrupted;
  EXPECT_EQ(device_->compile(source("int two;")).error().kind, interrupted);
  EXPECT_EQ(device_->run(launches).error().kind, interrupted);
  EXPECT_EQ(device_->try_run(launches, 1'000'000'000).error().kind, interrupted);
  EXPECT_EQ(device_->time(launches, {}).error().kind, interrupted);
  EXPECT_EQ(device_->ceilings({true}).error().kind, interrupted);
  EXPECT_TRUE(device_->allocate(64)) << "what is taken back needs the device still";
}

// All of them take some seconds; the stop comes after a fraction of one.
TEST_F(StoppableTest, CeilingsEndWithTheirPresentSample) {
  std::thread person([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop_ = true;
  });
  const auto ceilings = device_->ceilings({});
  person.join();
  ASSERT_FALSE(ceilings) << "none of what was measured by then is all of them";
  EXPECT_EQ(ceilings.error().kind, base::ErrorKind::interrupted);
}

}  // namespace
}  // namespace hone::device

// Where the scratch of plans lies that are timed against each other.
#include "repository/launch/bound_plan.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "device/cpu/cpu_device.hpp"

namespace hone::repository::launch {
namespace {

// A plan of one launch that is given `rows` partial sums; it is bound and never run.
kernels::Plan plan_with(std::int64_t rows) {
  kernels::Plan plan;
  plan.scratch = {{"partial", kernels::DType::fp32, rows, 8, 8}};
  kernels::Launch launch;
  launch.entry = "sum";
  launch.arguments = {kernels::TensorArgument{"partial", 0}};
  plan.launches = {launch};
  return plan;
}

class BoundScratch : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = device::cpu::open_cpu_device({}, processes_, files_, clock_);
    ASSERT_TRUE(opened) << base::describe(opened.error());
    device_ = std::move(*opened);
  }
  BoundLaunches bound(const kernels::Plan& plan, ScratchPool* pool) {
    auto bound = bind(*device_, plan, nullptr, {}, pool);
    EXPECT_TRUE(bound);
    return bound ? *bound : BoundLaunches{};
  }
  static const device::Buffer* scratch_of(const BoundLaunches& bound) {
    return std::get<device::BufferView>(bound.launches.front().arguments.front()).buffer;
  }
  base::SystemFiles files_;
  base::SystemProcesses processes_;
  base::SystemClock clock_;
  std::unique_ptr<device::Device> device_;
  ScratchPool pool_;
};

TEST_F(BoundScratch, OfOnePoolIsOneMemoryForPlansOfOneSize) {
  const auto first = bound(plan_with(4), &pool_), second = bound(plan_with(4), &pool_);
  EXPECT_EQ(scratch_of(first), scratch_of(second));
  EXPECT_NE(scratch_of(first), scratch_of(bound(plan_with(5), &pool_)));
}

TEST_F(BoundScratch, WithoutAPoolIsEachPlansOwn) {
  const auto first = bound(plan_with(4), nullptr), second = bound(plan_with(4), nullptr);
  EXPECT_NE(scratch_of(first), scratch_of(second));
}

TEST_F(BoundScratch, GoesWithTheLastPlanThatHasIt) {
  auto first = bound(plan_with(4), &pool_);
  auto second = bound(plan_with(4), &pool_);
  const device::Buffer* shared = scratch_of(second);
  first = {};
  EXPECT_EQ(scratch_of(bound(plan_with(4), &pool_)), shared);
  second = {};
  const auto later = bound(plan_with(4), &pool_);
  EXPECT_EQ(later.launches.size(), 1u);
  EXPECT_EQ(scratch_of(later)->bytes(), 4u * 8 * 4);
}

}  // namespace
}  // namespace hone::repository::launch

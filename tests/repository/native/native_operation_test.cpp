// A built-in kernel as an operation description: what is in force where something is installed.
#include "repository/native/native_operation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cpu/cpu_device.hpp"
#include "repository/launch/launcher.hpp"

namespace hone::repository::native {
namespace {

using ::testing::HasSubstr;

class InForce : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = device::cpu::open_cpu_device({}, processes_, files_, clock_);
    ASSERT_TRUE(opened) << base::describe(opened.error());
    device_ = std::move(*opened);
    isolation_ = std::make_unique<launch::Isolation>(*device_, false);
    target_.cores = 4;
  }
  // The kernel with its heuristic's settings and another num_threads installed; 0: nothing is.
  void install(std::int64_t num_threads) {
    if (num_threads > 0) {
      InstalledEntry entry{"Test CPU", "fp32", {}, "measured", "2026-01-01T00:00:00Z", "0.1.0"};
      entry.variant.id = "v1";
      entry.variant.strategy = "parameter-sweep";
      model::SettingsFunction function{kernel_.x_name(), {{0, heuristic(), "measured"}}, 0, "measured"};
      function.rules.front().settings["num_threads"] = num_threads;
      entry.variant.settings["forward"] = function;
      ASSERT_TRUE(files_.write_atomically(store_.path("rms_norm"), *store_.text_with("rms_norm", entry)));
    }
    auto operation = native_operation({kernel_, target_, kernels::default_options(kernel_), kernels::DType::fp32},
                                      store_, "Test CPU");
    ASSERT_TRUE(operation) << base::describe(operation.error());
    operation_ = std::move(*operation);
    launcher_ = std::make_unique<launch::Launcher>(*isolation_, *operation_, 0);
    problem_ = *operation_->problem_at(4096);
  }
  model::Settings heuristic() const {
    return kernel_.heuristic(kernels::Pass::forward,
                             kernel_.problem_at(4096, target_, kernels::DType::fp32, kernels::default_options(kernel_)),
                             target_);
  }

  const kernels::Operation& kernel_ = *kernels::find("rms_norm");
  kernels::Target target_;
  base::ScriptedProcesses processes_;
  base::MemoryFiles files_;
  base::ManualClock clock_;
  SettingsStore store_{files_, "settings"};
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<launch::Isolation> isolation_;
  std::unique_ptr<launch::Operation> operation_;
  std::unique_ptr<launch::Launcher> launcher_;
  launch::ProblemPtr problem_;
};

TEST_F(InForce, AreInstalledSettingsWhereTheyAreValid) {
  ASSERT_NO_FATAL_FAILURE(install(2));
  EXPECT_EQ(launcher_->plan({}, "forward", *problem_)->settings.at("num_threads"), 2);
  EXPECT_EQ(launcher_->why_not_in_force("forward", *problem_), "");
  EXPECT_EQ(launcher_->why_not_in_force("backward", *problem_), "") << "none are installed";
}

TEST_F(InForce, AreTheHeuristicsWhereInstalledOnesDoNotFitAndItIsSaidWhy) {
  ASSERT_NO_FATAL_FAILURE(install(3));
  EXPECT_EQ(launcher_->plan({}, "forward", *problem_)->settings, heuristic());
  EXPECT_THAT(launcher_->why_not_in_force("forward", *problem_), HasSubstr("num_threads can not be 3"));
}

TEST_F(InForce, AVariantsSettingsComeBeforeTheInstalledOnes) {
  ASSERT_NO_FATAL_FAILURE(install(2));
  model::Variant variant;
  variant.settings["forward"] = {"hidden_size", {{0, heuristic(), ""}}, 0, ""};
  variant.settings["forward"].rules.front().settings["num_threads"] = 4;
  EXPECT_EQ(launcher_->plan(variant, "forward", *problem_)->settings.at("num_threads"), 4);
}

// What each of its texts may do at a size that is measured, only one that hone wrote may do in hone's process.
TEST_F(InForce, OnlyTextWithoutEditsIsTrusted) {
  ASSERT_NO_FATAL_FAILURE(install(0));
  EXPECT_TRUE(operation_->is_trusted({}));
  EXPECT_FALSE(operation_->is_trusted({{operation_->main_file(), "// changed"}}));
}

}  // namespace
}  // namespace hone::repository::native

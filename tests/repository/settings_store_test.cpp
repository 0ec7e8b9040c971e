// The settings file that finalize installs: what is in force, and what happens to files that do not fit.
#include "repository/native/settings_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::repository::native {
namespace {

using ::testing::HasSubstr;

class Store : public ::testing::Test {
 protected:
  Store() {
    target.cores = 4;
    problem.rows = 64;
    problem.columns = 4096;
    problem.options = kernels::default_options(operation);
  }
  // The heuristic's settings with one knob changed, as a file would bring them.
  InstalledEntry entry(const std::string& knob, std::int64_t value) {
    InstalledEntry made{"Test CPU", "fp32", {}, "measured", "2026-01-01T00:00:00Z", "0.1.0"};
    made.variant.id = "v1";
    made.variant.strategy = "parameter-sweep";
    model::SettingsFunction function;
    function.x_name = operation.x_name();
    function.rules = {{0, operation.heuristic(kernels::Pass::forward, problem, target), "measured"}};
    function.rules.front().settings[knob] = value;
    made.variant.settings["forward"] = function;
    return made;
  }

  const kernels::Operation& operation = *kernels::find("rms_norm");
  kernels::Target target;
  kernels::Problem problem;
  base::MemoryFiles files;
  SettingsStore store{files, "settings"};
};

TEST_F(Store, KeepsOneEntryForEachDeviceAndDtype) {
  EXPECT_FALSE(store.load("rms_norm", "Test CPU", "fp32")->has_value());
  for (const std::int64_t value : {1, 2}) {
    ASSERT_TRUE(
        files.write_atomically(store.path("rms_norm"), *store.text_with("rms_norm", entry("num_threads", value))));
  }
  InstalledEntry other = entry("num_threads", 4);
  other.device = "Another CPU";
  ASSERT_TRUE(files.write_atomically(store.path("rms_norm"), *store.text_with("rms_norm", other)));
  const auto loaded = store.load("rms_norm", "Test CPU", "fp32");
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ((*loaded)->variant.settings.at("forward").rules.front().settings.at("num_threads"), 2);
  EXPECT_EQ((*loaded)->hone_version, "0.1.0");
  EXPECT_TRUE(store.load("rms_norm", "Another CPU", "fp32")->has_value());
  EXPECT_FALSE(store.load("rms_norm", "Test CPU", "bf16")->has_value());
}

TEST_F(Store, InstalledSettingsAreInForceWhereTheyAreValid) {
  const auto installed = std::optional(entry("num_threads", 2));
  EXPECT_EQ(settings_in_force(operation, kernels::Pass::forward, problem, target, installed).at("num_threads"), 2);
  EXPECT_EQ(why_not_in_force(operation, kernels::Pass::forward, problem, target, installed), "");
  EXPECT_EQ(why_not_in_force(operation, kernels::Pass::backward, problem, target, installed), "")
      << "none are installed";
}

TEST_F(Store, SettingsThatDoNotFitGiveWayToTheHeuristicAndSayWhy) {
  const auto installed = std::optional(entry("num_threads", 3));
  EXPECT_EQ(settings_in_force(operation, kernels::Pass::forward, problem, target, installed),
            operation.heuristic(kernels::Pass::forward, problem, target));
  EXPECT_THAT(why_not_in_force(operation, kernels::Pass::forward, problem, target, installed),
              HasSubstr("num_threads can not be 3"));
}

TEST_F(Store, ADamagedFileIsAnErrorWithItsPathAndRemedy) {
  const std::string whole = *store.text_with("rms_norm", entry("num_threads", 2));
  for (const std::string& text : {std::string("{"), std::string("[]"), std::string("{\"schema\": \"hone.settings/0\"}"),
                                  whole.substr(0, whole.size() / 2)}) {
    ASSERT_TRUE(files.write_atomically(store.path("rms_norm"), text));
    const auto loaded = store.load("rms_norm", "Test CPU", "fp32");
    ASSERT_FALSE(loaded) << text;
    EXPECT_EQ(loaded.error().kind, base::ErrorKind::preflight);
    EXPECT_EQ(loaded.error().where, "settings/rms_norm.json");
    EXPECT_THAT(loaded.error().remedy, HasSubstr("remove the file"));
  }
}

}  // namespace
}  // namespace hone::repository::native

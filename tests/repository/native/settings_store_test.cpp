// The settings file that finalize installs: what is in force, and what happens to files that do not fit.
#include "repository/native/settings_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::repository::native {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Store : public ::testing::Test {
 protected:
  static InstalledEntry entry(std::int64_t num_threads) {
    InstalledEntry made{"Test CPU", "fp32", {}, "measured", "2026-01-01T00:00:00Z", "0.1.0"};
    made.variant.id = "v1";
    made.variant.strategy = "parameter-sweep";
    made.variant.settings["forward"] = {
        "hidden_size", {{0, {{"num_threads", num_threads}}, "measured"}}, 0, "measured"};
    return made;
  }

  base::MemoryFiles files;
  SettingsStore store{files, "settings"};
};

TEST_F(Store, KeepsOneEntryForEachDeviceAndDtype) {
  EXPECT_FALSE(store.load("rms_norm", "Test CPU", "fp32")->has_value());
  for (const std::int64_t value : {1, 2}) {
    ASSERT_TRUE(files.write_atomically(store.path("rms_norm"), *store.text_with("rms_norm", entry(value))));
  }
  InstalledEntry other = entry(4);
  other.device = "Another CPU";
  ASSERT_TRUE(files.write_atomically(store.path("rms_norm"), *store.text_with("rms_norm", other)));
  const auto loaded = store.load("rms_norm", "Test CPU", "fp32");
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ((*loaded)->variant.settings.at("forward").rules.front().settings.at("num_threads"), 2);
  EXPECT_EQ((*loaded)->hone_version, "0.1.0");
  EXPECT_TRUE(store.load("rms_norm", "Another CPU", "fp32")->has_value());
  EXPECT_FALSE(store.load("rms_norm", "Test CPU", "bf16")->has_value());
}

TEST_F(Store, ADamagedFileIsAnErrorWithItsPathAndRemedy) {
  const std::string whole = *store.text_with("rms_norm", entry(2));
  for (const std::string& text : {std::string("{"), std::string("[]"), std::string("{\"schema\": \"hone.settings/0\"}"),
                                  whole.substr(0, whole.size() / 2)}) {
    ASSERT_TRUE(files.write_atomically(store.path("rms_norm"), text));
    const auto loaded = store.load("rms_norm", "Test CPU", "fp32");
    ASSERT_FALSE(loaded) << text;
    EXPECT_EQ(loaded.error().kind, base::ErrorKind::preflight);
    EXPECT_THAT(loaded.error().where, StartsWith("settings/rms_norm.json"));
    EXPECT_THAT(loaded.error().remedy, HasSubstr("remove the file"));
  }
  ASSERT_TRUE(files.write_atomically(store.path("swiglu"), whole));
  EXPECT_EQ(store.load("swiglu", "Test CPU", "fp32").error().found, "those of 'rms_norm'");
  std::string broken = whole;
  broken.replace(broken.find("\"num_threads\": 2"), 16, "\"num_threads\": {}");
  ASSERT_TRUE(files.write_atomically(store.path("rms_norm"), broken));
  EXPECT_THAT(store.load("rms_norm", "Test CPU", "fp32").error().where,
              HasSubstr("field entries[0].variant.settings.forward.rules[0].settings.num_threads"));
}

}  // namespace
}  // namespace hone::repository::native

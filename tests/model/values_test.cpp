#include "model/values.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "model/device_info.hpp"
#include "model/variant.hpp"
#include "model/version.hpp"

namespace hone::model {
namespace {

template <class Enum>
void expect_words(std::initializer_list<std::pair<Enum, const char*>> words) {
  std::set<std::string> seen;
  for (const auto& [value, text] : words) {
    EXPECT_STREQ(word(value), text);
    EXPECT_EQ(parse<Enum>(text), value);
    EXPECT_TRUE(seen.insert(text).second) << text;
  }
  EXPECT_EQ(parse<Enum>(""), std::nullopt);
  EXPECT_EQ(parse<Enum>("Memory-Bound "), std::nullopt);
}

TEST(Values, AreWrittenAndReadAsTheContractsWords) {
  expect_words<Verdict>({{Verdict::faster, "faster"},
                         {Verdict::slower, "slower"},
                         {Verdict::same, "same"},
                         {Verdict::unresolved, "unresolved"}});
  expect_words<BottleneckClass>({{BottleneckClass::memory_bound, "memory-bound"},
                                 {BottleneckClass::compute_bound, "compute-bound"},
                                 {BottleneckClass::balanced, "balanced"},
                                 {BottleneckClass::latency_bound, "latency-bound"},
                                 {BottleneckClass::host_bound, "host-bound"}});
  expect_words<Source>({{Source::measured, "measured"},
                        {Source::counters, "counters"},
                        {Source::source_code, "source-code"},
                        {Source::recorded, "recorded"}});
  expect_words<HowSet>({{HowSet::settings_function, "settings function"},
                        {HowSet::hard_coded, "hard-coded"},
                        {HowSet::autotune, "autotune"},
                        {HowSet::default_value, "default"},
                        {HowSet::passed_by_caller, "passed by caller"},
                        {HowSet::settings_file, "settings file"}});
  expect_words<Liveness>({{Liveness::live, "live"}, {Liveness::dead, "dead"}, {Liveness::unknown, "unknown"}});
  expect_words<VariantStatus>({{VariantStatus::accepted, "accepted"},
                               {VariantStatus::rejected, "rejected"},
                               {VariantStatus::mixed, "mixed"},
                               {VariantStatus::failed_to_compile, "failed-to-compile"},
                               {VariantStatus::failed_gate, "failed-gate"},
                               {VariantStatus::same_binary, "same-binary"},
                               {VariantStatus::over_floor, "over-floor"}});
  expect_words<Confidence>({{Confidence::low, "low"}, {Confidence::medium, "medium"}, {Confidence::high, "high"}});
}

TEST(DeviceInfo, KnowsItsLastLevelCacheAndItsCeilings) {
  DeviceInfo device;
  EXPECT_EQ(device.last_level_cache_bytes(), 0);
  device.caches = {{3, 32 << 20, 8}, {1, 32 << 10, 1}, {2, 1 << 20, 1}};
  EXPECT_EQ(device.last_level_cache_bytes(), 32 << 20);
  device.ceilings.by_name["copy_bytes_per_s"] = {1e9, 2e9, 3e9, 5};
  EXPECT_EQ(device.ceilings.p50("copy_bytes_per_s"), 2e9);
  EXPECT_EQ(device.ceilings.p50("fma_flops_per_s"), 0);
}

TEST(SettingsFunction, TakesTheRuleWithTheLargestBeginningNotAboveTheSize) {
  const SettingsFunction function{"hidden_size", {{0, {{"rows", 8}}, ""}, {4096, {{"rows", 2}}, ""}}, 0, ""};
  EXPECT_EQ(function.at(1).at("rows"), 8);
  EXPECT_EQ(function.at(4095).at("rows"), 8);
  EXPECT_EQ(function.at(4096).at("rows"), 2);
  EXPECT_EQ(function.at(1 << 30).at("rows"), 2);
  EXPECT_EQ(function.at(-1).at("rows"), 8);
}

TEST(Version, IsThatOfTheProjectAndTheCheckout) {
  EXPECT_GE(std::string(hone_version()).size(), 5u);
  EXPECT_FALSE(std::string(hone_commit()).empty());
}

}  // namespace
}  // namespace hone::model

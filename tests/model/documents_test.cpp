// The documents as JSON: exact round trips, the contract's names, and refusal of what is not one of ours.
#include <gtest/gtest.h>

#include <limits>

#include "base/text.hpp"
#include "model/json_value.hpp"
#include "tests/support/sample_documents.hpp"

namespace hone::model {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

base::Error profile_refusal(const std::string& json) {
  const auto result = parse_profile(json, "optimization/rms_norm/profile.json");
  EXPECT_FALSE(result.ok());
  return result.ok() ? base::Error{} : result.error();
}

TEST(ProfileJson, ReadsBackExactly) {
  for (const Profile& profile : {test::sample_profile(), test::sample_gpu_profile()}) {
    const auto back = parse_profile(to_json(profile), "profile.json");
    ASSERT_TRUE(back.ok()) << base::describe(back.error());
    EXPECT_EQ(*back, profile);
    EXPECT_EQ(to_json(*back), to_json(profile));
  }
}

TEST(ComparisonJson, ReadsBackExactly) {
  const ComparisonDocument comparison = test::sample_comparison();
  const auto back = parse_comparison(to_json(comparison), "comparison.json");
  ASSERT_TRUE(back.ok()) << base::describe(back.error());
  EXPECT_EQ(*back, comparison);
}

TEST(VariantJson, ReadsBackExactly) {
  const Variant variant = test::sample_variant();
  const auto back = parse_variant(to_json(variant), "rms_norm_v3_settings.json");
  ASSERT_TRUE(back.ok()) << base::describe(back.error());
  EXPECT_EQ(*back, variant);
}

void expect_members(const Json* value, const std::string& names, const std::string& of) {
  ASSERT_NE(value, nullptr) << of;
  for (const std::string& name : base::split(names, ' ')) EXPECT_NE(value->find(name), nullptr) << of << "." << name;
}

const Json& first(const Json& object, const std::string& name) { return object.find(name)->items()->front(); }

TEST(ProfileJson, HasEveryNameOfTheContract) {
  const auto tree = parse_json(to_json(test::sample_gpu_profile()), "", "");
  ASSERT_TRUE(tree.ok());
  const Json& p = *tree;
  expect_members(
      &p,
      "schema kernel created hone command identity device baseline headroom counters bottleneck configuration "
      "opportunities strategy_order estimated_iterations",
      "profile");
  EXPECT_EQ(*p.find("schema")->text(), "hone.profile/1");
  expect_members(p.find("hone"), "version commit", "hone");
  expect_members(p.find("identity"), "kernel repository source_file benchmark_script test_file tier tier_description",
                 "identity");
  expect_members(p.find("device"),
                 "name kind architecture compute_capability sm_count total_memory_bytes target_gpu "
                 "hardware_match ceilings",
                 "device");
  expect_members(p.find("device")->find("ceilings"),
                 "copy_bytes_per_s read_bytes_per_s write_bytes_per_s fma_flops_per_s source spread", "ceilings");
  EXPECT_TRUE(p.find("device")->find("ceilings")->find("read_bytes_per_s")->is_null());
  EXPECT_EQ(p.find("device")->find("ceilings")->find("copy_bytes_per_s")->number(), 4.27e12);
  const Json& baseline = *p.find("baseline");
  expect_members(&baseline, "x_name rows observations noise_floor", "baseline");
  expect_members(&first(baseline, "rows"), "x_value mode provider metric unit p20 p50 p80 samples source", "row");
  EXPECT_TRUE(first(baseline, "rows").find("x_value")->is_number());
  expect_members(baseline.find("observations"), "slowest_mode slowest_mode_reason largest_x_value scaling_trend",
                 "observations");
  expect_members(&first(baseline, "noise_floor"), "x_value mode smallest_effect_pct", "noise_floor");
  expect_members(&first(p, "headroom"), "x_value mode floor_ms measured_ms ratio", "headroom");
  expect_members(p.find("counters"), "status reason kernels", "counters");
  expect_members(
      &first(*p.find("counters"), "kernels"),
      "name grid block occupancy_pct compute_throughput_pct memory_throughput_pct l1_hit_rate_pct l2_hit_rate_pct "
      "registers_per_thread spills duration_us stalls",
      "kernel");
  EXPECT_TRUE((*p.find("counters")->find("kernels")->items())[1].find("spills")->is_null());
  expect_members(&first(first(*p.find("counters"), "kernels"), "stalls"), "reason pct", "stall");
  expect_members(p.find("bottleneck"), "class plain_rule_class confidence evidence reasoning by_pass", "bottleneck");
  expect_members(&first(*p.find("bottleneck"), "evidence"), "signal observation supports source", "evidence");
  expect_members(&first(*p.find("bottleneck"), "by_pass"), "mode class", "by_pass");
  const Json& configuration = *p.find("configuration");
  expect_members(&first(configuration, "parameters"), "name value how_set notes live", "parameter");
  expect_members(configuration.find("memory_access"), "stride_pattern cache_modifiers in_place saved_vs_recomputed",
                 "memory");
  expect_members(configuration.find("compute"), "precision_ops casting_mode algorithm constexpr_parameters", "compute");
  expect_members(&first(p, "opportunities"), "title detail locations strategy", "opportunity");
  expect_members(&first(first(p, "opportunities"), "locations"), "file line", "location");
  expect_members(&first(p, "strategy_order"), "strategy title reason", "strategy");
  expect_members(p.find("estimated_iterations"), "variants rationale", "iterations");
}

TEST(ComparisonJson, HasEveryNameOfTheContract) {
  const auto tree = parse_json(to_json(test::sample_comparison()), "", "");
  ASSERT_TRUE(tree.ok());
  expect_members(&*tree, "schema variants winner stop_reason evaluations", "comparison");
  const Json& variant = first(*tree, "variants");
  expect_members(&variant, "id strategy settings status guardrails results notes_file", "variant");
  expect_members(&first(variant, "results"), "x_value mode metric ratio ci_low ci_high verdict", "result");
  expect_members(tree->find("evaluations"), "planned distinct_binaries timed", "evaluations");
}

TEST(ReportJson, HoldsTheProfileAndTheComparisonItRestsOn) {
  const auto tree = parse_json(to_json(test::sample_report_applied()), "", "");
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(*tree->find("schema")->text(), "hone.report/1");
  EXPECT_EQ(*tree->find("profile")->find("schema")->text(), "hone.profile/1");
  EXPECT_EQ(*tree->find("comparison")->find("winner")->text(), "v3");
  EXPECT_EQ(*tree->find("applied")->boolean(), true);
}

TEST(ProfileJson, SizesAreNumbersAndNamesAreTexts) {
  Profile profile = test::sample_profile();
  for (const char* x_value : {"llama_3_8b", "007", "1e3", "-0", "0.5", "12345678901234567890123", " 7", ""}) {
    profile.baseline.rows[0].x_value = x_value;
    const auto back = parse_profile(to_json(profile), "profile.json");
    // The renamed row's noise floor and headroom still find their size in another provider's row.
    ASSERT_TRUE(back.ok()) << base::describe(back.error());
    EXPECT_EQ(back->baseline.rows[0].x_value, x_value);
  }
}

TEST(ParseProfile, RefusesEveryTruncation) {
  const std::string json = to_json(test::sample_profile());
  for (std::size_t length = 0; length + 3 < json.size(); length += 211) {
    const base::Error error = profile_refusal(json.substr(0, length));
    EXPECT_EQ(error.kind, base::ErrorKind::preflight);
    EXPECT_EQ(error.remedy, "run 'hone profile KERNEL' again");
    EXPECT_EQ(error.found, length == 0 ? "an empty file" : "no valid JSON at byte " + std::to_string(length + 1));
  }
}

TEST(ParseProfile, RefusesAnotherSchemaBeforeAnythingElse) {
  const base::Error error = profile_refusal(R"({"schema": "hone.profile/0", "kernel": 3})");
  EXPECT_EQ(error.expected, "hone.profile/1");
  EXPECT_EQ(error.found, "'hone.profile/0'");
  EXPECT_EQ(error.where, "optimization/rms_norm/profile.json, field schema");
  EXPECT_EQ(profile_refusal("{}").found, "no such field");
  EXPECT_EQ(profile_refusal("[]").expected, "an object");
}

struct Edit {
  const char* from;
  const char* to;
  const char* field;
  const char* found;
};

class HandEdited : public testing::TestWithParam<Edit> {};

TEST_P(HandEdited, IsRefusedWithTheFieldAndWhatItHolds) {
  const Edit& edit = GetParam();
  const base::Error error = profile_refusal(replaced(to_json(test::sample_profile()), edit.from, edit.to));
  EXPECT_EQ(error.where, std::string("optimization/rms_norm/profile.json, field ") + edit.field);
  EXPECT_EQ(error.found, edit.found);
  EXPECT_FALSE(error.expected.empty());
  EXPECT_EQ(error.remedy, "run 'hone profile rms_norm' again");
}

INSTANTIATE_TEST_SUITE_P(
    ParseProfile, HandEdited,
    testing::Values(
        Edit{"\"class\": \"memory-bound\"", "\"class\": \"memory bound\"", "bottleneck.class",
             "a text \"memory bound\""},
        Edit{"\"confidence\": \"high\"", "\"confidence\": 3", "bottleneck.confidence", "the number 3"},
        Edit{"\"p50\": 4.", "\"p50\": -4.", "baseline.rows[0].p50", "-4.1081"},
        Edit{"\"sm_count\": 2", "\"sm_count\": 2.5", "device.sm_count", "the number 2.5"},
        Edit{"\"sm_count\": 2", "\"sm_count\": -1", "device.sm_count", "-1"},
        Edit{"\"hardware_match\": true", "\"hardware_match\": \"yes\"", "device.hardware_match", "a text \"yes\""},
        Edit{"\"x_name\": \"hidden_size\"", "\"x_nam\": \"hidden_size\"", "baseline.x_name", "no such field"},
        Edit{"\"tier\": 2", "\"tier\": 7", "identity.tier", "7"},
        Edit{"\"command\": \"", "\"command\": null, \"was\": \"", "command", "null"},
        Edit{"\"copy_bytes_per_s\": 21400000000", "\"copy_bytes_per_s\": 99400000000",
             "device.ceilings.copy_bytes_per_s", "9.94e+10"},
        Edit{"\"status\": \"unavailable\"", "\"status\": \"maybe\"", "counters.status", "'maybe'"},
        Edit{"\"how_set\": \"hard-coded\"", "\"how_set\": \"guessed\"", "configuration.parameters[3].how_set",
             "a text \"guessed\""},
        Edit{"\"kernel\": \"rms_norm\",\n  \"created\"",
             "\"kernel\": \"rms_norm\",\n  \"kernl\": [[[]]],\n  \"creatd\"", "created", "no such field"}),
    [](const auto& one) { return "Case" + std::to_string(one.index); });

TEST(ParseProfile, RefusesPartsThatContradictEachOther) {
  Profile profile = test::sample_profile();
  profile.baseline.noise_floor[1].x_value = "4095";
  EXPECT_EQ(profile_refusal(to_json(profile)).where,
            "optimization/rms_norm/profile.json, field baseline.noise_floor[1].x_value");

  profile = test::sample_profile();
  profile.headroom[2].mode = "sideways";
  EXPECT_EQ(profile_refusal(to_json(profile)).found, "'4096', 'sideways'");

  profile = test::sample_profile();
  profile.headroom[2].ratio *= 1.2;
  EXPECT_EQ(profile_refusal(to_json(profile)).where, "optimization/rms_norm/profile.json, field headroom[2].ratio");

  profile = test::sample_profile();
  profile.bottleneck.evidence.clear();
  EXPECT_EQ(profile_refusal(to_json(profile)).expected, "at least one row: a class without evidence is impossible");

  profile = test::sample_profile();
  profile.baseline.rows[3].p50 = std::numeric_limits<double>::quiet_NaN();
  const base::Error not_finite = profile_refusal(to_json(profile));
  EXPECT_EQ(not_finite.where, "optimization/rms_norm/profile.json, field baseline.rows[3].p50");
  EXPECT_EQ(not_finite.found, "null");

  profile = test::sample_profile();
  profile.identity.kernel = "swiglu";
  EXPECT_EQ(profile_refusal(to_json(profile)).found, "'swiglu'");

  profile = test::sample_profile();
  profile.baseline.rows.clear();
  EXPECT_EQ(profile_refusal(to_json(profile)).where,
            "optimization/rms_norm/profile.json, field baseline.noise_floor[0].x_value");
}

TEST(ParseProfile, RefusesACeilingUnderTheNameOfAnotherField) {
  Profile profile = test::sample_profile();
  profile.device.ceilings.effective_last_level_cache_bytes = 5;
  const std::string spread = "\"effective_last_level_cache_bytes\": {\"p20\": 5, \"p50\": 5, \"p80\": 5}, ";
  EXPECT_EQ(profile_refusal(replaced(to_json(profile), "\"spread\": {", "\"spread\": {" + spread)).found,
            "'effective_last_level_cache_bytes'");
}

// Of a kernel that can not be run here and has no records elsewhere: what a profile writes can be read back.
TEST(ParseProfile, TakesAProfileFromSourceWithoutARow) {
  Profile profile = test::sample_profile();
  profile.baseline.rows.clear(), profile.baseline.noise_floor.clear(), profile.headroom.clear();
  const auto back = parse_profile(to_json(profile), "profile.json");
  ASSERT_TRUE(back.ok()) << base::describe(back.error());
  EXPECT_EQ(*back, profile);
}

TEST(ParseProfile, TakesMembersItDoesNotKnowAndDoesWithoutOptionalOnes) {
  const std::string json = to_json(test::sample_profile());
  EXPECT_TRUE(parse_profile(replaced(json, "\"kernel\"", "\"future\": {\"a\": [1, {}]}, \"kernel\""), "p").ok());
  EXPECT_TRUE(parse_profile(replaced(json, "\"refutation\"", "\"renamed\""), "p").ok());
}

TEST(ParseComparison, RefusesAWinnerThatDoesNotStandInIt) {
  ComparisonDocument comparison = test::sample_comparison();
  comparison.winner = "v9";
  const auto result = parse_comparison(to_json(comparison), "comparison.json");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().where, "comparison.json, field winner");
  comparison.winner = "v0";
  EXPECT_TRUE(parse_comparison(to_json(comparison), "comparison.json").ok());
  comparison.variants[1].id = "v1";
  EXPECT_FALSE(parse_comparison(to_json(comparison), "comparison.json").ok());
}

TEST(ParseComparison, RefusesIntervalsThatAreNone) {
  ComparisonDocument comparison = test::sample_comparison();
  comparison.variants[0].results[0].ci_low = 2;
  const auto result = parse_comparison(to_json(comparison), "comparison.json");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().where, "comparison.json, field variants[0].results[0].ci_low");
}

TEST(ParseVariant, RefusesRulesThatLeaveASizeWithoutSettings) {
  Variant variant = test::sample_variant();
  variant.settings["forward"].rules[0].from_x = 512;
  EXPECT_EQ(parse_variant(to_json(variant), "v").error().where, "v, field settings.forward.rules[0].from_x");
  variant.settings["forward"].rules.clear();
  EXPECT_EQ(parse_variant(to_json(variant), "v").error().where, "v, field settings.forward.rules");
  variant = test::sample_variant();
  variant.settings["forward"].rules[1].from_x = 0;
  EXPECT_EQ(parse_variant(to_json(variant), "v").error().expected, "rules in ascending order");
  variant = test::sample_variant();
  variant.id.clear();
  EXPECT_FALSE(parse_variant(to_json(variant), "v").ok());
}

}  // namespace
}  // namespace hone::model

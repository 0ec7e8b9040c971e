// hone compare A B: names, files, and what it refuses.
#include "stages/compare/compare.hpp"

#include <gmock/gmock.h>

#include "tests/stages/stage_fixture.hpp"

namespace hone::test {
namespace {

using ::testing::HasSubstr;

class Compare : public StageTest {
 protected:
  Compare() { use_strategies({}); }
  base::Result<stages::CompareOutcome> compare(const std::string& a, const std::string& b) {
    return stages::compare(stages::Kernel::of(session), profile, {a, b, {}, 0, "hone compare", {}}, workspace(), ports);
  }
  void keep(const std::string& id, const std::string& text, const std::string& path) {
    model::Variant variant = session.original();
    variant.id = id;
    variant.edits = {{"rms_norm.hpp", text}};
    ASSERT_TRUE(files.write_atomically(path, model::to_json(variant)));
  }
};

TEST_F(Compare, GivesAVerdictAtEveryCell) {
  kernel.sources["slow\n"] = {1.2, 1.0};
  keep("v3", "slow\n", "optimization/rms_norm/rms_norm_v3_settings.json");
  const auto outcome = compare("v0", "v3");
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  ASSERT_EQ(outcome->cells.size(), 9u);
  for (const auto& c : outcome->cells) {
    EXPECT_EQ(c.comparison.verdict, c.cell.mode == "backward" ? model::Verdict::same : model::Verdict::slower)
        << c.cell.mode;
  }
  EXPECT_THAT(stages::to_json(*outcome), HasSubstr("\"schema\": \"hone.compare/1\""));
  EXPECT_THAT(stages::to_json(*outcome), HasSubstr("\"verdict\": \"slower\""));
}

// v0 and everything that variants leave alone come from what is in force.
TEST_F(Compare, RefusesASourceThatIsNotTheOneOfTheProfile) {
  kernel.source = "changed since\n";
  const auto outcome = compare("v0", "v0");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, base::ErrorKind::preflight);
  EXPECT_THAT(outcome.error().found, HasSubstr(profile.identity.source_hash));
  EXPECT_EQ(session.samples, 0);
}

TEST_F(Compare, HoldsTimesAgainstTheProfilesFloorsAndLooksAtTheCeilingsAgainBeforeItRefuses) {
  kernel.sources["fast\n"] = {0.5, 0.5};
  keep("v3", "fast\n", "optimization/rms_norm/rms_norm_v3_settings.json");
  EXPECT_THAT(compare("v0", "v3").error().found, HasSubstr("faster than the physical bound"));
  EXPECT_TRUE(happened("ceilings again"));
  session.floor_of_second_look = 0.5;
  EXPECT_TRUE(compare("v0", "v3"));
}

TEST_F(Compare, TakesAVariantFile) {
  keep("mine", "other\n", "elsewhere/mine.json");
  EXPECT_TRUE(compare("elsewhere/mine.json", "v0"));
}

// A text of the main source is compared with whatever else is in force: a file of any name, or a text that has none.
TEST_F(Compare, TakesSourceTextsFromFilesAndByName) {
  kernel.sources["slow\n"] = {1.2, 1.2};
  ASSERT_TRUE(files.write_atomically("elsewhere/rms_norm.hpp", "slow\n"));
  const auto of_file = compare("v0", "elsewhere/rms_norm.hpp");
  ASSERT_TRUE(of_file) << base::describe(of_file.error());
  EXPECT_EQ(of_file->cells.front().comparison.verdict, model::Verdict::slower);
  stages::CompareRequest request{"abc123", "v0", {}, 0, "hone compare", {}};
  request.texts = {{"abc123", "slow\n"}};
  const auto of_text = stages::compare(stages::Kernel::of(session), profile, request, workspace(), ports);
  ASSERT_TRUE(of_text) << base::describe(of_text.error());
  EXPECT_EQ(of_text->cells.front().comparison.verdict, model::Verdict::faster);
  ASSERT_TRUE(files.write_atomically("elsewhere/bad.hpp", "forbidden\n"));
  EXPECT_EQ(compare("v0", "elsewhere/bad.hpp").error().kind, base::ErrorKind::usage);
}

TEST_F(Compare, RefusesWhatDoesNotExistCompileOrPassItsGate) {
  EXPECT_EQ(compare("v0", "v9").error().kind, base::ErrorKind::usage);
  EXPECT_EQ(compare("v0", "nowhere.json").error().kind, base::ErrorKind::usage);
  kernel.sources["broken\n"] = {1, 1, 1, false};
  keep("v3", "broken\n", "optimization/rms_norm/rms_norm_v3_settings.json");
  EXPECT_EQ(compare("v0", "v3").error().kind, base::ErrorKind::gate);
  kernel.sources["wrong\n"] = {1, 1, 1, true, true, false, "y[0]: nan", ""};
  keep("v4", "wrong\n", "optimization/rms_norm/rms_norm_v4_settings.json");
  EXPECT_EQ(compare("v0", "v4").error().found, "y[0]: nan");
  EXPECT_EQ(session.samples, 0);
}

}  // namespace
}  // namespace hone::test

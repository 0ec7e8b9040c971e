// Original, optimized and providers measured anew: a description, builds and times are all that it takes.
#include "stages/finalize/three_way.hpp"

#include <gmock/gmock.h>

#include "tests/stages/stage_fixture.hpp"

namespace hone::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

struct Measured : FakeDescribed, FakeBuildable, FakeTimed {};

class ThreeWayTest : public StepTest {
 protected:
  ThreeWayTest() {
    kernel.kernel.sources["changed\n"] = {0.8, 0.8};
    optimized.id = "v1", optimized.edits = {{"rms_norm.hpp", "changed\n"}};
    profile = profile_of(kernel, kernel, {});
    profile.request.scope = "general";
  }
  stages::ThreeWay three_way() {
    const stages::FinalizeOptions o;
    auto measured = stages::measure_three_way(kernel, kernel, kernel, profile, kernel.original(), optimized,
                                              {o.table, o.verdict, o.seed, "hone finalize rms_norm"}, ports);
    EXPECT_TRUE(measured) << base::describe(measured.error());
    return measured ? *measured : stages::ThreeWay{};
  }
  Measured kernel;
  model::Variant optimized = kernel.original();
};

TEST_F(ThreeWayTest, EveryCellHasItsVerdictAndEveryProviderItsRow) {
  const auto measured = three_way();
  EXPECT_EQ(measured.speedups.size(), 9u);
  for (const auto& row : measured.speedups) EXPECT_EQ(row.verdict, model::Verdict::faster) << row.mode;
  EXPECT_NEAR(measured.gain.ratio, 0.8, 0.01);
  std::map<std::string, int> rows;
  for (const auto& row : measured.rows) ++rows[row.provider];
  EXPECT_EQ(rows, (std::map<std::string, int>{{"eager", 12}, {"optimized", 12}, {"original", 12}}));
}

TEST_F(ThreeWayTest, ASlowBaselineIsNotTimedAgain) {
  kernel.eager_factor = 100;
  for (const std::string& x : kernel.sizes())
    profile.baseline.rows.push_back({x, "full", "eager", "speed", "ms", 60, 64, 70, 3, model::Source::measured});
  const auto measured = three_way();
  EXPECT_THAT(kernel.kernel.events, Not(Contains("sample full 1024 eager")));
  EXPECT_THAT(kernel.kernel.events, Contains("sample forward 1024 eager")) << "of which the profile has no row";
  int recorded = 0;
  for (const auto& row : measured.rows) {
    const bool slow = row.provider == "eager" && row.mode == "full" && row.metric == "speed";
    EXPECT_EQ(row.source == model::Source::recorded, slow);
    if (row.source != model::Source::recorded) continue;
    ++recorded;
    EXPECT_EQ(row.value.p50, 64);
    EXPECT_EQ(row.value.samples, 3);
  }
  EXPECT_EQ(recorded, 3);
}

TEST_F(ThreeWayTest, ARowThatDecidesNothingMayBeMissing) {
  for (const std::string call :
       {"subject eager", "sample eager", "memory eager", "memory v1", "memory v0", "parts v0"}) {
    kernel.kernel.fails = [&](const std::string& asked) { return asked == call; };
    const auto measured = three_way();
    EXPECT_EQ(measured.gain.cells, 6) << call;
    EXPECT_THAT(measured.warnings, Contains(HasSubstr("Not measured: "))) << call;
  }
}

// Cells with the machine code of the original can neither confirm nor blur a gain.
TEST_F(ThreeWayTest, OnlyCellsWithOtherMachineCodeDecide) {
  kernel.time_ms = [](const std::string&, std::int64_t, const model::Settings& s) { return s.empty() ? 1.0 : 0.8; };
  optimized = kernel.original();
  optimized.id = "v1", optimized.settings["forward"].rules = {{0, {{"ROWS", 4}}, ""}};
  const auto measured = three_way();
  EXPECT_EQ(measured.gain.cells, 3);
  for (const auto& row : measured.speedups) {
    EXPECT_EQ(row.mode == "backward", row.verdict == model::Verdict::same && row.ci_high == 1) << row.mode;
    EXPECT_GT(row.baseline.p50, 0);
  }
}

}  // namespace
}  // namespace hone::test

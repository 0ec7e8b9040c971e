// Guardrails judge intervals, never points; and what follows from them.
#include "stages/trial/guardrails.hpp"

#include <gmock/gmock.h>

namespace hone::test {
namespace {

using namespace stages;
using model::VariantStatus;
using model::Verdict;
using ::testing::HasSubstr;

CellResult cell(const std::string& mode, double low, double high, double noise = 0) {
  CellResult r;
  r.cell = {"4096", mode};
  r.comparison.ratio = (low + high) / 2, r.comparison.ci_low = low, r.comparison.ci_high = high;
  r.comparison.verdict = high < 1 ? Verdict::faster : low > 1 ? Verdict::slower : Verdict::unresolved;
  r.noise_floor_pct = noise;
  return r;
}

const Aim kBoth{"full", {"forward", "backward"}, false};

std::string status(const std::vector<CellResult>& results, std::size_t index, const Aim& aim = kBoth) {
  return check_guardrails(aim, results, {})[index].status;
}

TEST(Guardrails, TheTargetMetricMayNotGetWorse) {
  EXPECT_EQ(status({cell("full", 1.02, 1.04)}, 0), "fail");
  EXPECT_EQ(status({cell("full", 0.98, 1.005)}, 0), "pass");
  EXPECT_EQ(status({cell("full", 0.98, 1.05)}, 0), "unresolved") << "an interval over the bound is no verdict";
}

TEST(Guardrails, APassMayLoseTenPercentForTheOthersGainAndFiveWithoutOne) {
  const auto gain = cell("forward", 0.80, 0.82);
  EXPECT_EQ(status({gain, cell("backward", 1.06, 1.09)}, 1), "pass");
  EXPECT_EQ(status({gain, cell("backward", 1.11, 1.13)}, 1), "fail");
  EXPECT_EQ(status({cell("forward", 0.99, 1.01), cell("backward", 1.06, 1.09)}, 1), "fail");
}

TEST(Guardrails, APassOutsideTheScopeMayLoseFivePercent) {
  const Aim forward{"forward", {"forward"}, false};
  EXPECT_EQ(status({cell("forward", 0.8, 0.82), cell("backward", 1.06, 1.08)}, 1, forward), "fail");
  EXPECT_EQ(status({cell("forward", 0.8, 0.82), cell("backward", 1.01, 1.04)}, 1, forward), "pass");
}

TEST(Guardrails, SayWhenTheNoiseFloorIsAboveTheRule) {
  const Aim forward{"forward", {"forward"}, false};
  EXPECT_THAT(check_guardrails(forward, {cell("backward", 0.99, 1.03, 7)}, {})[0].detail,
              HasSubstr("noise floor here, 7.0 %, is above"));
}

TEST(Guardrails, WhatCouldNotBeMeasuredIsUnresolved) {
  CellResult unknown;
  unknown.cell = {"4096", "full"};
  unknown.comparison.reason = "the machine is too busy";
  const auto checks = check_guardrails(kBoth, {unknown}, {});
  EXPECT_EQ(checks[0].status, "unresolved");
  EXPECT_THAT(checks[0].detail, HasSubstr("too busy"));
}

TEST(Guardrails, MemoryMayGrowFivePercent) {
  EXPECT_EQ(check_guardrails(kBoth, {}, {{"4096", 100, 104}})[0].status, "pass");
  EXPECT_EQ(check_guardrails(kBoth, {}, {{"4096", 100, 106}})[0].status, "fail");
  EXPECT_EQ(check_guardrails(kBoth, {}, {{"4096", 0, 1}})[0].status, "fail");
  EXPECT_EQ(check_guardrails(kBoth, {}, {{"4096", 0, 0}})[0].status, "pass");
}

TEST(Ruling, AcceptsAGainBeyondDoubt) {
  EXPECT_EQ(rule(kBoth, {cell("forward", 0.9, 0.92), cell("backward", 0.99, 1.01)}, {}, {}).status,
            VariantStatus::accepted);
}

TEST(Ruling, ATieIsRejected) {
  const auto ruling = rule(kBoth, {cell("forward", 0.98, 1.01), cell("backward", 0.99, 1.01)}, {}, {});
  EXPECT_EQ(ruling.status, VariantStatus::rejected);
  EXPECT_THAT(ruling.reason, HasSubstr("incumbent"));
}

TEST(Ruling, ManySmallHintsWithoutOneVerdictAreNoGain) {
  std::vector<CellResult> cells(20, cell("forward", 0.985, 1.001));
  EXPECT_LT(combined(std::vector<model::Comparison>(20, cells[0].comparison)).ci_high, 1);
  EXPECT_EQ(rule(kBoth, cells, {}, {}).status, VariantStatus::rejected);
}

TEST(Ruling, FasterInPartAndSlowerInPartIsMixed) {
  EXPECT_EQ(rule(kBoth, {cell("forward", 0.9, 0.92), cell("backward", 1.11, 1.13)}, {}, {}).status,
            VariantStatus::mixed);
}

TEST(Ruling, AFailedMemoryCheckRejectsHoweverFast) {
  const auto checks = check_guardrails(kBoth, {cell("forward", 0.5, 0.52)}, {{"4096", 100, 200}});
  EXPECT_EQ(rule(kBoth, {cell("forward", 0.5, 0.52)}, checks, {}).status, VariantStatus::rejected);
}

TEST(Combined, IsTheGeometricMeanWithAnIntervalThatShrinks) {
  const Gain one = combined({cell("forward", 0.9, 1.0).comparison});
  const Gain four = combined(std::vector<model::Comparison>(4, cell("forward", 0.9, 1.0).comparison));
  EXPECT_NEAR(one.ratio, 0.95, 1e-9);
  EXPECT_NEAR(four.ratio, 0.95, 1e-9);
  EXPECT_NEAR(four.ci_high / four.ratio, std::sqrt(one.ci_high / one.ratio), 1e-9);
  EXPECT_EQ(combined({model::Comparison{}}).cells, 0) << "what was not measured has no weight";
}

}  // namespace
}  // namespace hone::test

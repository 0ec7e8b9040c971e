// Shares of a ceiling from pairs: right where memory's speed moves, cheap, and without an effect where there is no ceiling.
#include "measure/paired_subject.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "measure/protocol.hpp"
#include "tests/measure/scripted_subject.hpp"

namespace hone::measure {
namespace {

using ::testing::HasSubstr;

constexpr double own_ns = 4e6, ceiling_ns = 3e6;

class PairedTest : public ::testing::Test {
 protected:
  ScriptedSubject scripted(const char* name, double ns) {
    return {name, clock_,
            [this, ns](int) { return run_of(ns / speed() * std::exp(0.01 * std::normal_distribution<>()(random_))); }};
  }
  // Of memory now, as a share of what it was when the ceilings were measured: a wave between 0.45 and 1.2.
  double speed() {
    if (!moves_) return 1;
    return 0.825 + 0.375 * std::sin(2e-9 * static_cast<double>(clock_.now_ns()));
  }
  base::ManualClock clock_;
  std::mt19937 random_{11};
  bool moves_ = true;
};

TEST_F(PairedTest, TheShareHoldsWhileTheSpeedOfMemoryMoves) {
  auto kernel = scripted("kernel", own_ns), eager = scripted("eager", 5 * own_ns),
       ceiling = scripted("copy", ceiling_ns);
  PairedSubject paired(kernel, &ceiling, clock_);
  Budget budget;
  budget.min_samples = 30, budget.max_samples = 30;
  auto timings = interleave({&paired, &eager}, clock_, budget);
  ASSERT_TRUE(timings) << base::describe(timings.error());
  const double floor_ns = 0.8 * own_ns;  // 80 % at the ceilings
  const auto share = share_of_ceiling(paired.pairs(), floor_ns, ceiling_ns);
  ASSERT_TRUE(share);
  EXPECT_NEAR(share->share_pct, 80, 2);
  EXPECT_LE(share->paired.low_pct, share->share_pct);
  EXPECT_GE(share->paired.high_pct, share->share_pct);
  EXPECT_LT(share->paired.high_pct - share->paired.low_pct, 6);
  EXPECT_GT(share->quickest, 1) << "the device was faster than its ceilings at times";
  const double unpaired = 100 * floor_ns / (1e6 * (*timings)[0].device_ms.p50);
  EXPECT_GT(std::abs(unpaired - 80), 5) << "what the pairs are for";
}

TEST_F(PairedTest, TheCeilingsProgramAddsAtMostItsShareOfTheTime) {
  for (const double longer : {0.1, 1.0, 10.0}) {
    auto kernel = scripted("kernel", own_ns), ceiling = scripted("copy", longer * own_ns);
    PairedSubject paired(kernel, &ceiling, clock_);
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(paired.sample());
    EXPECT_GE(ceiling.runs(), kSurePairs);
    if (ceiling.runs() > kSurePairs + 1) {
      EXPECT_LE(ceiling.runs() * longer, 1.1 * kMostTimeForCeilings * 200) << longer;
    }
    EXPECT_GE(static_cast<int>(paired.pairs().size()), kSurePairs);
  }
}

TEST_F(PairedTest, AllSubjectsOfATableTogetherStayInIt) {
  std::vector<std::unique_ptr<Subject>> owned;
  for (const char* name : {"a", "b", "c"}) owned.push_back(std::make_unique<ScriptedSubject>(scripted(name, own_ns)));
  auto ceiling = scripted("copy", own_ns);
  const auto paired = pair_with(owned, &ceiling, clock_);
  for (int i = 0; i < 300; ++i)
    for (const auto& subject : paired) ASSERT_TRUE(subject->sample());
  EXPECT_LE(ceiling.runs(), 900 * kMostTimeForCeilings + 3 * (kSurePairs + 1));
  EXPECT_GE(ceiling.runs(), 900 * kMostTimeForCeilings / 2);
}

TEST_F(PairedTest, WithoutACeilingTheSubjectIsAsItWas) {
  auto kernel = scripted("kernel", own_ns);
  PairedSubject paired(kernel, nullptr, clock_);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(paired.sample());
  EXPECT_EQ(kernel.runs(), 5);
  EXPECT_TRUE(paired.pairs().empty());
  EXPECT_FALSE(share_of_ceiling(paired.pairs(), own_ns, ceiling_ns));
}

TEST_F(PairedTest, ACeilingThatFailsCostsThePairsAndNotTheTable) {
  auto kernel = scripted("kernel", own_ns);
  ScriptedSubject broken("copy", clock_, [](int) -> base::Result<model::Sample> {
    return base::Error{base::ErrorKind::preflight, "memory for a copy", "none", "cpu", ""};
  });
  PairedSubject paired(kernel, &broken, clock_);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(paired.sample());
  EXPECT_EQ(broken.runs(), 1);
  EXPECT_THAT(paired.problem(), HasSubstr("memory for a copy"));
  ScriptedSubject stopped("copy", clock_, [](int) -> base::Result<model::Sample> {
    return base::Error{base::ErrorKind::interrupted, "a copy", "stopped by the user", "", ""};
  });
  PairedSubject interrupted(kernel, &stopped, clock_);
  EXPECT_FALSE(interrupted.sample());
}

TEST_F(PairedTest, FewPairsGiveTheirRangeAndFewerNone) {
  EXPECT_FALSE(share_of_ceiling({{4e6, 3e6}, {4e6, 3e6}}, 2e6, 3e6));
  const auto three = share_of_ceiling({{4e6, 3e6}, {5e6, 3e6}, {2.5e6, 3e6}}, 2e6, 3e6);
  ASSERT_TRUE(three);
  EXPECT_DOUBLE_EQ(three->share_pct, 50);
  EXPECT_DOUBLE_EQ(three->paired.low_pct, 40);
  EXPECT_DOUBLE_EQ(three->paired.high_pct, 80);
  EXPECT_EQ(three->paired.pairs, 3);
  EXPECT_FALSE(share_of_ceiling({{4e6, 3e6}, {5e6, 3e6}, {2.5e6, 3e6}}, 0, 3e6));
}

// Two busy cores: half of all runs take three times as long, of the kernel and of the ceiling's program apart.
TEST_F(PairedTest, PairsThatOtherLoadDisturbedAreSetAside) {
  std::vector<PairedSubject::Pair> pairs;
  for (int i = 0; i < 12; ++i) pairs.push_back({own_ns * (i % 4 == 1 ? 3 : 1), ceiling_ns * (i % 3 == 1 ? 3.5 : 1)});
  const auto share = share_of_ceiling(pairs, 0.8 * own_ns, ceiling_ns);
  ASSERT_TRUE(share);
  EXPECT_DOUBLE_EQ(share->paired.low_pct, share->paired.high_pct);
  EXPECT_NEAR(share->share_pct, 80, 1e-9);
  EXPECT_EQ(share->paired.pairs, 6);
}

}  // namespace
}  // namespace hone::measure

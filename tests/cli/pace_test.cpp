// The estimate of the rest: from the pace of what was done and what is said to be still to come.
#include "cli/pace.hpp"

#include <gtest/gtest.h>

namespace hone::cli {
namespace {

TEST(Pace, WithoutATimedUnitThereIsNoEstimate) {
  Pace pace;
  pace.expect({{"baseline", 4, 1}, {"noise floor", 4, 2}});
  pace.step("baseline", 0);
  pace.advance(0, 4, 0);
  EXPECT_FALSE(pace.left_s(1));
}

TEST(Pace, CountsTheStepAtWorkAndThoseExpectedAfterIt) {
  Pace pace;
  pace.expect({{"baseline", 4, 1}, {"noise floor", 4, 2}});
  pace.step("baseline", 0);
  pace.advance(0, 4, 0);
  pace.advance(1, 4, 3);
  // Three cells of 3 s, and four of twice that.
  EXPECT_NEAR(*pace.left_s(3), 9 + 24, 1e-9);
  EXPECT_NEAR(*pace.left_s(4), 8 + 24, 1e-9);
  pace.advance(2, 4, 6), pace.advance(3, 4, 9);
  pace.step("noise floor", 12);
  EXPECT_NEAR(*pace.left_s(12), 24, 1e-9) << "before its first unit, from the pace of the step before";
  pace.advance(0, 4, 12), pace.advance(1, 4, 14);
  EXPECT_NEAR(*pace.left_s(14), 6, 1e-9) << "then at its own";
}

TEST(Pace, AStepWithoutUnitsIsOneUnit) {
  Pace pace;
  pace.expect({{"ceilings", 1, 10}, {"baseline", 5, 1}});
  pace.step("ceilings", 0);
  EXPECT_FALSE(pace.left_s(5));
  pace.step("baseline", 20);
  EXPECT_NEAR(*pace.left_s(20), 10, 1e-9);
}

TEST(Pace, WhatTheJournalAnswersAtOnceIsNoPace) {
  Pace pace;
  pace.step("sweep", 0);
  for (int done = 0; done <= 20; ++done) pace.advance(done, 30, 1e-6 * done);
  EXPECT_FALSE(pace.left_s(0.1));
  pace.advance(21, 30, 2);
  EXPECT_NEAR(*pace.left_s(2), 18, 1e-3);
}

TEST(Pace, TheLastUnitsWeighMost) {
  Pace pace;
  pace.step("table", 0);
  double now = 0;
  int done = 0;
  pace.advance(0, 60, now);
  for (; done < 20; ++done) pace.advance(done + 1, 60, now += 1);
  for (; done < 50; ++done) pace.advance(done + 1, 60, now += 4);
  EXPECT_GT(*pace.left_s(now), 35);
  EXPECT_LE(*pace.left_s(now), 40);
}

TEST(Pace, AStepThatNobodyExpectedLeavesTheRestAsItWas) {
  Pace pace;
  pace.expect({{"a", 2, 1}, {"b", 2, 1}});
  pace.step("a", 0);
  pace.advance(0, 2, 0), pace.advance(1, 2, 1);
  pace.step("something else", 2);
  EXPECT_FALSE(pace.left_s(2)) << "how long it takes is not known";
  pace.advance(0, 2, 2), pace.advance(1, 2, 5);
  EXPECT_NEAR(*pace.left_s(5), 3 + 2, 1e-9);
  pace.step("b", 8);
  EXPECT_NEAR(*pace.left_s(8), 2, 1e-9);
}

}  // namespace
}  // namespace hone::cli

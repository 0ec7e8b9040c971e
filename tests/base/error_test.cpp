#include "base/error.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace hone::base {
namespace {

TEST(Error, IsDescribedByItsFourAnswers) {
  const Error error{ErrorKind::usage, "a kernel name", "'rms_nrom'", "command line", "did you mean rms_norm?"};
  EXPECT_EQ(describe(error),
            "hone: usage\n"
            "  expected  a kernel name\n"
            "  found     'rms_nrom'\n"
            "  where     command line\n"
            "  to do     did you mean rms_norm?");
}

TEST(Error, AnswersThatAreEmptyTakeNoLine) {
  EXPECT_EQ(describe({ErrorKind::gate, "one test passed", "none ran", "", ""}),
            "hone: gate failed\n  expected  one test passed\n  found     none ran");
}

TEST(Error, LinesOfAnAnswerStandBelowEachOther) {
  EXPECT_EQ(describe({ErrorKind::gate, "it compiles", "a.cpp:1: one\na.cpp:2: two", "", ""}),
            "hone: gate failed\n  expected  it compiles\n  found     a.cpp:1: one\n            a.cpp:2: two");
}

TEST(Error, KindsAreTheExitCodesOfTheContract) {
  EXPECT_EQ(exit_code(ErrorKind::internal), 1);
  EXPECT_EQ(exit_code(ErrorKind::usage), 2);
  EXPECT_EQ(exit_code(ErrorKind::preflight), 3);
  EXPECT_EQ(exit_code(ErrorKind::untrusted), 4);
  EXPECT_EQ(exit_code(ErrorKind::gate), 5);
  EXPECT_EQ(exit_code(ErrorKind::interrupted), 130);
}

TEST(Result, HoldsAValueOrTheErrorInItsPlace) {
  const Result<int> good = 3;
  const Result<int> bad = Error{ErrorKind::internal, "three", "four", "", ""};
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().found, "four");
  EXPECT_TRUE(Result<void>().ok());
}

TEST(Clock, TheManualOneMovesOnlyWhenTold) {
  ManualClock clock("2026-11-30T00:00:00Z");
  const auto begin = clock.now_ns();
  clock.sleep_ns(5);
  clock.advance_ns(7);
  EXPECT_EQ(clock.now_ns() - begin, 12);
  EXPECT_EQ(clock.utc(), "2026-11-30T00:00:00Z");
}

TEST(Clock, TheSystemsNeverGoesBackAndWritesUtc) {
  SystemClock clock;
  const auto first = clock.now_ns();
  clock.sleep_ns(1'000'000);
  EXPECT_GE(clock.now_ns() - first, 1'000'000);
  const std::string utc = clock.utc();
  ASSERT_EQ(utc.size(), 20u);
  EXPECT_EQ(utc[10], 'T');
  EXPECT_EQ(utc.back(), 'Z');
}

}  // namespace
}  // namespace hone::base

#include "base/utc.hpp"

#include <gtest/gtest.h>

namespace hone::base {
namespace {

TEST(Utc, CountsSecondsFrom1970) {
  EXPECT_EQ(seconds_of_utc("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(seconds_of_utc("2026-01-02T03:04:05Z"), 1767323045);
  EXPECT_EQ(*seconds_of_utc("2028-03-01T00:00:00Z") - *seconds_of_utc("2028-02-28T00:00:00Z"), 2 * 86400);
}

TEST(Utc, RefusesWhatIsNoTime) {
  for (const char* text : {"", "now", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z",
                           "2026-01-01T00:00:00", "2026-01-01T00:00:00ZZ", "2026-01-01 00:00:00Z"})
    EXPECT_FALSE(seconds_of_utc(text)) << text;
}

TEST(Utc, TellsAges) {
  EXPECT_EQ(age_text(12), "12 s ago");
  EXPECT_EQ(age_text(300), "5 min ago");
  EXPECT_EQ(age_text(3 * 3600 + 5), "3 h ago");
  EXPECT_EQ(age_text(12 * 86400), "12 days ago");
}

}  // namespace
}  // namespace hone::base

// Sizes as people write them, and what is none.
#include "base/size_text.hpp"

#include <gtest/gtest.h>

namespace hone::base {
namespace {

TEST(SizeText, UnitsAreBinary) {
  EXPECT_EQ(size_of("1"), 1);
  EXPECT_EQ(size_of("4096"), 4096);
  EXPECT_EQ(size_of("4k"), 4096);
  EXPECT_EQ(size_of("4K"), 4096);
  EXPECT_EQ(size_of("3m"), 3 << 20);
  EXPECT_EQ(size_of("1M"), 1 << 20);
  EXPECT_EQ(size_of("1099511627776"), kLargestSize);
  EXPECT_EQ(size_of("1048576m"), kLargestSize);
}

TEST(SizeText, AnythingElseIsNone) {
  for (const char* text : {"", "k", "0", "0k", "-4", "+4", " 4", "4 ", "4kk", "4km", "4.5k", "4e3", "0x10", "4kb",
                           "1099511627777", "1048577m", "99999999999999999999999", "9223372036854775807k"})
    EXPECT_FALSE(size_of(text).has_value()) << text;
}

}  // namespace
}  // namespace hone::base

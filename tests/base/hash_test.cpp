#include "base/hash.hpp"

#include <gtest/gtest.h>

namespace hone::base {
namespace {

TEST(ContentHash, IsTheCanonicalXxh3Of128Bits) {
  // Reference values of the xxhsum program (xxhsum -H128).
  EXPECT_EQ(content_hash(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(content_hash("abc"), "06b05ab6733a618578af5f94892f3950");
}

TEST(ContentHash, EveryByteCounts) {
  const std::string text(1000, 'x');
  for (std::size_t i = 0; i < text.size(); i += 37) {
    std::string changed = text;
    changed[i] = 'y';
    EXPECT_NE(content_hash(changed), content_hash(text));
  }
  EXPECT_NE(content_hash(std::string(1, '\0')), content_hash(""));
}

}  // namespace
}  // namespace hone::base

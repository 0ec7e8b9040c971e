// The memory that the operands of a product take, and what is no product.
#include "device/product_bytes.hpp"

#include <gtest/gtest.h>

namespace hone::device {
namespace {

MatrixProduct product() {
  MatrixProduct p;
  p.m = 3, p.n = 5, p.k = 7;
  p.a_stride = 7, p.b_stride = 5, p.c_stride = 5;
  return p;
}

TEST(ProductBytes, OfDenseOperands) {
  const auto bytes = product_bytes(product(), "cpu");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->a, 3u * 7 * 4);
  EXPECT_EQ(bytes->b, 7u * 5 * 4);
  EXPECT_EQ(bytes->c, 3u * 5 * 4);
}

TEST(ProductBytes, TheLastRowEndsAtItsLastElement) {
  MatrixProduct p = product();
  p.a_transposed = true, p.a_stride = 10;  // 7 rows of 3
  p.output = DType::bf16, p.c_stride = 8;
  const auto bytes = product_bytes(p, "cpu");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->a, (6u * 10 + 3) * 4);
  EXPECT_EQ(bytes->c, (2u * 8 + 5) * 2);
}

TEST(ProductBytes, OfNothingAreNone) {
  MatrixProduct p = product();
  p.m = 0;
  const auto bytes = product_bytes(p, "cpu");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->a, 0u);
  EXPECT_EQ(bytes->c, 0u);
}

TEST(ProductBytes, AStrideBelowARowAndANegativeSizeAreErrorsThatNameTheDevice) {
  MatrixProduct narrow = product();
  narrow.b_stride = 4;
  const auto refused = product_bytes(narrow, "cuda");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "cuda");
  MatrixProduct negative = product();
  negative.k = -1;
  EXPECT_FALSE(product_bytes(negative, "cpu"));
}

}  // namespace
}  // namespace hone::device

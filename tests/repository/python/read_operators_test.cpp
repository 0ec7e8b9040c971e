// Operator descriptions from their document: every key is read, and a mistake is named with its place.
#include "repository/python/read_operators.hpp"

#include <gtest/gtest.h>

#include "tests/repository/python/sample_operator.hpp"

namespace hone::repository::python {
namespace {

// The document with one place changed, and what reading it says.
std::string error_of(const std::string& from, const std::string& to) {
  std::string text = kScaleText;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  auto read = read_operators(text, "ops.toml", "");
  EXPECT_FALSE(read) << to;
  return read ? "" : base::describe(read.error());
}

TEST(ReadOperators, EveryKeyArrives) {
  auto read = read_operators(kScaleText, "ops.toml", "def f(): pass");
  ASSERT_TRUE(read) << base::describe(read.error());
  const OperatorDescription& scale = read->front();
  EXPECT_EQ(scale.name, "scale");
  EXPECT_EQ(scale.callable, "Scale");
  EXPECT_EQ(scale.x, "columns");
  EXPECT_EQ(scale.x_name, "width");
  EXPECT_EQ(scale.sizes, (std::vector<std::int64_t>{256, 512, 1024}));
  EXPECT_EQ(scale.extents, (Shape{{"rows", 8}, {"hidden", 12}}));
  EXPECT_EQ(scale.default_options(), (std::map<std::string, std::string>{{"mode", "plain"}, {"in_place", "true"}}));
  EXPECT_TRUE(scale.find_option("in_place")->truth);
  EXPECT_EQ(scale.arguments, (std::vector<std::string>{"x", "w", "mode", "in_place"}));
  EXPECT_EQ(scale.outputs, std::vector<int>{0});
  EXPECT_EQ(scale.overwrites_forward, std::vector<std::string>{"x"});
  EXPECT_TRUE(scale.overwrites_backward.empty());
  EXPECT_TRUE(scale.overwrites_gradients);
  EXPECT_EQ(scale.modes(), (std::vector<std::string>{"forward", "backward", "full"}));
  EXPECT_EQ(scale.code, "def f(): pass");
}

TEST(ReadOperators, AMistakeIsNamedWithItsPlace) {
  EXPECT_NE(error_of("arguments", "argumets").find("ops.toml:"), std::string::npos);
  EXPECT_NE(error_of("arguments", "argumets").find("argumets"), std::string::npos);
  EXPECT_NE(error_of("\"rows\", \"columns\"", "\"rows\", \"colums\"").find("columns"), std::string::npos);
  EXPECT_NE(error_of("forward = [\"x\"]", "forward = [\"y\"]").find("'y'"), std::string::npos);
  EXPECT_NE(error_of("order = [1, 0]", "order = [1, 1]").find("each axis"), std::string::npos);
  EXPECT_NE(error_of("order = [1, 0]", "order = [0]").find("each axis"), std::string::npos);
  EXPECT_NE(error_of("[true, false]", "[true, \"no\"]").find("true and false"), std::string::npos);
  EXPECT_NE(error_of(", below = \"columns\"", "").find("below"), std::string::npos);
  EXPECT_NE(error_of("outputs = [0]", "outputs = [-1]").find("output"), std::string::npos);
  EXPECT_NE(error_of("dtype_bytes * rows * columns", "dtype_byte * rows").find("dtype_bytes"), std::string::npos);
  EXPECT_NE(error_of("\nw = {", "\nmode = {").find("means something else"), std::string::npos) << "two of one name";
  EXPECT_NE(error_of("\nw = {", "\ntorch = {").find("means something else"), std::string::npos);
}

}  // namespace
}  // namespace hone::repository::python

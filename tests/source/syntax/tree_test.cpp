// A parsed file as nodes: their texts and lines, and what is no syntax.
#include "source/syntax/tree.hpp"

#include <gtest/gtest.h>

namespace hone::source {
namespace {

Node first(const SyntaxTree& tree, Kind kind) {
  for (const Node node : tree.root().descendants())
    if (node.is(kind)) return node;
  return {};
}

TEST(SyntaxTree, NodesKnowTheirTextLinesAndPlace) {
  const auto tree = parse(Language::python, "import triton\n\ndef f(x):  # why\n    return g(x)\n", "a.py");
  ASSERT_TRUE(tree);
  const Node function = first(**tree, Kind::function_definition), call = first(**tree, Kind::call);
  EXPECT_EQ(function.child(Field::name).text(), "f");
  EXPECT_EQ(function.line(), 3);
  EXPECT_EQ(function.end_line(), 4);
  EXPECT_EQ(call.text(), "g(x)");
  EXPECT_TRUE(function.contains(call));
  EXPECT_FALSE(call.contains(function));
}

TEST(SyntaxTree, ANodeThatIsNotThereIsEmpty) {
  const auto tree = parse(Language::cuda, "int a;\n", "a.cu");
  ASSERT_TRUE(tree);
  const Node none = first(**tree, Kind::call_expression);
  EXPECT_FALSE(none.valid());
  EXPECT_EQ(none.text(), "");
  EXPECT_EQ(none.line(), 0);
  EXPECT_FALSE(none.child(Field::name).valid());
}

TEST(SyntaxTree, WrongSyntaxIsAnErrorNodeAndTheRestIsRead) {
  const auto tree = parse(Language::python, "x = ) 1\n\ndef g():\n    pass\n", "a.py");
  ASSERT_TRUE(tree);
  EXPECT_EQ(first(**tree, Kind::function_definition).child(Field::name).text(), "g");
  EXPECT_TRUE(first(**tree, Kind::error).valid());
}

}  // namespace
}  // namespace hone::source

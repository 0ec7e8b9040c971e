// The description of a checkout's operators: it can be read, and says of sizes and traffic what the formulas do.
#include "repository/liger/operators.hpp"

#include <gtest/gtest.h>

namespace hone::repository::liger {
namespace {

TEST(Operators, TheEmbeddedDocumentsCanBeRead) {
  ASSERT_TRUE(operators()) << base::describe(operators().error());
  EXPECT_GE(operators()->size(), 20u);
  for (const auto& description : *operators()) {
    EXPECT_EQ(description->adjustable.at(kTokens), "rows") << description->name;
    EXPECT_TRUE(description->extents.count("rows")) << description->name;
    EXPECT_EQ(description->modes().back(), "full") << description->name;
  }
}

TEST(Operators, EveryCaseOfTheTablesAndOfTheGateHasItsInputs) {
  for (const auto& description : *operators()) {
    std::vector<python::Shape> shapes = description->gate_shapes(true, false);
    for (const std::int64_t x : description->sizes) shapes.push_back(description->at(x));
    for (const python::Shape& shape : shapes) {
      auto spec = description->case_of(shape, "bf16", description->default_options(), 0);
      ASSERT_TRUE(spec) << description->name << ": " << base::describe(spec.error());
      for (const python::InputSpec& input : spec->inputs)
        for (const std::int64_t extent : input.extents) EXPECT_GT(extent, 0) << description->name << " " << input.name;
    }
  }
}

TEST(Operators, TrafficIsPositiveWhereThePassHasWork) {
  for (const auto& description : *operators())
    for (const python::PassDecl& pass : description->passes)
      EXPECT_GT(description->traffic(pass.name, description->at(description->sizes.front()), 2).bytes(), 0)
          << description->name << " " << pass.name;
}

TEST(Operators, RmsNormMovesWhatItsFormulaSays) {
  const auto rms_norm = find_operator("rms_norm");
  ASSERT_TRUE(rms_norm);
  const python::Traffic backward = rms_norm->traffic("backward", rms_norm->at(4096), 2);
  // dY and X are read, dX is written, 2 bytes each; w, dw and one statistic a row beside them.
  EXPECT_DOUBLE_EQ(backward.bytes_read, 2.0 * (2.0 * 16384 * 4096 + 4096) + 4.0 * 16384);
  EXPECT_DOUBLE_EQ(backward.bytes_written, 2.0 * (16384.0 * 4096 + 4096));
  EXPECT_FALSE(backward.matrix);
  const auto fused = find_operator("fused_linear_cross_entropy");
  EXPECT_TRUE(fused->traffic("forward", {{"rows", 2}, {"columns", 3}, {"hidden", 4}}, 2).matrix);
}

TEST(Operators, TheGateTakesShapesThatTheOperatorAccepts) {
  for (const python::Shape& shape : find_operator("rope")->gate_shapes(true, false))
    EXPECT_EQ(shape.at("columns") % 128, 0) << shape.at("columns");
  for (const python::Shape& shape : find_operator("group_norm")->gate_shapes(true, false)) {
    EXPECT_EQ(shape.at("columns") % 4, 0);
    EXPECT_EQ(shape.at("batch"), 2);
  }
}

}  // namespace
}  // namespace hone::repository::liger

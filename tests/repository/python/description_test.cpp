// An operator description under concrete extents: inputs, traffic, shapes of the gate, and its JSON.
#include "repository/python/description.hpp"

#include <gtest/gtest.h>

#include "tests/repository/python/sample_operator.hpp"

namespace hone::repository::python {
namespace {

TEST(Description, InputsFollowTheExtents) {
  const OperatorDescription scale = scale_operator();
  auto spec = scale.case_of(scale.at(256, {{"rows", 5}}), "bf16", scale.default_options(), 7);
  ASSERT_TRUE(spec) << base::describe(spec.error());
  ASSERT_EQ(spec->inputs.size(), 3u);
  EXPECT_EQ(spec->inputs[0].extents, (std::vector<std::int64_t>{5, 256}));
  EXPECT_DOUBLE_EQ(spec->inputs[1].bounds.at("deviation"), 0.125);
  EXPECT_EQ(spec->inputs[2].extents, (std::vector<std::int64_t>{6, 5}));
  EXPECT_DOUBLE_EQ(spec->inputs[2].bounds.at("below"), 256);
}

TEST(Description, AnExtentThatHasNoValueIsAnError) {
  OperatorDescription scale = scale_operator();
  EXPECT_FALSE(scale.case_of({{"columns", 256}}, "bf16", {}, 0)) << "rows are missing";
}

TEST(Description, TrafficIsThatOfThePass) {
  const OperatorDescription scale = scale_operator();
  const Shape shape = scale.at(256);
  EXPECT_DOUBLE_EQ(scale.traffic("forward", shape, 2).bytes_read, 2.0 * 8 * 256);
  EXPECT_DOUBLE_EQ(scale.traffic("forward", shape, 2).flops, 8 * 256);
  EXPECT_FALSE(scale.traffic("forward", shape, 2).matrix);
  EXPECT_DOUBLE_EQ(scale.traffic("backward", shape, 4).bytes(), 12);
  EXPECT_TRUE(scale.traffic("backward", shape, 4).matrix);
  EXPECT_DOUBLE_EQ(scale.traffic("no such pass", shape, 4).bytes(), 0);
}

TEST(Description, GateShapesHaveOneElementAndOddExtentsAsFarAsTheOperatorTakesThem) {
  OperatorDescription scale = scale_operator();
  for (const Shape& shape : scale.gate_shapes(true, false)) {
    EXPECT_EQ(shape.at("columns") % 2, 0);
    EXPECT_EQ(shape.at("hidden"), 4);
  }
  scale.gate.clear();
  bool one = false, odd = false;
  for (const Shape& shape : scale.gate_shapes(true, false)) {
    one = one || (shape.at("rows") == 1 && shape.at("columns") == 1);
    odd = odd || shape.at("columns") % 2 == 1;
  }
  EXPECT_TRUE(one);
  EXPECT_TRUE(odd);
  EXPECT_LT(scale.gate_shapes(false, true).size(), scale.gate_shapes(true, true).size());
}

TEST(Description, ItsJsonHasWhatTheWorkerNeeds) {
  const OperatorDescription scale = scale_operator();
  const model::Json json = description_json(scale);
  EXPECT_EQ(*json.find("callable")->text(), "Scale");
  EXPECT_EQ(json.find("truths")->dump_line(), R"(["in_place"])");
  const model::Json spec = case_json(*scale.case_of(scale.at(256), "bf16", scale.default_options(), 7));
  EXPECT_EQ(spec.find("shape")->find("columns")->integer(), 256);
  const model::Json::Array& inputs = *spec.find("inputs")->items();
  EXPECT_EQ(inputs[2].find("order")->dump_line(), "[1, 0]");
  EXPECT_EQ(*inputs[1].find("distribution")->text(), "normal");
  EXPECT_EQ(spec.find("seed")->integer(), 7);
}

}  // namespace
}  // namespace hone::repository::python

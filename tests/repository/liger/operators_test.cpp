// The table of operators here and the one of the worker name the same operators, and every shape is one they take.
#include "repository/liger/operators.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "repository/liger/scripts.hpp"

namespace hone::repository::liger {
namespace {

TEST(Operators, BothTablesNameTheSame) {
  std::string text;
  for (const Script& script : scripts())
    if (script.name == "hone_operators.py") text = script.text;
  ASSERT_FALSE(text.empty());
  std::set<std::string> there, here;
  const std::regex entry("\n    \"(\\w+)\": Operator\\(");
  for (std::sregex_iterator it(text.begin(), text.end(), entry), end; it != end; ++it) there.insert((*it)[1]);
  for (const OperatorFacts& facts : operators()) here.insert(facts.op);
  EXPECT_EQ(there, here);
  EXPECT_GE(here.size(), 16u);
}

TEST(Operators, TrafficIsPositiveWhereThePassHasWork) {
  for (const OperatorFacts& facts : operators())
    for (const std::string& mode : facts.modes) {
      if (mode == "full") continue;
      const Traffic traffic = facts.traffic(mode, facts.at(facts.sizes.front(), 0), 2);
      EXPECT_GT(traffic.bytes(), 0) << facts.op << " " << mode;
    }
}

TEST(Operators, RmsNormMovesWhatItsFormulaSays) {
  const OperatorFacts* facts = find_operator("rms_norm");
  ASSERT_TRUE(facts);
  const Traffic backward = facts->traffic("backward", facts->at(4096, 16384), 2);
  // dY and X are read, dX is written, 2 bytes each; w, dw and one statistic a row beside them.
  EXPECT_DOUBLE_EQ(backward.bytes_read, 2.0 * (2.0 * 16384 * 4096 + 4096) + 4.0 * 16384);
  EXPECT_DOUBLE_EQ(backward.bytes_written, 2.0 * (16384.0 * 4096 + 4096));
}

TEST(Operators, GateShapesHaveOneElementAndOddExtents) {
  const OperatorFacts* facts = find_operator("layer_norm");
  ASSERT_TRUE(facts);
  bool one = false, odd = false;
  for (const Shape& shape : gate_shapes(*facts, true, false)) {
    one = one || (shape.at("rows") == 1 && shape.at("columns") == 1);
    odd = odd || shape.at("columns") % 2 == 1;
  }
  EXPECT_TRUE(one);
  EXPECT_TRUE(odd);
}

}  // namespace
}  // namespace hone::repository::liger

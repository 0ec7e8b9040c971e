#include "repository/document/expression.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace hone::repository {
namespace {

const Origin kOrigin{"hone.toml", {7, 10}, "'grid'"};

Expression parsed(const std::string& text) {
  auto expression = Expression::parse(text, kOrigin);
  EXPECT_TRUE(expression) << text << ": " << base::describe(expression.error());
  return expression ? *expression : Expression();
}

std::int64_t whole(const std::string& text, const Scope& scope = {{{"rows", 1000}, {"ROWS", 3}}, {}}) {
  auto value = parsed(text).whole(scope);
  EXPECT_TRUE(value) << text << ": " << base::describe(value.error());
  return value ? *value : -1;
}

base::Error refused(const std::string& text) {
  auto expression = Expression::parse(text, kOrigin);
  if (!expression) return expression.error();
  auto value = expression->whole({{{"rows", 1000}, {"zero", 0}}, {{"eps", 1e-3}}});
  EXPECT_FALSE(value) << text;
  return value ? base::Error{} : value.error();
}

TEST(AnExpression, BindsItsOperatorsAsCDoes) {
  EXPECT_EQ(whole("1 + 2 * 3"), 7);
  EXPECT_EQ(whole("(1 + 2) * 3"), 9);
  EXPECT_EQ(whole("10 - 4 - 3"), 3);
  EXPECT_EQ(whole("100 / 7 % 4"), 2);
  EXPECT_EQ(whole("-2 * -3"), 6);
  EXPECT_EQ(whole("1 + 1 == 2 && !(3 < 2) || 0"), 1);
  EXPECT_EQ(whole("rows > 10 ? rows / 10 : rows"), 100);
}

TEST(AnExpression, RoundsAWholeDivisionTowardsZeroAndDividesARealOne) {
  EXPECT_EQ(whole("7 / 2"), 3);
  EXPECT_EQ(whole("-7 / 2"), -3);
  EXPECT_DOUBLE_EQ(*parsed("7 / 2").real({}), 3.5);
  EXPECT_DOUBLE_EQ(*parsed("sqrt(n) * eps").real({{{"n", 16}}, {{"eps", 0.5}}}), 2);
}

TEST(AnExpression, KnowsTheFunctionsOfGridsAndTiles) {
  EXPECT_EQ(whole("ceil_div(rows, ROWS)"), 334);
  EXPECT_EQ(whole("round_up(rows, 64)"), 1024);
  EXPECT_EQ(whole("power_of_two(rows)"), 1024);
  EXPECT_EQ(whole("min(rows, 7, 9) + max(1, 2)"), 9);
}

TEST(AnExpression, LooksAtTheSecondOperandOnlyWhereTheFirstDoesNotDecide) {
  EXPECT_EQ(whole("0 != 0 && 1 / 0 > 0"), 0);
  EXPECT_EQ(whole("1 || 1 / 0"), 1);
}

TEST(AnExpression, NamesThePlaceOfWhatIsWrong) {
  EXPECT_EQ(refused("rows +").where, "hone.toml:7:16");
  EXPECT_EQ(refused("rows + cols").where, "hone.toml:7:17");
  EXPECT_EQ(refused("ceil_dev(rows, 2)").remedy, "did you mean ceil_div?");
  EXPECT_NE(refused("rosw * 2").remedy.find("rows"), std::string::npos);
  EXPECT_NE(refused("rows / zero").found.find("divides by zero"), std::string::npos);
  EXPECT_NE(refused("rows * 0.5").expected.find("integer"), std::string::npos);
  EXPECT_NE(refused("eps").found.find("real"), std::string::npos);
  EXPECT_NE(refused("max(1)").expected.find("2 to 8"), std::string::npos);
}

TEST(AnExpression, RefusesEveryOverflow) {
  for (const char* text : {"9223372036854775807 + 1", "-9223372036854775807 - 2", "4294967296 * 4294967296",
                           "(0 - 9223372036854775807 - 1) / -1", "power_of_two(9223372036854775807)",
                           "round_up(9223372036854775807, 4096)"})
    EXPECT_NE(refused(text).expected.find("64 bits"), std::string::npos) << text;
}

TEST(AnExpression, EndsForTextsMadeToBreakIt) {
  EXPECT_FALSE(Expression::parse(std::string(1900, '('), kOrigin));
  EXPECT_FALSE(Expression::parse(std::string(1900, '-') + "1", kOrigin));
  EXPECT_FALSE(Expression::parse(std::string(5000, '1'), kOrigin));
  std::string sum = "1";
  for (int i = 0; i < 600; ++i) sum += "+1";
  EXPECT_FALSE(Expression::parse(sum, kOrigin));
}

RC_GTEST_PROP(AnExpression, CountsPrograms, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 1'000'000), each = *rc::gen::inRange<std::int64_t>(1, 5000);
  const std::int64_t programs = whole("ceil_div(n, each)", {{{"n", rows}, {"each", each}}, {}});
  RC_ASSERT(programs * each >= rows);
  RC_ASSERT((programs - 1) * each < rows);
}

}  // namespace
}  // namespace hone::repository

// --target-metric: what is accepted, and where a wrong one is wrong.
#include "stages/optimize/target_metric.hpp"

#include <gmock/gmock.h>

namespace hone::test {
namespace {

using ::testing::HasSubstr;

base::Result<stages::TargetMetric> parse(const std::string& text) {
  return stages::parse_target_metric(text, {"forward", "backward", "full"}, "hidden_size", {"1024", "4096"});
}

TEST(TargetMetric, ReadsModeLimitUnitAndSize) {
  const auto target = parse("forward < 0.3 ms @ hidden_size=4096");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->subject, "forward");
  EXPECT_DOUBLE_EQ(target->limit, 0.3);
  EXPECT_EQ(target->x_value, "4096");
  EXPECT_FALSE(target->inclusive);
  EXPECT_TRUE(stages::met_by(*target, 0.29));
  EXPECT_FALSE(stages::met_by(*target, 0.3));
}

TEST(TargetMetric, ReadsEveryUnitWithOrWithoutSpacesAndSize) {
  EXPECT_DOUBLE_EQ(parse("backward<=300us")->limit, 0.3);
  EXPECT_TRUE(parse("backward<=300us")->inclusive);
  EXPECT_TRUE(stages::met_by(*parse("backward<=300us"), 0.3));
  EXPECT_DOUBLE_EQ(parse("full < 2 s")->limit, 2000);
  EXPECT_DOUBLE_EQ(parse("full < 1500 ns@hidden_size=1024")->limit, 0.0015);
  EXPECT_EQ(parse("full < 2 s @ hidden_size=4k")->x_value, "4096");
  EXPECT_DOUBLE_EQ(parse("memory < 1.5 GB")->limit, 1500);
  EXPECT_TRUE(parse("  memory  <  12  MB  ")->x_value.empty());
}

TEST(TargetMetric, NamesTheColumnOfWhatIsWrong) {
  const struct {
    const char* text;
    int column;
    const char* expected;
  } cases[] = {
      {"", 1, "forward"},
      {"sideways < 1 ms", 1, "one of forward, backward, full or memory"},
      {"forward 0.3 ms", 9, "'<'"},
      {"forward > 0.3 ms", 9, "'<'"},
      {"forward < ms", 11, "a number"},
      {"forward < -1 ms", 11, "a number"},
      {"forward < 0 ms", 11, "above 0"},
      {"forward < nan ms", 11, "a number"},
      {"forward < inf ms", 11, "a number"},
      {"forward < 1e999 ms", 11, "a number"},
      {"forward < 0.3", 14, "a unit of time"},
      {"forward < 0.3 parsec", 15, "a unit of time"},
      {"forward < 3 MB", 13, "a unit of time"},
      {"memory < 3 ms", 12, "a unit of memory"},
      {"forward < 0.3 ms at 4096", 18, "'@'"},
      {"forward < 0.3 ms @", 19, "hidden_size"},
      {"forward < 0.3 ms @ rows=4096", 20, "hidden_size"},
      {"forward < 0.3 ms @ hidden_size 4096", 32, "'='"},
      {"forward < 0.3 ms @ hidden_size=5000", 32, "1024, 4096"},
      {"forward < 0.3 ms @ hidden_size=4096 please", 37, "the end"},
  };
  for (const auto& c : cases) {
    const auto target = parse(c.text);
    ASSERT_FALSE(target) << c.text;
    EXPECT_EQ(target.error().kind, base::ErrorKind::usage);
    EXPECT_THAT(target.error().where, HasSubstr("column " + std::to_string(c.column) + "\n")) << c.text;
    EXPECT_THAT(target.error().expected, HasSubstr(c.expected)) << c.text;
    EXPECT_FALSE(target.error().remedy.empty());
  }
}

}  // namespace
}  // namespace hone::test

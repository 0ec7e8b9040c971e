#include "render/plots/svg.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hone::render {
namespace {

TEST(Svg, EscapesTextAndLeavesOutWhatXmlForbids) {
  Svg svg(100, 50, "a < b & c", "d");
  svg.text(1, 2, "<x>\033 \"q\" \xff");
  const std::string text = svg.str();
  EXPECT_NE(text.find("<title>a &lt; b &amp; c</title>"), std::string::npos);
  EXPECT_NE(text.find("&lt;x&gt; &quot;q&quot; ?"), std::string::npos);
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

TEST(Svg, CoordinatesAreRoundedAndFinite) {
  Svg svg(100, 50, "t", "d");
  svg.line(1.0 / 3, std::nan(""), -0.04, 10, Tone::ink);
  EXPECT_NE(svg.str().find("x1=\"0.3\" y1=\"0\" x2=\"0\" y2=\"10\""), std::string::npos);
}

TEST(Ticks, CoverTheRangeOnRoundNumbers) {
  EXPECT_EQ(linear_ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(linear_ticks(0, 97, 4), (std::vector<double>{0, 25, 50, 75, 100}));
  EXPECT_EQ(linear_ticks(3, 3, 4), (std::vector<double>{3}));
  EXPECT_EQ(log_ticks(0.03, 4), (std::vector<double>{0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}));
  for (const double low : {1e-9, 0.7, 33.0})
    for (const double span : {1.5, 40.0, 1e7}) {
      const auto ticks = log_ticks(low, low * span);
      EXPECT_LE(ticks.front(), low * (1 + 1e-9));
      EXPECT_GE(ticks.back(), low * span * (1 - 1e-9));
    }
}

TEST(Ticks, LabelsSayNoMoreThanNeeded) {
  EXPECT_EQ(tick_label(0.6000000000000001), "0.6");
  EXPECT_EQ(tick_label(4096), "4096");
  EXPECT_EQ(tick_label(0), "0");
  EXPECT_EQ(tick_label(25), "25");
  EXPECT_EQ(tick_label(2e9), "2e+09");
}

TEST(Fitted, ShortensToTheWidthOnWholeCharacters) {
  EXPECT_EQ(fitted("short", 12, 100), "short");
  const std::string text = fitted("ééééééééééééééééééééé", 12, 60);
  EXPECT_LE(text_width(text, 12), 60);
  EXPECT_TRUE(text.ends_with("é…"));
}

}  // namespace
}  // namespace hone::render

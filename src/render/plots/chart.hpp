// A chart of medians with their p20 to p80 bars over sizes or names. Plots state what is drawn; this draws it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/timing.hpp"
#include "render/plots/svg.hpp"

namespace hone::render {

struct ChartPoint {
  std::string x_value;
  model::Quantiles y;
};

struct Series {
  std::string name;
  std::vector<ChartPoint> points;
  Tone tone = Tone::series_1;
  int shape = 0;
  bool dashed = false;
};

struct Chart {
  std::string title, subtitle;
  std::string x_title, y_title;
  std::string unit;  // for the texts shown on hovering
  std::vector<Series> series;
  std::optional<double> reference;  // a dashed horizontal line
  std::string reference_label;
  bool from_zero = true;  // a linear axis begins at 0; a logarithmic one can not
};

// Sizes (all x values positive numbers) stand on an axis, logarithmic where they span a factor of four, joined by lines;
// names stand side by side. The y axis is logarithmic where the values span a factor of twenty, and says so.
// Points that are not finite are left out; a chart without points says that it has none.
std::string draw(const Chart& chart);

}  // namespace hone::render

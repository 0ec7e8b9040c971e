// The heat map of the parameter sweep.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "render/documents/markdown.hpp"
#include "render/format.hpp"
#include "render/plots/plots.hpp"
#include "render/plots/svg.hpp"
#include "render/profile_view.hpp"

namespace hone::render {

namespace {

using model::Settings;
using model::SweepPoint;

constexpr std::size_t most_rows = 30;
constexpr double cell_width = 78, cell_height = 24, margin = 24, top = 92;

struct Color {
  double red, green, blue;
};

// Diverging and readable under red-green blindness: blue is faster than v0, orange slower, white the same.
constexpr Color faster{0.02, 0.36, 0.62}, same{0.97, 0.97, 0.97}, slower{0.80, 0.33, 0.0};

Color mixed(double strength) {
  const Color& end = strength < 0 ? faster : slower;
  const double share = std::min(1.0, std::fabs(strength));
  const auto mix = [&](double a, double b) { return a + (b - a) * share; };
  return {mix(same.red, end.red), mix(same.green, end.green), mix(same.blue, end.blue)};
}

std::string hex(const Color& color) {
  const auto byte = [](double part) { return static_cast<int>(std::lround(255 * part)); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(color.red), byte(color.green), byte(color.blue));
}

std::string text_color(const Color& color) {
  return 0.2126 * color.red + 0.7152 * color.green + 0.0722 * color.blue > 0.5 ? "#1b1f24" : "#ffffff";
}

struct Row {
  Settings settings;
  std::map<std::string, const SweepPoint*> cells;
  double score = 0;  // mean of the logarithms of the ratios: the order of the rows
};

std::vector<Row> rows_of(const std::vector<SweepPoint>& points, const std::string& pass) {
  std::vector<Row> rows;
  for (const SweepPoint& point : points) {
    if (point.pass != pass || !(point.ratio > 0) || !std::isfinite(point.ratio)) continue;
    auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& one) { return one.settings == point.settings; });
    if (row == rows.end()) row = rows.insert(rows.end(), Row{point.settings, {}, 0});
    row->cells[point.x_value] = &point;
  }
  for (Row& row : rows) {
    for (const auto& [x_value, point] : row.cells) row.score += std::log(point->ratio);
    row.score /= static_cast<double>(row.cells.size());
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.score < b.score; });
  return rows;
}

std::vector<std::string> x_values_of(const std::vector<SweepPoint>& points, const std::string& pass) {
  std::vector<std::string> values;
  for (const SweepPoint& point : points)
    if (point.pass == pass && std::find(values.begin(), values.end(), point.x_value) == values.end())
      values.push_back(point.x_value);
  return values;
}

// Only knobs that differ between rows name a row.
std::string row_name(const Row& row, const std::set<std::string>& varying) {
  Settings named;
  for (const auto& [name, value] : row.settings)
    if (varying.count(name) > 0) named[name] = value;
  return settings_text(named);
}

std::set<std::string> varying_knobs(const std::vector<Row>& rows) {
  std::set<std::string> names;
  for (const Row& row : rows)
    for (const auto& [name, value] : row.settings) {
      const auto first = rows.front().settings.find(name);
      if (first == rows.front().settings.end() || first->second != value) names.insert(name);
    }
  for (const auto& [name, value] : rows.front().settings)
    for (const Row& row : rows)
      if (row.settings.count(name) == 0) names.insert(name);
  return names;
}

void draw_scale(Svg& svg, double x, double y, double strongest) {
  constexpr int steps = 20;
  constexpr double step = 8;
  for (int i = 0; i < steps; ++i) svg.filled(x + i * step, y, step, 10, hex(mixed((i + 0.5) / steps * 2 - 1)));
  svg.text(x, y + 25, fmt::format("{:.2f}", std::exp(-strongest)), {11, Anchor::middle, Tone::muted});
  svg.text(x + steps * step / 2, y + 25, "1", {11, Anchor::middle, Tone::muted});
  svg.text(x + steps * step, y + 25, fmt::format("{:.2f}", std::exp(strongest)), {11, Anchor::middle, Tone::muted});
}

}  // namespace

std::string sweep_plot(const model::ComparisonDocument& comparison, const std::string& x_name,
                       const std::string& pass) {
  std::vector<Row> rows = rows_of(comparison.sweep, pass);
  const std::string title = comparison.kernel + " " + pass + ": sweep";
  const std::string subtitle =
      "time over v0's for each setting and size; blue is faster; outlined: went into the finals; bold: best of its "
      "size";
  if (rows.empty()) {
    Svg svg(480, 120, title, "no configuration was timed");
    svg.text(margin, 34, title, {17, Anchor::start, Tone::ink, true});
    svg.text(margin, 70, "No configuration was timed.", {13, Anchor::start, Tone::muted});
    return svg.str();
  }
  const std::size_t left_out = rows.size() > most_rows ? rows.size() - most_rows : 0;
  const std::set<std::string> varying = varying_knobs(rows);
  rows.resize(rows.size() - left_out);
  const std::vector<std::string> x_values = x_values_of(comparison.sweep, pass);

  double names_width = 80, strongest = std::log(1.05);
  std::map<std::string, double> best;
  for (const Row& row : rows) {
    names_width = std::max(names_width, std::min(text_width(row_name(row, varying), 12), 420.0));
    for (const auto& [x_value, point] : row.cells) {
      strongest = std::max(strongest, std::fabs(std::log(point->ratio)));
      best[x_value] = best.count(x_value) == 0 ? point->ratio : std::min(best[x_value], point->ratio);
    }
  }
  strongest = std::min(strongest, std::log(2.0));  // one very bad setting must not wash out the rest
  const double left = margin + names_width + 12;
  const double width = std::max(left + cell_width * static_cast<double>(x_values.size()) + margin,
                                margin * 2 + text_width(subtitle, 12));
  const double height = top + cell_height * static_cast<double>(rows.size()) + 66;
  Svg svg(width, height, title, subtitle);
  svg.text(margin, 34, title, {17, Anchor::start, Tone::ink, true});
  svg.text(margin, 54, subtitle, {12, Anchor::start, Tone::muted});
  for (std::size_t c = 0; c < x_values.size(); ++c)
    svg.text(left + cell_width * (static_cast<double>(c) + 0.5), top - 8, fitted(x_values[c], 12, cell_width - 4),
             {12, Anchor::middle, Tone::muted});
  svg.text(left - 12, top - 8, known(x_name, "x value"), {12, Anchor::end, Tone::ink});
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double y = top + cell_height * static_cast<double>(r);
    svg.text(left - 12, y + 16, fitted(row_name(rows[r], varying), 12, names_width), {12, Anchor::end});
    for (std::size_t c = 0; c < x_values.size(); ++c) {
      const double x = left + cell_width * static_cast<double>(c);
      const auto cell = rows[r].cells.find(x_values[c]);
      if (cell == rows[r].cells.end()) {
        svg.text(x + cell_width / 2, y + 16, "not timed", {11, Anchor::middle, Tone::muted});
        continue;
      }
      const SweepPoint& point = *cell->second;
      const Color color = mixed(std::log(point.ratio) / strongest);
      svg.filled(x + 1, y + 1, cell_width - 2, cell_height - 2, hex(color),
                 settings_text(point.settings) + " at " + point.x_value + ": " + ratio(point.ratio));
      svg.text_on(x + cell_width / 2, y + 16, ratio(point.ratio),
                  {12, Anchor::middle, Tone::ink, point.ratio == best[point.x_value]}, text_color(color));
      if (point.finalist) svg.outline(x + 3, y + 3, cell_width - 6, cell_height - 6, text_color(color));
    }
  }
  const double below = top + cell_height * static_cast<double>(rows.size()) + 24;
  draw_scale(svg, left, below, strongest);
  if (left_out > 0)
    svg.text(left + 190, below + 10, count_of(static_cast<std::int64_t>(left_out), "slower setting") + " left out",
             {12, Anchor::start, Tone::muted});
  return svg.str();
}

}  // namespace hone::render

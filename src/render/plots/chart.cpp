#include "render/plots/chart.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "render/format.hpp"

namespace hone::render {

namespace {

constexpr double width = 760, height = 430;
constexpr double left = 78, right = 28, top = 92, bottom = 62;
constexpr double plot_width = width - left - right, plot_height = height - top - bottom;
constexpr double log_x_span = 4, log_y_span = 20;

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value <= 0)
    return std::nullopt;
  return value;
}

bool drawable(const ChartPoint& point) {
  return std::isfinite(point.y.p20) && std::isfinite(point.y.p50) && std::isfinite(point.y.p80);
}

// Where x values stand: their order, and for each its place from 0 to 1.
class XAxis {
 public:
  explicit XAxis(const Chart& chart) {
    for (const Series& series : chart.series)
      for (const ChartPoint& point : series.points)
        if (drawable(point) && index_of(point.x_value) == values_.size()) values_.push_back(point.x_value);
    std::vector<double> numbers;
    for (const std::string& value : values_)
      if (const auto number = number_of(value)) numbers.push_back(*number);
    numeric_ = !values_.empty() && numbers.size() == values_.size();
    if (!numeric_) return;
    const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    low_ = *low;
    high_ = *high;
    logarithmic_ = high_ / low_ >= log_x_span;
    std::sort(values_.begin(), values_.end(),
              [](const auto& a, const auto& b) { return *number_of(a) < *number_of(b); });
  }

  const std::vector<std::string>& values() const { return values_; }
  bool numeric() const { return numeric_; }
  bool logarithmic() const { return numeric_ && logarithmic_; }

  double place(const std::string& value) const {
    const double margin = numeric_ ? 0.05 : 0.5 / static_cast<double>(std::max<std::size_t>(values_.size(), 1));
    double share = 0.5;
    if (numeric_ && high_ > low_) {
      const double number = number_of(value).value_or(low_);
      share = logarithmic_ ? std::log(number / low_) / std::log(high_ / low_) : (number - low_) / (high_ - low_);
    } else if (!numeric_ && values_.size() > 1) {
      share = static_cast<double>(index_of(value)) / static_cast<double>(values_.size() - 1);
    }
    return left + plot_width * (margin + share * (1 - 2 * margin));
  }

 private:
  std::size_t index_of(const std::string& value) const {
    return static_cast<std::size_t>(std::find(values_.begin(), values_.end(), value) - values_.begin());
  }

  std::vector<std::string> values_;
  bool numeric_ = false, logarithmic_ = false;
  double low_ = 1, high_ = 1;
};

class YAxis {
 public:
  explicit YAxis(const Chart& chart) {
    double low = INFINITY, high = -INFINITY;
    const auto widen = [&](double value) {
      low = std::min(low, value);
      high = std::max(high, value);
    };
    for (const Series& series : chart.series)
      for (const ChartPoint& point : series.points)
        if (drawable(point)) widen(point.y.p20), widen(point.y.p80), widen(point.y.p50);
    if (chart.reference) widen(*chart.reference * 1.08);  // its label stands above it
    if (!(low <= high)) low = 0, high = 1;
    logarithmic_ = low > 0 && high / low > log_y_span;
    if (logarithmic_)
      ticks_ = log_ticks(low, high);
    else
      ticks_ = linear_ticks(chart.from_zero ? std::min(0.0, low) : low,
                            high > low || chart.from_zero ? std::max(high, 1e-12) : low + 1, 5);
    if (ticks_.size() < 2) ticks_ = {ticks_.front(), ticks_.front() + 1};
  }

  const std::vector<double>& ticks() const { return ticks_; }
  bool logarithmic() const { return logarithmic_; }
  double place(double value) const {
    const double low = ticks_.front(), high = ticks_.back();
    const double share = logarithmic_ ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return top + plot_height * (1 - share);
  }

 private:
  std::vector<double> ticks_;
  bool logarithmic_ = false;
};

void draw_frame(Svg& svg, const Chart& chart, const XAxis& x, const YAxis& y) {
  svg.text(left - 54, 30, fitted(chart.title, 17, width - left - right + 54), {17, Anchor::start, Tone::ink, true});
  svg.text(left - 54, 50, fitted(chart.subtitle, 12, width - left - right + 54), {12, Anchor::start, Tone::muted});
  for (const double tick : y.ticks()) {
    svg.line(left, y.place(tick), left + plot_width, y.place(tick), Tone::grid);
    svg.text(left - 9, y.place(tick) + 4, tick_label(tick), {12, Anchor::end, Tone::muted});
  }
  svg.line(left, top + plot_height, left + plot_width, top + plot_height, Tone::muted);
  double label_end = -1;
  const double room = plot_width / static_cast<double>(std::max<std::size_t>(x.values().size(), 1)) - 8;
  for (const std::string& value : x.values()) {
    const std::string label = x.numeric() ? value : fitted(value, 12, std::max(room, 30.0));
    const double place = x.place(value), half = text_width(label, 12) / 2;
    if (x.numeric()) svg.line(place, top + plot_height, place, top + plot_height + 5, Tone::muted);
    if (place - half <= label_end + 6) continue;  // a label over another is worse than none: the point keeps its tick
    svg.text(place, top + plot_height + 20, label, {12, Anchor::middle, Tone::muted});
    label_end = place + half;
  }
  svg.text(left + plot_width / 2, height - 16, chart.x_title + (x.logarithmic() ? ", log scale" : ""),
           {13, Anchor::middle});
  svg.text(22, top + plot_height / 2, chart.y_title + (y.logarithmic() ? ", log scale" : ""),
           {13, Anchor::middle, Tone::ink, false, -90});
}

void draw_legend(Svg& svg, const Chart& chart) {
  double x = left - 48;
  for (const Series& series : chart.series) {
    const std::string name = fitted(series.name, 12, 200);
    svg.line(x - 7, 72, x + 19, 72, series.tone, 2, series.dashed);
    svg.marker(x + 6, 72, series.shape, series.tone);
    svg.text(x + 26, 76, name, {12, Anchor::start, Tone::ink});
    x += 52 + text_width(name, 12);
  }
}

// Whether a later series would cover this one: they are equal where both are drawn.
bool covered(const Chart& chart, std::size_t index, const YAxis& y) {
  const auto near = [&](const ChartPoint& a, const ChartPoint& b) {
    return a.x_value == b.x_value && std::fabs(y.place(a.y.p50) - y.place(b.y.p50)) < 2;
  };
  for (std::size_t later = index + 1; later < chart.series.size(); ++later) {
    const auto& points = chart.series[index].points;
    const auto& others = chart.series[later].points;
    const bool all = std::all_of(points.begin(), points.end(), [&](const ChartPoint& point) {
      return std::any_of(others.begin(), others.end(), [&](const ChartPoint& other) { return near(point, other); });
    });
    if (all && !points.empty()) return true;
  }
  return false;
}

void draw_series(Svg& svg, const Chart& chart, const XAxis& x, const YAxis& y) {
  const double count = static_cast<double>(chart.series.size());
  const double step =
      x.numeric() ? 0
                  : std::min(22.0, 0.7 * plot_width / static_cast<double>(std::max<std::size_t>(x.values().size(), 1)) /
                                       std::max(count, 1.0));
  for (std::size_t n = 0; n < chart.series.size(); ++n) {
    const Series& series = chart.series[n];
    const double shift = (static_cast<double>(n) - (count - 1) / 2) * step;
    std::vector<ChartPoint> points;
    for (const ChartPoint& point : series.points)
      if (drawable(point)) points.push_back(point);
    std::sort(points.begin(), points.end(),
              [&](const ChartPoint& a, const ChartPoint& b) { return x.place(a.x_value) < x.place(b.x_value); });
    // Drawn wider, so that it shows on both sides of the one that lies on it.
    const bool below = x.numeric() && covered(chart, n, y);
    std::vector<std::pair<double, double>> line;
    for (const ChartPoint& point : points) line.emplace_back(x.place(point.x_value) + shift, y.place(point.y.p50));
    if (x.numeric() && line.size() > 1) svg.polyline(line, series.tone, below ? 6 : 2, series.dashed);
    for (const ChartPoint& point : points) {
      const double place = x.place(point.x_value) + shift;
      const double low = y.place(point.y.p20), high = y.place(point.y.p80);
      // A bar that the marker would hide anyway is left out.
      if (low - high > 9) {
        svg.line(place, low, place, high, series.tone, 1.5);
        svg.line(place - 4, low, place + 4, low, series.tone, 1.5);
        svg.line(place - 4, high, place + 4, high, series.tone, 1.5);
      }
      svg.marker(place, y.place(point.y.p50), series.shape, series.tone,
                 series.name + " at " + point.x_value + ": " + figure(point.y.p50) + " " + chart.unit + " (" +
                     spread(point.y.p20, point.y.p80) + ")",
                 below ? 7.5 : 4.5);
    }
  }
}

}  // namespace

std::string draw(const Chart& chart) {
  Svg svg(width, height, chart.title, chart.subtitle);
  const XAxis x(chart);
  const YAxis y(chart);
  draw_frame(svg, chart, x, y);
  if (x.values().empty()) {
    svg.text(left + plot_width / 2, top + plot_height / 2, "nothing was measured", {14, Anchor::middle, Tone::muted});
    return svg.str();
  }
  if (chart.reference) {
    const double place = y.place(*chart.reference);
    svg.line(left, place, left + plot_width, place, Tone::ink, 1.5, true);
    svg.text(left + plot_width - 4, place - 6, chart.reference_label, {12, Anchor::end, Tone::ink});
  }
  draw_legend(svg, chart);
  draw_series(svg, chart, x, y);
  return svg.str();
}

}  // namespace hone::render

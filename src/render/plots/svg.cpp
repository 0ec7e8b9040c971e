#include "render/plots/svg.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "render/table.hpp"
#include "render/terminal/style.hpp"

namespace hone::render {

namespace {

struct ToneLook {
  Tone tone;
  const char* name;
  const char* light;
  const char* dark;
};

// Series: Okabe and Ito, "Color Universal Design" (2008); blue, vermilion, green, purple, orange, sky blue.
constexpr std::array tones{
    ToneLook{Tone::ink, "ink", "#1b1f24", "#e6e8eb"},     ToneLook{Tone::muted, "muted", "#59636e", "#9aa4af"},
    ToneLook{Tone::grid, "grid", "#e3e6ea", "#343a41"},   ToneLook{Tone::paper, "paper", "#ffffff", "#16191d"},
    ToneLook{Tone::series_1, "s1", "#0072b2", "#56a8dc"}, ToneLook{Tone::series_2, "s2", "#d55e00", "#f08a3c"},
    ToneLook{Tone::series_3, "s3", "#009e73", "#35c99c"}, ToneLook{Tone::series_4, "s4", "#b0578d", "#dd8fbd"},
    ToneLook{Tone::series_5, "s5", "#c98500", "#eeb23c"}, ToneLook{Tone::series_6, "s6", "#3a9bd1", "#8ccdf3"}};

const ToneLook& look(Tone tone) { return tones[static_cast<std::size_t>(tone)]; }

// One decimal is finer than a screen shows and hides the last bits of arithmetic, which differ between machines.
std::string px(double value) {
  std::string text = fmt::format("{:.1f}", std::isfinite(value) ? value : 0.0);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string fill(Tone tone) { return fmt::format("class=\"f-{}\" fill=\"{}\"", look(tone).name, look(tone).light); }
std::string stroke(Tone tone, double width) {
  return fmt::format("class=\"k-{}\" stroke=\"{}\" stroke-width=\"{}\"", look(tone).name, look(tone).light, px(width));
}

std::string text_attributes(double x, double y, const TextStyle& style) {
  static constexpr const char* anchors[] = {"start", "middle", "end"};
  std::string attributes = fmt::format("x=\"{}\" y=\"{}\" font-size=\"{}\"", px(x), px(y), px(style.size));
  if (style.anchor != Anchor::start)
    attributes += fmt::format(" text-anchor=\"{}\"", anchors[static_cast<int>(style.anchor)]);
  if (style.bold) attributes += " font-weight=\"600\"";
  if (style.turn_degrees != 0)
    attributes += fmt::format(" transform=\"rotate({} {} {})\"", px(style.turn_degrees), px(x), px(y));
  return attributes;
}

}  // namespace

Svg::Svg(double width, double height, const std::string& title, const std::string& description) {
  head_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "font-family=\"'Inter', 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif\">\n"
      "<title>{2}</title>\n<desc>{3}</desc>\n",
      px(width), px(height), escape_xml(title), escape_xml(description));
  rectangle(0, 0, width, height, Tone::paper);
}

void Svg::element(const std::string& tag, const std::string& attributes, const std::string& hover) {
  body_ += "<" + tag + " " + attributes;
  body_ += hover.empty() ? "/>\n" : "><title>" + escape_xml(hover) + "</title></" + tag + ">\n";
}

void Svg::line(double x1, double y1, double x2, double y2, Tone tone, double width, bool dashed) {
  element("line",
          fmt::format("x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}{}", px(x1), px(y1), px(x2), px(y2),
                      stroke(tone, width), dashed ? " stroke-dasharray=\"5 4\"" : ""),
          "");
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, Tone tone, double width, bool dashed) {
  std::string list;
  for (const auto& [x, y] : points) list += (list.empty() ? "" : " ") + px(x) + "," + px(y);
  element("polyline",
          fmt::format("points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}{}", list, stroke(tone, width),
                      dashed ? " stroke-dasharray=\"5 4\"" : ""),
          "");
}

void Svg::rectangle(double x, double y, double width, double height, Tone tone, const std::string& hover) {
  element(
      "rect",
      fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}", px(x), px(y), px(width), px(height), fill(tone)),
      hover);
}

void Svg::filled(double x, double y, double width, double height, const std::string& color, const std::string& hover) {
  element("rect",
          fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"", px(x), px(y), px(width), px(height),
                      escape_xml(color)),
          hover);
}

void Svg::outline(double x, double y, double width, double height, const std::string& color, double line_width) {
  element("rect",
          fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"",
                      px(x), px(y), px(width), px(height), escape_xml(color), px(line_width)),
          "");
}

void Svg::marker(double x, double y, int shape, Tone tone, const std::string& hover, double r) {
  const auto path = [&](std::initializer_list<std::pair<double, double>> corners) {
    std::string points;
    for (const auto& [dx, dy] : corners) points += (points.empty() ? "" : " ") + px(x + dx * r) + "," + px(y + dy * r);
    element("polygon", "points=\"" + points + "\" " + fill(tone), hover);
  };
  switch (shape % 6) {
    case 0:
      element("circle", fmt::format("cx=\"{}\" cy=\"{}\" r=\"{}\" {}", px(x), px(y), px(r), fill(tone)), hover);
      break;
    case 1: path({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}}); break;
    case 2: path({{0, -1.15}, {1.1, 0.8}, {-1.1, 0.8}}); break;
    case 3: path({{0, -1.25}, {1.25, 0}, {0, 1.25}, {-1.25, 0}}); break;
    case 4: path({{0, 1.15}, {1.1, -0.8}, {-1.1, -0.8}}); break;
    default:
      element("circle",
              fmt::format("cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"none\" {}", px(x), px(y), px(r), stroke(tone, 2)),
              hover);
  }
}

void Svg::text(double x, double y, const std::string& text, const TextStyle& style) {
  body_ += fmt::format("<text {} {}>{}</text>\n", text_attributes(x, y, style), fill(style.tone), escape_xml(text));
}

void Svg::text_on(double x, double y, const std::string& text, const TextStyle& style, const std::string& color) {
  body_ += fmt::format("<text {} fill=\"{}\">{}</text>\n", text_attributes(x, y, style), escape_xml(color),
                       escape_xml(text));
}

std::string Svg::str() const { return head_ + body_ + "</svg>\n"; }

Tone series_tone(int index) { return static_cast<Tone>(static_cast<int>(Tone::series_1) + index % 6); }

std::string svg_style_sheet() {
  std::string light, dark;
  for (const ToneLook& one : tones) {
    light += fmt::format(".f-{0}{{fill:{1}}}.k-{0}{{stroke:{1}}}\n", one.name, one.light);
    dark += fmt::format(".f-{0}{{fill:{1}}}.k-{0}{{stroke:{1}}}\n", one.name, one.dark);
  }
  return light + "@media (prefers-color-scheme: dark){\n" + dark + "}\n";
}

double text_width(const std::string& text, double size) {
  double em = 0;
  for (const char c : text) {
    if ((c & 0xC0) == 0x80) continue;  // inside a UTF-8 sequence
    const bool narrow = std::string_view(" .,:;'|!iIjlft()[]").find(c) != std::string_view::npos;
    const bool wide = std::string_view("mMwW%@").find(c) != std::string_view::npos;
    em += narrow ? 0.36 : wide ? 0.92 : (c >= 'A' && c <= 'Z') ? 0.70 : 0.61;
  }
  return em * size;
}

std::string fitted(const std::string& text, double size, double width) {
  if (text_width(text, size) <= width) return text;
  std::string kept = printable(text);
  while (!kept.empty() && text_width(kept + "…", size) > width) {
    while (!kept.empty() && (kept.back() & 0xC0) == 0x80) kept.pop_back();
    if (!kept.empty()) kept.pop_back();
  }
  return kept + "…";
}

std::vector<double> linear_ticks(double low, double high, int count) {
  if (!(high > low) || !std::isfinite(high - low) || count < 1) return {low};
  const double raw = (high - low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double nice : {1.0, 2.0, 2.5, 5.0})
    if (nice * power >= raw * 0.999) {
      step = nice * power;
      break;
    }
  std::vector<double> ticks;
  const double first = std::floor(low / step + 1e-9), last = std::ceil(high / step - 1e-9);
  for (double i = first; i <= last && ticks.size() < 100; ++i) ticks.push_back(i * step);
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  std::vector<double> all;
  const int first = static_cast<int>(std::floor(std::log10(low))), last = static_cast<int>(std::ceil(std::log10(high)));
  const bool tens_only = last - first > 4;
  for (int power = first; power <= last && all.size() < 200; ++power)
    for (const double digit : {1.0, 2.0, 5.0})
      if (digit == 1.0 || !tens_only) all.push_back(digit * std::pow(10.0, power));
  // The tightest run that still covers both ends.
  std::vector<double> ticks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool next_still_below = i + 1 < all.size() && all[i + 1] <= low * (1 + 1e-9);
    const bool before_already_above = i > 0 && all[i - 1] >= high * (1 - 1e-9);
    if (!next_still_below && !before_already_above) ticks.push_back(all[i]);
  }
  return ticks;
}

std::string tick_label(double value) {
  if (!std::isfinite(value)) return "";
  const double magnitude = std::fabs(value);
  if (magnitude < 1e-12) return "0";
  if (magnitude >= 1e7 || magnitude < 1e-4) return fmt::format("{:.3g}", value);
  std::string text = fmt::format("{:.4f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace hone::render

// A small SVG writer: shapes with rounded coordinates, so that the same values give the same text on every machine.
// Elements carry plain attributes (the light look, which every viewer and rsvg-convert show) and a class of the same meaning,
// which a page's style sheet may override (report.html does, for its dark look).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hone::render {

// What a colour means. Series colours are Okabe and Ito's palette, distinguishable under all common colour blindness.
enum class Tone { ink, muted, grid, paper, series_1, series_2, series_3, series_4, series_5, series_6 };

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = 12;  // px
  Anchor anchor = Anchor::start;
  Tone tone = Tone::ink;
  bool bold = false;
  double turn_degrees = 0;  // around the text's own place
};

class Svg {
 public:
  // `title` and `description` are read out by screen readers.
  Svg(double width, double height, const std::string& title, const std::string& description);

  void line(double x1, double y1, double x2, double y2, Tone tone, double width = 1, bool dashed = false);
  void polyline(const std::vector<std::pair<double, double>>& points, Tone tone, double width = 2, bool dashed = false);
  void rectangle(double x, double y, double width, double height, Tone fill, const std::string& hover = "");
  void filled(double x, double y, double width, double height, const std::string& color, const std::string& hover = "");
  void outline(double x, double y, double width, double height, const std::string& color, double line_width = 2);
  // Series differ in shape too: 0 circle, 1 square, 2 triangle, 3 diamond, 4 inverted triangle, 5 ring.
  void marker(double x, double y, int shape, Tone tone, const std::string& hover = "", double radius = 4.5);
  void text(double x, double y, const std::string& text, const TextStyle& style = {});
  // Text in a colour of its own, for labels on filled cells.
  void text_on(double x, double y, const std::string& text, const TextStyle& style, const std::string& color);

  std::string str() const;  // a standalone document, beginning with <svg

 private:
  void element(const std::string& tag, const std::string& attributes, const std::string& hover);

  std::string head_, body_;
};

// The n-th series' tone, repeating after six.
Tone series_tone(int index);

// The style sheet rules that give the classes their colours: for a page that holds SVGs inline, light and dark.
std::string svg_style_sheet();

// Width of a text in px, estimated from the metrics of common sans-serif fonts; for placing legends and clipping labels.
double text_width(const std::string& text, double size);

// The text, shortened with an ellipsis until it fits.
std::string fitted(const std::string& text, double size, double width);

// Tick values on round numbers (1, 2, 2.5, 5 times a power of ten) covering [low, high], about `count` of them.
std::vector<double> linear_ticks(double low, double high, int count);
// Ticks of a logarithmic axis: 1, 2, 5 times powers of ten within the decades that cover [low, high]; low > 0.
std::vector<double> log_ticks(double low, double high);
// A tick's label: as few digits as tell it from its neighbours; large powers of two as they are ("4096").
std::string tick_label(double value);

}  // namespace hone::render

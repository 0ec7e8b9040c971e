#include "render/terminal/progress.hpp"

#include <algorithm>
#include <cmath>

#include "render/format.hpp"

namespace hone::render {

namespace {

constexpr std::size_t bar_width = 16;

double clamped(double fraction) { return std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0; }

// Rounded down: 100 % stands only where all is done.
std::string whole_percent(double fraction) {
  return std::to_string(static_cast<int>(std::floor(fraction * 100 + 1e-9))) + " %";
}

std::string cut(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  if (width < 2) return width == 0 ? "" : "…";
  return wrap(text, width - 1).front() + "…";
}

}  // namespace

std::string progress_bar(const ProgressState& state, const Style& style) {
  const double fraction = clamped(state.fraction);
  const auto filled = static_cast<std::size_t>(std::floor(fraction * bar_width + 1e-9));
  const std::string done = whole_percent(fraction);
  std::string text = "[" + std::string(filled, '#') + std::string(bar_width - filled, '-') + "] " +
                     std::string(done.size() < 5 ? 5 - done.size() : 0, ' ') + done + "  " + duration(state.elapsed_s);
  const bool estimated = fraction >= 0.02 && fraction < 1 && state.elapsed_s >= 1;
  if (estimated) text += ", about " + duration(state.elapsed_s * (1 - fraction) / fraction) + " left";
  const std::string label = printable(state.label);
  const std::size_t used = display_width(text) + 2;
  if (!label.empty() && used + 4 < style.width) text += "  " + cut(label, style.width - used);
  return display_width(text) <= style.width ? text : cut(text, style.width);
}

std::string progress_line(const ProgressState& state) {
  return whole_percent(clamped(state.fraction)) + " after " + duration(state.elapsed_s) +
         (state.label.empty() ? "" : ": " + printable(state.label));
}

}  // namespace hone::render

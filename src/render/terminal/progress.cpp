#include "render/terminal/progress.hpp"

#include <cmath>
#include <vector>

#include "base/text.hpp"

namespace hone::render {

namespace {

std::string cut(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  if (width < 2) return width == 0 ? "" : "…";
  return wrap(text, width - 1).front() + "…";
}

}  // namespace

std::string time_left(double seconds) {
  if (!(seconds >= 0)) seconds = 0;
  if (seconds < 87.5) {
    const double step = seconds < 27.5 ? 5 : 10;
    return "about " + std::to_string(static_cast<int>(std::fmax(5, step * std::round(seconds / step)))) + " s left";
  }
  const auto minutes = static_cast<long long>(std::round(std::fmin(seconds, 1e7) / 60));
  if (minutes < 90) return "about " + std::to_string(minutes) + " min left";
  return "about " + std::to_string((minutes + 30) / 60) + " h left";
}

std::string progress_text(const ProgressState& state, const Style& style) {
  std::vector<std::string> parts;
  if (!state.stage.empty()) parts.push_back(printable(state.stage));
  std::string step = printable(state.step);
  if (state.total > 0) step += " " + std::to_string(state.done) + "/" + std::to_string(state.total);
  parts.push_back(std::move(step));
  if (state.left_s) parts.push_back(time_left(*state.left_s));
  if (!state.detail.empty()) parts.push_back(printable(state.detail));
  return cut(base::join_text(parts, " · "), style.width);
}

}  // namespace hone::render

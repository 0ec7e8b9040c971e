#include "render/plots/roofline.hpp"

#include <algorithm>
#include <cmath>

#include "render/format.hpp"
#include "render/plots/svg.hpp"

namespace hone::render {

namespace {

using model::Headroom;

struct Place {
  double intensity = 0, rate = 0;  // FLOP/byte, FLOP/s
  const Headroom* row = nullptr;
};

struct Roof {
  std::string name;
  double value = 0;
  bool dashed = false;
};

constexpr double kWidth = 720, kHeight = 440;
constexpr double kLeft = 88, kRight = 24, kTop = 64, kBottom = 88;

// Logarithmic axes over a plot area.
class Axes {
 public:
  Axes(double x_low, double x_high, double y_low, double y_high)
      : x_low_(std::log10(x_low)),
        x_high_(std::log10(x_high)),
        y_low_(std::log10(y_low)),
        y_high_(std::log10(y_high)) {}
  double x(double value) const {
    return kLeft + (std::log10(value) - x_low_) / (x_high_ - x_low_) * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    return kHeight - kBottom - (std::log10(value) - y_low_) / (y_high_ - y_low_) * (kHeight - kTop - kBottom);
  }

 private:
  double x_low_, x_high_, y_low_, y_high_;
};

std::vector<Place> places_of(const model::Profile& profile) {
  std::vector<Place> places;
  for (const Headroom& row : profile.headroom) {
    const double intensity = row.flops / row.bytes, rate = row.flops / (row.measured_ms * 1e-3);
    const bool drawable = std::isfinite(intensity) && std::isfinite(rate) && intensity > 0 && rate > 0;
    if (drawable && row.bytes > 0 && row.measured_ms > 0) places.push_back({intensity, rate, &row});
  }
  return places;
}

std::vector<Roof> flat_roofs(const model::Ceilings& ceilings) {
  std::vector<Roof> roofs;
  for (const char* name :
       {"fma_flops_per_s", "matrix_bf16_flops_per_s", "matrix_fp16_flops_per_s", "matrix_tf32_flops_per_s"})
    if (ceilings.p50(name) > 0) roofs.push_back({name, ceilings.p50(name), std::string(name) != "fma_flops_per_s"});
  return roofs;
}

double decade_below(double value) { return std::pow(10, std::floor(std::log10(value) - 0.05)); }
double decade_above(double value) { return std::pow(10, std::ceil(std::log10(value) + 0.05)); }

void draw_grid(Svg& svg, const Axes& axes, double x_low, double x_high, double y_low, double y_high) {
  for (double x = x_low; x <= x_high * 1.001; x *= 10) {
    svg.line(axes.x(x), kTop, axes.x(x), kHeight - kBottom, Tone::grid);
    svg.text(axes.x(x), kHeight - kBottom + 18, tick_label(x), {11, Anchor::middle, Tone::muted});
  }
  for (double y = y_low; y <= y_high * 1.001; y *= 10) {
    svg.line(kLeft, axes.y(y), kWidth - kRight, axes.y(y), Tone::grid);
    svg.text(kLeft - 6, axes.y(y) + 4, rate(y), {11, Anchor::end, Tone::muted});
  }
  svg.text((kLeft + kWidth - kRight) / 2, kHeight - kBottom + 38, "operations for each byte of minimum traffic",
           {12, Anchor::middle});
}

void draw_roofs(Svg& svg, const Axes& axes, double x_low, double x_high, double y_low, double copy,
                const std::vector<Roof>& roofs) {
  double highest = copy * x_high;
  if (!roofs.empty()) {
    highest = 0;
    for (const Roof& roof : roofs) highest = std::max(highest, roof.value);
  }
  const double from = std::max(x_low, y_low / copy), ridge = std::min(x_high, highest / copy);
  if (ridge > from)
    svg.polyline({{axes.x(from), axes.y(copy * from)}, {axes.x(ridge), axes.y(copy * ridge)}}, Tone::ink);
  svg.text(kLeft + 8, kTop + 14, "slope: copy bandwidth " + bandwidth(copy), {11, Anchor::start, Tone::ink});
  for (const Roof& roof : roofs) {
    const double begin = std::clamp(roof.value / copy, x_low, x_high);
    svg.line(axes.x(begin), axes.y(roof.value), kWidth - kRight, axes.y(roof.value), Tone::ink, 2, roof.dashed);
    svg.text(kWidth - kRight - 4, axes.y(roof.value) - 5, ceiling_title(roof.name) + " " + rate(roof.value),
             {11, Anchor::end});
  }
}

void draw_places(Svg& svg, const Axes& axes, const std::vector<Place>& places, const std::string& x_name) {
  std::vector<std::string> modes;
  for (const Place& place : places)
    if (std::find(modes.begin(), modes.end(), place.row->mode) == modes.end()) modes.push_back(place.row->mode);
  for (const Place& place : places) {
    const int index = static_cast<int>(std::find(modes.begin(), modes.end(), place.row->mode) - modes.begin());
    svg.marker(axes.x(place.intensity), axes.y(place.rate), index % 6, series_tone(index),
               place.row->mode + " at " + x_name + "=" + place.row->x_value + ": " + rate(place.rate) + ", " +
                   percent(100 * place.row->floor_ms / place.row->measured_ms) + " of its ceiling");
  }
  double x = kLeft;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const int index = static_cast<int>(i);
    svg.marker(x + 6, kHeight - 22, index % 6, series_tone(index));
    svg.text(x + 16, kHeight - 18, modes[i], {12});
    x += 34 + text_width(modes[i], 12);
  }
}

}  // namespace

std::string roofline(const model::Profile& profile) {
  const std::vector<Place> places = places_of(profile);
  const double copy = profile.device.ceilings.p50("copy_bytes_per_s");
  if (places.empty() || !(copy > 0)) return "";
  const std::vector<Roof> roofs = flat_roofs(profile.device.ceilings);

  double x_low = places[0].intensity, x_high = places[0].intensity, y_low = places[0].rate, y_high = places[0].rate;
  for (const Place& place : places) {
    x_low = std::min(x_low, place.intensity), x_high = std::max(x_high, place.intensity);
    y_low = std::min(y_low, place.rate), y_high = std::max(y_high, std::max(place.rate, copy * place.intensity));
  }
  for (const Roof& roof : roofs) x_high = std::max(x_high, roof.value / copy), y_high = std::max(y_high, roof.value);
  x_low = decade_below(x_low), x_high = decade_above(x_high), y_low = decade_below(y_low),
  y_high = decade_above(y_high);

  Svg svg(kWidth, kHeight, profile.kernel + ": roofline",
          "Each pass by operations for each byte and operations for each second, under the measured ceilings of " +
              profile.device.name);
  svg.text(kLeft, 24, fitted(profile.kernel + ": passes under the measured roofs", 15, kWidth - kLeft - kRight),
           {15, Anchor::start, Tone::ink, true});
  svg.text(
      kLeft, 44,
      fitted(profile.device.name + "; minimum traffic, counted operations, measured time", 12, kWidth - kLeft - kRight),
      {12, Anchor::start, Tone::muted});
  const Axes axes(x_low, x_high, y_low, y_high);
  draw_grid(svg, axes, x_low, x_high, y_low, y_high);
  draw_roofs(svg, axes, x_low, x_high, y_low, copy, roofs);
  draw_places(svg, axes, places, profile.baseline.x_name.empty() ? "x" : profile.baseline.x_name);
  return svg.str();
}

std::string capture_roofline(const std::vector<CapturedPlace>& places) {
  std::vector<std::size_t> drawn;
  double x_low = 1, x_high = 1, y_low = 100;
  bool measured = false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const CapturedPlace& place = places[i];
    const bool drawable = place.compute_pct > 0 && place.memory_pct > 0 && std::isfinite(place.compute_pct) &&
                          std::isfinite(place.memory_pct);
    if (!drawable) continue;
    drawn.push_back(i);
    x_low = std::min(x_low, place.compute_pct / place.memory_pct);
    x_high = std::max(x_high, place.compute_pct / place.memory_pct);
    y_low = std::min(y_low, place.compute_pct);
    measured = measured || place.measured_ceiling;
  }
  if (drawn.empty()) return "";
  x_low = decade_below(x_low), x_high = decade_above(x_high), y_low = decade_below(y_low);
  constexpr double kRow = 18;
  const double height = kHeight + kRow * static_cast<double>(drawn.size());
  Svg svg(kWidth, height, "captured kernels: roofline",
          "Each captured kernel by how much busier compute is than memory, and by its share of the SMs' peak");
  svg.text(kLeft, 24, "captured kernels under the roofs of their device", {15, Anchor::start, Tone::ink, true});
  svg.text(kLeft, 44,
           std::string("shares of the SMs' nominal peak and of ") +
               (measured ? "the measured copy ceiling, or of a busier cache" : "nominal memory peaks"),
           {12, Anchor::start, Tone::muted});
  const Axes axes(x_low, x_high, y_low, 100);
  for (double x = x_low; x <= x_high * 1.001; x *= 10) {
    svg.line(axes.x(x), kTop, axes.x(x), kHeight - kBottom, Tone::grid);
    svg.text(axes.x(x), kHeight - kBottom + 18, tick_label(x), {11, Anchor::middle, Tone::muted});
  }
  for (double y = y_low; y <= 100.1; y *= 10) {
    svg.line(kLeft, axes.y(y), kWidth - kRight, axes.y(y), Tone::grid);
    svg.text(kLeft - 6, axes.y(y) + 4, tick_label(y) + " %", {11, Anchor::end, Tone::muted});
  }
  svg.text((kLeft + kWidth - kRight) / 2, kHeight - kBottom + 38,
           "compute over memory, each as a share of its peak (1: equally busy)", {12, Anchor::middle});
  const double from = std::max(x_low, y_low / 100);
  svg.polyline({{axes.x(from), axes.y(100 * from)}, {axes.x(1), axes.y(100)}, {axes.x(x_high), axes.y(100)}},
               Tone::ink);
  svg.text(kLeft + 8, kTop + 14, "slope: memory at its peak; flat: the SMs at theirs", {11, Anchor::start, Tone::ink});
  double row = kHeight - kBottom + 64;
  for (const std::size_t i : drawn) {
    const CapturedPlace& place = places[i];
    const int index = static_cast<int>(i);
    const std::string label = std::to_string(i + 1) + "  compute " + percent(place.compute_pct) + ", memory " +
                              percent(place.memory_pct) + ": " + place.name;
    const double x = axes.x(place.compute_pct / place.memory_pct), y = axes.y(std::min(place.compute_pct, 100.0));
    svg.marker(x, y, index % 6, series_tone(index), label);
    svg.text(x + 8, y + 4, std::to_string(i + 1), {11, Anchor::start, Tone::ink});
    svg.marker(kLeft + 6, row - 4, index % 6, series_tone(index));
    svg.text(kLeft + 18, row, fitted(label, 12, kWidth - kLeft - kRight - 18), {12});
    row += kRow;
  }
  return svg.str();
}

std::string stall_bar(const model::CounterSummary& kernel) {
  if (kernel.stalls.empty()) return "";
  constexpr double kBarTop = 52, kBarHeight = 28, kSide = 16, kBarWidth = kWidth - 2 * kSide;
  const double height = 128;
  Svg svg(kWidth, height, kernel.name + ": warp stalls",
          "Share of the cycles between two instructions of a warp, by stall reason");
  svg.text(kSide, 22, fitted(kernel.name, 14, kBarWidth), {14, Anchor::start, Tone::ink, true});
  svg.text(kSide, 40, "cycles between two instructions of a warp, by what it waits for",
           {11, Anchor::start, Tone::muted});
  svg.rectangle(kSide, kBarTop, kBarWidth, kBarHeight, Tone::grid, "the rest");
  double at = 0, legend = kSide;
  for (std::size_t i = 0; i < kernel.stalls.size(); ++i) {
    const model::Stall& stall = kernel.stalls[i];
    if (!std::isfinite(stall.pct) || !(stall.pct > 0)) continue;
    const double share = std::min(stall.pct, 100 - at);
    const Tone tone = series_tone(static_cast<int>(i));
    const std::string label = stall.reason + " " + percent(stall.pct);
    svg.rectangle(kSide + at / 100 * kBarWidth, kBarTop, share / 100 * kBarWidth, kBarHeight, tone, label);
    svg.rectangle(legend, kBarTop + kBarHeight + 16, 12, 12, tone);
    svg.text(legend + 18, kBarTop + kBarHeight + 26, label, {12});
    legend += 38 + text_width(label, 12);
    at += share;
  }
  return svg.str();
}

std::string stall_bar_name(int number) { return "stalls_" + std::to_string(number) + ".svg"; }

std::vector<Plot> profile_plots(const model::Profile& profile) {
  std::vector<Plot> plots;
  if (std::string svg = roofline(profile); !svg.empty()) plots.push_back({kRooflineName, "Roofline", std::move(svg)});
  int number = 0;
  for (const model::CounterSummary& kernel : profile.counters.kernels) {
    if (!kernel.owner.empty()) continue;
    ++number;
    if (std::string svg = stall_bar(kernel); !svg.empty())
      plots.push_back({stall_bar_name(number), "Warp stalls of " + kernel.name, std::move(svg)});
  }
  return plots;
}

}  // namespace hone::render

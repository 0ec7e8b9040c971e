#include "diagnose/figures.hpp"

#include <fmt/format.h>

#include <array>

namespace hone::diagnose {

namespace {

// `value` scaled to the largest of the decimal prefixes that leaves at least 1 before the point.
std::string scaled(double value, const char* unit) {
  static constexpr std::array prefixes{"", "k", "M", "G", "T", "P"};
  std::size_t step = 0;
  while (std::abs(value) >= 999.5 && step + 1 < prefixes.size()) {
    value /= 1000;
    ++step;
  }
  return number(value) + " " + prefixes[step] + unit;
}

}  // namespace

std::string number(double value) {
  if (!known(value)) return "unknown";
  const double magnitude = std::abs(value);
  if (magnitude >= 99.95) return fmt::format("{:.0f}", value);
  if (magnitude >= 9.995) return fmt::format("{:.1f}", value);
  if (magnitude >= 0.9995) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3g}", value);
}

std::string quantity(double value) {
  const bool whole = known(value) && std::abs(value - std::round(value)) < 1e-6;
  return whole ? fmt::format("{:.0f}", value) : number(value);
}

std::string percent(double pct) { return known(pct) ? fmt::format("{:.1f} %", pct) : "unknown"; }

std::string milliseconds(double ms) {
  if (known(ms) && std::abs(ms) < 0.1) return number(ms * 1000) + " us";
  return known(ms) && std::abs(ms) >= 1000 ? number(ms / 1000) + " s" : number(ms) + " ms";
}

std::string bytes_text(double bytes) { return scaled(bytes, "B"); }
std::string bandwidth(double bytes_per_s) { return scaled(bytes_per_s, "B/s"); }
std::string flop_rate(double flops_per_s) { return scaled(flops_per_s, "FLOP/s"); }
std::string amount(double value) {
  std::string text = scaled(value, "");
  if (text.back() == ' ') text.pop_back();
  return text;
}
std::string times(double factor) { return number(factor) + " x"; }

}  // namespace hone::diagnose

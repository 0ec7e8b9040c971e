#include "model/speedup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hone::model {

namespace {

constexpr double kSame = 0.0005;  // under this no digit of the texts would show a change

bool is_ratio(double value) { return std::isfinite(value) && value > 0; }
bool is_same(double ratio) { return std::fabs(ratio - 1) < kSame; }
bool is_faster(double ratio) { return ratio < 1; }

// What the larger time is of the smaller: two digits that differ from 1, "1.004", "1.05", "1.3", "6.7", "23".
std::string factor(double time_ratio) {
  const double times = std::max(time_ratio, 1 / time_ratio);
  std::string text = fmt::format("{:.{}f}", times, times < 1.0095 ? 3 : times < 1.995 ? 2 : times < 9.95 ? 1 : 0);
  if (times < 1.995 && times > 1.0095 && text.back() == '0') text.pop_back();
  return text + "x";
}

std::string digits(double pct) { return fmt::format("{:.{}f}", pct, pct < 9.95 ? 1 : 0); }
double percent(double ratio) { return 100 * std::fabs(1 - ratio); }
const char* side(double ratio) { return is_faster(ratio) ? "faster" : "slower"; }
const char* amount(double ratio) { return is_faster(ratio) ? "less time" : "more time"; }

}  // namespace

std::string speed_factor(double time_ratio) {
  if (!is_ratio(time_ratio)) return "not a number";
  return is_same(time_ratio) ? "the same time" : factor(time_ratio) + " " + side(time_ratio);
}

std::string speed_change(double time_ratio) {
  if (!is_ratio(time_ratio) || is_same(time_ratio)) return speed_factor(time_ratio);
  return fmt::format("{} ({} % {})", speed_factor(time_ratio), digits(percent(time_ratio)), amount(time_ratio));
}

std::string speed_change(double a, double b) {
  if (!is_ratio(a) || !is_ratio(b) || is_same(a) || is_same(b) || is_faster(a) != is_faster(b))
    return speed_change(a) + " to " + speed_change(b);
  if (std::fabs(1 - a) > std::fabs(1 - b)) std::swap(a, b);
  const std::string low = factor(a), high = factor(b), least = digits(percent(a)), most = digits(percent(b));
  if (low == high && least == most) return speed_change(a);
  return fmt::format("{}{} {} ({}{} % {})", low == high ? "" : low + " to ", high, side(a),
                     least == most ? "" : least + " to ", most, amount(a));
}

std::string speed_claim(double time_ratio, double ci_low, double ci_high) {
  const bool shown = is_ratio(time_ratio) && (ci_high < 1 || ci_low > 1);
  return fmt::format("{}, ratio {:.3f} ({:.3f} to {:.3f})", shown ? speed_change(time_ratio) : "no change shown",
                     time_ratio, ci_low, ci_high);
}

}  // namespace hone::model

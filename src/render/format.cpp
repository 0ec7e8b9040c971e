#include "render/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace hone::render {

namespace {

std::string scaled(double value, double base, const std::array<const char*, 6>& units) {
  if (!std::isfinite(value)) return "not a number";
  std::size_t unit = 0;
  // 999.5 would round up to a fourth digit: it belongs to the next unit.
  while (std::fabs(value) >= (base == 1000 ? 999.5 : 1023.5) && unit + 1 < units.size()) {
    value /= base;
    ++unit;
  }
  return figure(value) + " " + units[unit];
}

}  // namespace

std::string figure(double value, int significant_digits) {
  if (!std::isfinite(value)) return "not a number";
  if (value == 0) return "0";
  const double magnitude = std::fabs(value);
  if (magnitude >= 1e6 || magnitude < 1e-5) return fmt::format("{:.{}e}", value, significant_digits - 1);
  // Round first: 9.996 has its point where 10.0 has it.
  const double lead = std::floor(std::log10(magnitude));
  const double step = std::pow(10.0, lead - significant_digits + 1);
  const double rounded = std::round(value / step) * step;
  const int decimals = significant_digits - 1 - static_cast<int>(std::floor(std::log10(std::fabs(rounded)) + 1e-9));
  return fmt::format("{:.{}f}", rounded, std::max(0, decimals));
}

std::string figure_or(std::optional<double> value, const std::string& otherwise) {
  return value ? figure(*value) : otherwise;
}

std::string percent(double value) {
  if (!std::isfinite(value)) return "not a number";
  if (std::fabs(value) < 9.95) return fmt::format("{:.1f} %", value);
  return figure(value) + " %";
}

std::string bytes(double count) {
  if (std::isfinite(count) && std::fabs(count) < 1023.5) return fmt::format("{:.0f} B", count);
  return scaled(count, 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string bandwidth(double bytes_per_second) {
  return scaled(bytes_per_second, 1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"});
}

std::string rate(double operations_per_second) {
  return scaled(operations_per_second, 1000, {"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"});
}

std::string ratio(double value) { return std::isfinite(value) ? fmt::format("{:.3f}", value) : "not a number"; }

std::string ratio_interval(double value, double low, double high) {
  return ratio(value) + " [" + ratio(low) + ", " + ratio(high) + "]";
}

std::string speed_ratio(double value, double low, double high) {
  return value == 1 && low == 1 && high == 1 ? "1 (same code)" : ratio_interval(value, low, high);
}

std::string share_interval(double share_pct, const model::PairedShare& paired) {
  if (paired.pairs == 0) return percent(share_pct);
  return fmt::format("{} [{:.1f}, {:.1f}]", percent(share_pct), paired.low_pct, paired.high_pct);
}

std::string spread(double p20, double p80) { return figure(p20) + " to " + figure(p80); }

std::string speedup(double time_ratio) {
  if (!std::isfinite(time_ratio) || time_ratio <= 0) return "not a number";
  return fmt::format("{:.2f}x", 1 / time_ratio);
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "unknown";
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  const auto whole = static_cast<std::int64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string count_of(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string ceiling_value(const std::string& name, double value) {
  if (name.ends_with("_bytes_per_s")) return bandwidth(value);
  if (name.ends_with("_flops_per_s")) return rate(value);
  if (name.ends_with("_ns")) return figure(value) + " ns";
  return figure(value);
}

namespace {

// In the order in which they are shown.
constexpr std::array ceiling_titles{std::pair{"copy_bytes_per_s", "copy bandwidth"},
                                    std::pair{"copy_streaming_bytes_per_s", "copy bandwidth, streaming stores"},
                                    std::pair{"read_bytes_per_s", "read bandwidth"},
                                    std::pair{"write_bytes_per_s", "write bandwidth"},
                                    std::pair{"write_streaming_bytes_per_s", "write bandwidth, streaming stores"},
                                    std::pair{"l2_bytes_per_s", "L2 bandwidth"},
                                    std::pair{"fma_flops_per_s", "FMA rate, fp32"},
                                    std::pair{"matrix_tf32_flops_per_s", "matrix rate, tf32"},
                                    std::pair{"matrix_bf16_flops_per_s", "matrix rate, bf16"},
                                    std::pair{"matrix_fp16_flops_per_s", "matrix rate, fp16"},
                                    std::pair{"memory_latency_ns", "memory latency"},
                                    std::pair{"launch_latency_ns", "launch latency"}};

}  // namespace

std::string ceiling_title(const std::string& name) {
  for (const auto& [known, title] : ceiling_titles)
    if (name == known) return title;
  return name;
}

std::vector<std::string> ceilings_in_order(const model::Ceilings& ceilings) {
  std::vector<std::string> names;
  for (const auto& [known, title] : ceiling_titles)
    if (ceilings.by_name.count(known) > 0) names.push_back(known);
  for (const auto& [name, ceiling] : ceilings.by_name)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

}  // namespace hone::render

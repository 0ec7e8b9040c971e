// Figures as people read them: three significant digits and a unit. Documents for machines keep the full number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/device_info.hpp"
#include "model/timing.hpp"

namespace hone::render {

// "0.0471", "1.23", "45.6", "789", "1230", "1.23e+09": three significant digits, never a trailing exponent below a million.
// A value that is not finite is "not a number".
std::string figure(double value, int significant_digits = 3);
std::string figure_or(std::optional<double> value, const std::string& otherwise);

std::string percent(double value);               // "12.5 %"; less than ten in two digits, "1.3 %"
std::string bytes(double count);                 // "512 B", "1.50 KiB", "128 MiB"
std::string bandwidth(double bytes_per_second);  // "4.27 TB/s"
std::string rate(double operations_per_second);  // "727 TFLOP/s"
std::string ratio(double value);                 // three decimals: "0.871"
std::string ratio_interval(double value, double low, double high);
// The same of a speed: an interval without width is that of one machine code, whose time was not taken twice.
std::string speed_ratio(double value, double low, double high);  // "0.871 [0.862, 0.880]"
// "91.2 % [89.9, 93.0]" of a share with pairs, otherwise "91.2 %".
std::string share_interval(double share_pct, const model::PairedShare& paired);
std::string spread(double p20, double p80);  // "0.0468 to 0.0480"
std::string speedup(double time_ratio);      // 0.5 -> "2.00x"; candidate over baseline, so smaller is faster
std::string duration(double seconds);        // "850 ms", "12 s", "3 min 05 s", "2 h 10 min"
std::string count_of(std::int64_t count, const std::string& noun);  // "1 row", "3 rows"

// A ceiling by its contract name with its unit: "copy_bytes_per_s" -> "4.27 TB/s", "launch_latency_ns" -> "2300 ns".
std::string ceiling_value(const std::string& name, double value);
std::string ceiling_title(
    const std::string& name);  // "copy bandwidth"; the name itself where it is not one of the fixed ones
std::vector<std::string> ceilings_in_order(
    const model::Ceilings& ceilings);  // bandwidths first, then rates, then latencies

}  // namespace hone::render

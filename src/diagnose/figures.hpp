// Numbers as they stand in sentences: three significant digits with the unit a person would choose.
#pragma once

#include <cmath>
#include <limits>
#include <string>

namespace hone::diagnose {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
inline bool known(double value) { return std::isfinite(value); }
// The smaller, or larger, of two figures either of which may be unknown.
inline double least_known(double a, double b) { return !known(a) ? b : !known(b) ? a : std::fmin(a, b); }
inline double most_known(double a, double b) { return !known(a) ? b : !known(b) ? a : std::fmax(a, b); }

std::string number(double value);           // "4.27", "128", "0.0312"
std::string quantity(double value);         // of countable things: "2", "1.5", "16384"
std::string percent(double pct);            // "92.4 %"
std::string milliseconds(double ms);        // "4.10 ms", "63.4 us"
std::string bytes_text(double bytes);       // "268 MB" (powers of ten, as bandwidth is)
std::string bandwidth(double bytes_per_s);  // "4.27 TB/s"
std::string flop_rate(double flops_per_s);  // "51.2 GFLOP/s"
std::string amount(double value);           // "168 M": operations, by powers of ten
std::string times(double factor);           // "1.64 x"

}  // namespace hone::diagnose

// A ratio of two times, new over old, as people say it: one wording for messages, reports, pull requests and the terminal. Tables
// keep the ratio with its interval beside it.
#pragma once

#include <string>

namespace hone::model {

// "6.7x faster", "1.05x faster", "1.3x slower", "the same time". Ratios that are no positive number are "not a number".
std::string speed_factor(double time_ratio);

// "6.7x faster (85 % less time)", "1.3x slower (30 % more time)".
std::string speed_change(double time_ratio);

// Two ratios on the same side of 1: "1.17x to 1.28x faster (15 to 22 % less time)".
std::string speed_change(double a, double b);

// With the interval that stands behind it: "6.7x faster (85 % less time), ratio 0.150 (0.149 to 0.151)"; an interval that
// includes 1 shows no change: "no change shown, ratio 0.998 (0.990 to 1.006)".
std::string speed_claim(double time_ratio, double ci_low, double ci_high);

}  // namespace hone::model

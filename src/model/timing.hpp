// Measured times and paired comparisons as values.
#pragma once

#include <string>
#include <vector>

#include "model/values.hpp"

namespace hone::model {

// One timed run of a kernel pass.
struct Sample {
  double device_ns = 0;  // the kernel alone
  double wall_ns = 0;    // as the caller sees it, launch and synchronization included
  double clock_mhz = 0;  // around the sample; 0 where the device does not tell
  bool slowed = false;   // the device says that heat or its power supply lowered the clock meanwhile
  bool operator==(const Sample&) const = default;
};

// Quantiles of a set of samples; `samples` is how many stand behind them.
struct Quantiles {
  double p20 = 0, p50 = 0, p80 = 0;
  int samples = 0;
  bool operator==(const Quantiles&) const = default;
};

// A share of a ceiling whose program alternated with the kernel: the median of the ratios of pairs, and the 95 % interval of
// that median (below 6 pairs: the smallest and the largest). Without pairs the share rests on ceilings measured before.
struct PairedShare {
  double low_pct = 0, high_pct = 0;
  int pairs = 0;
  bool operator==(const PairedShare&) const = default;
};

// A paired comparison: ratio = candidate time / baseline time, with its bootstrap interval.
struct Comparison {
  double ratio = 0, ci_low = 0, ci_high = 0;
  Verdict verdict = Verdict::unresolved;
  Quantiles baseline_ms, candidate_ms;  // device time
  double wall_ratio = 0;
  int pairs = 0;
  int discarded = 0;                                              // samples dropped for throttled clocks or contention
  std::string reason;                                             // why unresolved, or what ended the sampling
  std::vector<double> baseline_samples_ns, candidate_samples_ns;  // raw device times, in the order taken
  bool operator==(const Comparison&) const = default;
};

// What could have been seen at all: the baseline against a byte copy of itself.
struct NoiseFloor {
  std::string x_value, mode;
  double smallest_effect_pct = 0;  // largest distance of the A/A interval from 1, in percent
  Comparison comparison;
  bool operator==(const NoiseFloor&) const = default;
};

}  // namespace hone::model

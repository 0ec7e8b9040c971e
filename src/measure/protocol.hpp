// The measuring protocol: single timings for tables, paired comparisons for verdicts, A/A for the noise floor.
// Thresholds and reasons: docs/measuring.md.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "measure/subject.hpp"
#include "model/timing.hpp"

namespace hone::measure {

// How long a measurement goes on. It counts rounds (one run of each subject, or one block of a comparison): how long a round
// takes is up to the kernel and the machine. The time is an aim that min_samples may exceed, kMostStretch times at most; what
// even that does not hold ends with fewer samples, kFewestRounds rounds at least, and says so. Time alone is never an error.
struct Budget {
  int min_samples = 10;                 // per subject
  int max_samples = 400;                // per subject
  std::int64_t aim_ns = 2'000'000'000;  // wall time of the whole measurement, restoring included
  int warmup = 2;                       // runs before the first sample, not kept
  double target_half_width_pct = 0.5;   // stop when the interval is this narrow
};
inline constexpr int kFewestRounds = 3;
inline constexpr int kMostStretch = 8;

struct CompareOptions {
  Budget budget;
  double smallest_effect_pct = 1.0;  // `same`: the interval lies inside 1 +- this
  double confidence = 0.95;
  double noise_floor_pct = 0;  // of this cell's A/A comparison: a smaller effect is never a verdict
  double floor_ns = 0;         // physical bound of the pass; 0 = none. Faster than it stops the comparison
  std::uint64_t seed = 0;      // of the bootstrap and of the order of pairs
  int patience = 1;  // what is undecided then and may hide a gain gets this many times the aim and max_samples
};

struct Timing {
  model::Quantiles device_ms, wall_ms;
  std::vector<model::Sample> samples;  // raw
  int discarded = 0;
  std::string note;  // throttling, contention, budget
  bool kept_disturbed =
      false;         // too many samples were disturbed to set them aside: all are kept, and the spread shows it
  bool few = false;  // fewer than Budget::min_samples
};

// Interleaves any number of subjects round by round, for tables: one timing for each, in order, then one for each reference.
// Nothing is decided on `references` (slow baselines, as a rule): kFewestRounds runs of each, the first one included where it
// is slow, and further ones while they take no more time than the subjects. While too many samples are disturbed it goes on
// until three times the aim, then keeps them. Errors: a sample failed, or its time is none (untrusted).
base::Result<std::vector<Timing>> interleave(const std::vector<Subject*>& subjects, base::Clock& clock,
                                             const Budget& budget, const std::vector<Subject*>& references = {});

// The same for one subject.
base::Result<Timing> time(Subject& subject, base::Clock& clock, const Budget& budget);

// Alternates baseline and candidate (A B B A ...) in one session and judges the ratio by its interval.
// A candidate below the physical bound is the error kind `gate` with "faster than the physical bound".
base::Result<model::Comparison> compare(Subject& baseline, Subject& candidate, base::Clock& clock,
                                        const CompareOptions& options);

// Whether a comparison ended because a time lies below options.floor_ns: the candidate's (gate), or the baseline's alone
// (untrusted).
bool is_below_floor(const base::Error& error);

// The baseline against a byte copy of itself, reached the same way: the smallest effect that could have been seen.
base::Result<model::NoiseFloor> noise_floor(Subject& baseline, Subject& byte_copy, base::Clock& clock,
                                            const CompareOptions& options);

}  // namespace hone::measure

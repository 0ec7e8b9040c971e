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

struct Budget {
  int min_samples = 10;                 // per subject; below it there is no summary
  int max_samples = 400;                // per subject
  std::int64_t max_ns = 2'000'000'000;  // wall time of the whole measurement, restoring included
  int warmup = 2;                       // runs before the first sample, not kept
  double target_half_width_pct = 0.5;   // stop when the interval is this narrow
  // Tables may show what a busy machine gave: over the allowed share of disturbed samples, all are kept and the note says so.
  // Never for comparisons.
  bool keep_disturbed = false;
};

struct CompareOptions {
  Budget budget;
  double smallest_effect_pct = 1.0;  // `same`: the interval lies inside 1 +- this
  double confidence = 0.95;
  double noise_floor_pct = 0;  // of this cell's A/A comparison: a smaller effect is never a verdict
  double floor_ns = 0;         // physics floor of the pass; 0 = none. Faster than it stops the comparison
  std::uint64_t seed = 0;      // of the bootstrap and of the order of pairs
};

struct Timing {
  model::Quantiles device_ms, wall_ms;
  std::vector<model::Sample> samples;  // raw
  int discarded = 0;
  std::string note;             // throttling, contention, budget
  bool kept_disturbed = false;  // too many samples were disturbed, and all were kept: Budget::keep_disturbed
};

// Times one subject. Errors: a sample failed; untrusted when the samples can not be used (reason given).
base::Result<Timing> time(Subject& subject, base::Clock& clock, const Budget& budget);

// Alternates baseline and candidate (A B B A ...) in one session and judges the ratio by its bootstrap interval.
// A candidate below the physics floor is the error kind `gate` with "faster than the physics floor".
base::Result<model::Comparison> compare(Subject& baseline, Subject& candidate, base::Clock& clock,
                                        const CompareOptions& options);

// Whether a comparison ended because a time lies below options.floor_ns: the candidate's (gate), or the baseline's alone
// (untrusted).
bool is_below_floor(const base::Error& error);

// The baseline against a byte copy of itself, reached the same way: the smallest effect that could have been seen.
base::Result<model::NoiseFloor> noise_floor(Subject& baseline, Subject& byte_copy, base::Clock& clock,
                                            const CompareOptions& options);

// As interleave, for tables: where too many samples are disturbed, again with twice the samples and the time, and again; then
// what there is, with kept_disturbed. A burst of other load costs no table; it may cost one row its trust.
base::Result<std::vector<Timing>> interleave_for_table(const std::vector<Subject*>& subjects, base::Clock& clock,
                                                       Budget budget);

// Interleaves any number of subjects round by round (three-way tables, provider tables): one timing for each, in order.
base::Result<std::vector<Timing>> interleave(const std::vector<Subject*>& subjects, base::Clock& clock,
                                             const Budget& budget);

}  // namespace hone::measure

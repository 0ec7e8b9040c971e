// The fields of measured times and paired comparisons.
#pragma once

#include "model/fields.hpp"
#include "model/timing.hpp"

namespace hone::model {

// Of a value that has p20, p50, p80 and samples among other fields.
void quantile_fields(auto& archive, auto& q) {
  archive.required("p20", q.p20, As::not_negative);
  archive.required("p50", q.p50, As::not_negative);
  archive.required("p80", q.p80, As::not_negative);
  archive.optional("samples", q.samples);
  archive.check(q.p20 <= q.p50 && q.p50 <= q.p80, "p50", "quantiles in order, p20 <= p50 <= p80",
                [&] { return shortest(q.p20) + ", " + shortest(q.p50) + ", " + shortest(q.p80); });
}

void fields(auto& archive, of<Quantiles> auto& quantiles) { quantile_fields(archive, quantiles); }

void fields(auto& archive, of<PairedShare> auto& share) {
  archive.optional("pairs", share.pairs);
  archive.required("low_pct", share.low_pct, As::not_negative);
  archive.required("high_pct", share.high_pct, As::not_negative);
}

void interval_fields(auto& archive, auto& interval) {
  archive.required("ratio", interval.ratio);
  archive.required("ci_low", interval.ci_low);
  archive.required("ci_high", interval.ci_high);
  archive.check(interval.ci_low <= interval.ci_high, "ci_low", "an interval, ci_low <= ci_high",
                [&] { return shortest(interval.ci_low) + " to " + shortest(interval.ci_high); });
  archive.check(!(interval.ratio < 0), "ratio", "a ratio of times, not negative",
                [&] { return shortest(interval.ratio); });
}

void fields(auto& archive, of<Comparison> auto& comparison) {
  interval_fields(archive, comparison);
  archive.required("verdict", comparison.verdict);
  archive.optional("baseline_ms", comparison.baseline_ms);
  archive.optional("candidate_ms", comparison.candidate_ms);
  archive.optional("wall_ratio", comparison.wall_ratio);
  archive.optional("pairs", comparison.pairs);
  archive.optional("discarded", comparison.discarded);
  archive.optional("reason", comparison.reason);
  archive.optional("baseline_samples_ns", comparison.baseline_samples_ns);
  archive.optional("candidate_samples_ns", comparison.candidate_samples_ns);
}

void fields(auto& archive, of<NoiseFloor> auto& floor) {
  archive.required("x_value", floor.x_value, As::x_value);
  archive.required("mode", floor.mode);
  archive.required("smallest_effect_pct", floor.smallest_effect_pct, As::not_negative);
  archive.optional("comparison", floor.comparison);
}

}  // namespace hone::model

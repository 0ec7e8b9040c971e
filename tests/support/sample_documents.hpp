// Whole documents with realistic values, for tests of what reads, writes and renders them. Every figure agrees with the
// others (headroom with baseline and ceilings, winner with results); nothing here was measured.
#pragma once

#include "model/profile.hpp"
#include "model/report.hpp"
#include "model/variant.hpp"

namespace hone::test {

// rms_norm, built in, bf16 on a CPU: no hardware counters, so the counter-free experiments stand in their place.
model::Profile sample_profile();

// rms_norm of a Liger checkout on an H200, with an Nsight Compute capture of forward and backward.
model::Profile sample_gpu_profile();

// Of sample_profile's kernel: v1 (the sweep, accepted), v2 (rejected), v3 (accepted, the winner), v4 (failed to compile).
model::ComparisonDocument sample_comparison();

// The winner as a file: settings by pass and size.
model::Variant sample_variant();

// The notebook of v3, with its results and before them.
model::Notes sample_notes();
model::Notes sample_notes_before_results();

// The three ends of a run.
model::Report sample_report_applied();
model::Report sample_report_reverted();
model::Report sample_report_nothing_to_gain();

}  // namespace hone::test

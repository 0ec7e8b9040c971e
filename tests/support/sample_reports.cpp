#include <array>
#include <utility>

#include "tests/support/sample_documents.hpp"

namespace hone::test {

namespace {

using namespace model;

constexpr std::array sizes{"1024", "2048", "4096", "8192"};

SettingsFunction settings(std::int64_t block_row, std::int64_t streaming) {
  return {"hidden_size",
          {{0,
            {{"BLOCK_ROW", 8}, {"streaming_stores", streaming}, {"tile_width", 16}},
            "short rows: hide the first line's latency"},
           {4096,
            {{"BLOCK_ROW", block_row}, {"streaming_stores", streaming}, {"tile_width", 16}},
            "long rows stream by themselves"}},
          1.3,
          "Two settings are enough: the worst size is 1.3 % from its own best, checked at 3072 and 6144 too."};
}

// Result rows of one variant: the ratio at each size for forward and backward.
std::vector<ResultRow> results(const std::array<double, 4>& forward, const std::array<double, 4>& backward,
                               double half_width) {
  const Profile profile = sample_profile();
  std::vector<ResultRow> rows;
  const auto add = [&](const char* mode, const std::array<double, 4>& ratios) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
      for (const BaselineRow& base : profile.baseline.rows) {
        if (base.x_value != sizes[i] || base.mode != mode || base.provider != "hone" || base.metric != "speed")
          continue;
        ResultRow row;
        row.x_value = sizes[i];
        row.mode = mode;
        row.metric = "speed";
        row.unit = "ms";
        row.baseline = {base.p20, base.p50, base.p80, 40};
        row.ratio = ratios[i];
        row.candidate = {base.p20 * ratios[i], base.p50 * ratios[i], base.p80 * ratios[i], 40};
        row.ci_low = ratios[i] - half_width;
        row.ci_high = ratios[i] + half_width;
        row.verdict = row.ci_high < 1 ? Verdict::faster : row.ci_low > 1 ? Verdict::slower : Verdict::same;
        rows.push_back(row);
      }
  };
  add("forward", forward);
  add("backward", backward);
  ResultRow memory;
  memory.x_value = "4096";
  memory.mode = "full";
  memory.metric = "memory";
  memory.unit = "MB";
  memory.baseline = memory.candidate = {268.4, 268.4, 268.4, 3};
  memory.ratio = memory.ci_low = memory.ci_high = 1;
  memory.verdict = Verdict::same;
  rows.push_back(memory);
  return rows;
}

VariantSummary variant(const char* id, const char* parent, const char* strategy, const char* title,
                       VariantStatus status, const char* reason) {
  VariantSummary summary;
  summary.id = id;
  summary.parent = parent;
  summary.strategy = strategy;
  summary.title = title;
  summary.status = status;
  summary.reason = reason;
  summary.notes_file = std::string("rms_norm_") + id + "_notes.md";
  return summary;
}

std::vector<SweepPoint> sweep() {
  std::vector<SweepPoint> points;
  for (const auto& [pass, gain] : {std::pair{"forward", 0.0}, std::pair{"backward", 0.03}})
    for (int width : {8, 16})
      for (int block_row : {1, 4, 8})
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          const double short_row_gain = i < 2 ? 0.025 * block_row : -0.012 * block_row;
          const double ratio = 1.04 - short_row_gain - (width == 16 ? 0.05 : -0.06) - gain;
          points.push_back({pass,
                            sizes[i],
                            {{"BLOCK_ROW", block_row}, {"tile_width", width}},
                            ratio,
                            width == 16 && block_row == (i < 2 ? 8 : 1)});
        }
  return points;
}

const char* const real_diff =
    "--- a/kernels/rms_norm/rms_norm_settings.json\n"
    "+++ b/kernels/rms_norm/rms_norm_settings.json\n"
    "@@ -1,3 +1,4 @@\n"
    " {\n"
    "-  \"rules\": [{\"from_x\": 0, \"settings\": {\"BLOCK_ROW\": 4, \"streaming_stores\": 0}}]\n"
    "+  \"rules\": [{\"from_x\": 0, \"settings\": {\"BLOCK_ROW\": 8, \"streaming_stores\": 1}},\n"
    "+            {\"from_x\": 4096, \"settings\": {\"BLOCK_ROW\": 1, \"streaming_stores\": 1}}]\n"
    " }\n";

}  // namespace

ComparisonDocument sample_comparison() {
  ComparisonDocument comparison;
  comparison.kernel = "rms_norm";
  comparison.created = "2026-11-30T03:27:55Z";
  comparison.device = "AMD EPYC 9654";
  comparison.profile_created = sample_profile().created;
  comparison.source_hash = sample_profile().identity.source_hash;
  comparison.dtype = "bf16";
  comparison.winner = "v3";
  comparison.winner_reason =
      "fastest accepted variant: 0.838 [0.829, 0.847] of v0's forward time at 4096, no guardrail near its bound";
  comparison.stop_reason = "two variants in a row gained less than 1 %";
  comparison.representative_x = "4096";
  comparison.learnings = {"Streaming stores pay at every size over the last-level cache.",
                          "Software prefetch changes nothing: the hardware's is already ahead."};
  comparison.evaluations = {24, 12, 12};
  comparison.sweep = sweep();

  VariantSummary v1 = variant("v1", "v0", "parameter-sweep", "Settings by size", VariantStatus::accepted,
                              "faster at every size, within all guardrails");
  v1.settings = {{"forward", settings(1, 0)}, {"backward", settings(1, 0)}};
  v1.results = results({0.86, 0.91, 0.962, 0.968}, {0.84, 0.88, 0.931, 0.935}, 0.008);
  v1.guardrails = {{"memory (full)", "at most +5 %", "+0.0 %", "pass", ""},
                   {"backward against forward's gain", "at most +10 %", "0.931 [0.923, 0.939]", "pass", ""},
                   {"correctness (smoke)", "error within bound", "0.41 of the bound", "pass", "18 cases"}};
  VariantSummary v2 = variant("v2", "v1", "prefetch", "Fetch the next row ahead", VariantStatus::rejected,
                              "backward at 1024 is 1.113 [1.101, 1.125] of v1: over the 10 % guardrail");
  v2.results = results({0.99, 0.995, 1.001, 1.0}, {1.113, 1.06, 1.01, 1.004}, 0.012);
  v2.guardrails = {{"backward at 1024", "at most +10 %", "1.113 [1.101, 1.125]", "fail", "registers spill"}};
  VariantSummary v3 = variant("v3", "v1", "streaming-stores", "Write past the caches", VariantStatus::accepted,
                              "faster at every size, within all guardrails");
  v3.settings = {{"forward", settings(1, 1)}, {"backward", settings(1, 1)}};
  v3.results = results({0.79, 0.81, 0.838, 0.841}, {0.78, 0.8, 0.852, 0.858}, 0.009);
  v3.guardrails = v1.guardrails;
  VariantSummary v4 = variant("v4", "v3", "proposed-source", "Two rows | one loop", VariantStatus::failed_to_compile,
                              "rms_norm.hpp:44: 'rows' was not declared in this scope");
  comparison.variants = {v1, v2, v3, v4};
  return comparison;
}

Variant sample_variant() {
  Variant variant;
  variant.id = "v3";
  variant.parent = "v1";
  variant.strategy = "streaming-stores";
  variant.title = "Write past the caches";
  variant.settings = {{"forward", settings(1, 1)}, {"backward", settings(1, 1)}};
  variant.edits = {{"kernels/rms_norm/rms_norm.hpp", "// changed\nint rows = 1;\n"}};
  return variant;
}

Notes sample_notes_before_results() {
  Notes notes;
  notes.kernel = "rms_norm";
  notes.date = "2026-11-30T03:26:30Z";
  notes.variant = "v3";
  notes.parent = "v1";
  notes.strategy = "streaming-stores";
  notes.hypothesis =
      "Forward is memory-bound at 83 % of copy bandwidth with stores that read each line before they write it. Stores "
      "that "
      "bypass the caches drop that read: 3 tensors of traffic become 2. v1 taught that row blocking alone gains 4 % at "
      "4096, "
      "so what is left there is traffic.";
  notes.changes =
      "streaming_stores 0 to 1 in both passes: the output is not read again before it has left the cache anyway.";
  notes.diff = "-  streaming_stores: 0\n+  streaming_stores: 1\n";
  notes.predictions = {{"4096", "forward", 0.87, "copy ceiling with streaming stores is 26.2 GB/s against 21.4"},
                       {"4096", "backward", 0.92, "one tensor of four is written"}};
  return notes;
}

Notes sample_notes() {
  Notes notes = sample_notes_before_results();
  const VariantSummary v3 = sample_comparison().variants[2];
  notes.has_results = true;
  notes.results = v3.results;
  notes.guardrails = v3.guardrails;
  notes.status = VariantStatus::accepted;
  notes.reason = v3.reason;
  notes.learnings =
      "forward at 4096: predicted 0.870, measured 0.871 [0.862, 0.880] x the parent: as predicted\n"
      "backward at 4096: predicted 0.920, measured 0.915 [0.906, 0.924] x the parent: as predicted\n"
      "Build on it; do not stream where the next pass reads the output at once.";
  return notes;
}

Report sample_report_applied() {
  Report report;
  report.kernel = "rms_norm";
  report.created = "2026-11-30T03:31:12Z";
  report.hone_version = "0.1.0";
  report.hone_commit = "0123abc";
  report.command = "hone finalize rms_norm";
  report.applied = true;
  report.outcome = model::Outcome::applied;
  report.reason = "applied v3";
  report.winner = "v3";
  report.profile = sample_profile();
  report.comparison = sample_comparison();
  report.speedups = results({0.792, 0.812, 0.84, 0.842}, {0.783, 0.803, 0.855, 0.86}, 0.008);
  for (const ResultRow& row : report.speedups) {
    if (row.metric != "speed") continue;
    double share = 0;
    for (const Headroom& headroom : report.profile.headroom)
      if (headroom.x_value == row.x_value && headroom.mode == row.mode) share = headroom.share_of_ceiling_pct;
    const Quantiles eager{row.baseline.p20 * 3.3, row.baseline.p50 * 3.3, row.baseline.p80 * 3.3, 40};
    report.three_way.push_back({row.x_value, row.mode, "speed", "ms", "original", row.baseline, share});
    report.three_way.push_back({row.x_value, row.mode, "speed", "ms", "optimized", row.candidate, share / row.ratio});
    report.three_way.push_back({row.x_value, row.mode, "speed", "ms", "eager", eager, share / 3.3});
  }
  for (const BaselineRow& row : report.profile.baseline.rows) {
    if (row.metric != "memory") continue;
    const Quantiles value{row.p20, row.p50, row.p80, row.samples};
    if (row.provider == "hone") {
      report.three_way.push_back({row.x_value, row.mode, "memory", "MB", "original", value, 0});
      report.three_way.push_back({row.x_value, row.mode, "memory", "MB", "optimized", value, 0});
    } else {
      report.three_way.push_back({row.x_value, row.mode, "memory", "MB", "eager", value, 0});
    }
  }
  report.diff = real_diff;
  report.changed_files = {"kernels/rms_norm/rms_norm_settings.json"};
  report.correctness = {{"smoke", 18, 0, 0.41, ""},
                        {"full", 432, 0, 0.63, "odd, prime, 1, empty, non-contiguous rows"},
                        {"numerics", 24, 0, 0.58, "against double precision"},
                        {"style", 1, 0, 0, ""}};
  report.recommendations = {
      "Backward still waits for its reduction over rows: a tree over threads is the next thing to try.",
      "Measure again on the machine that will run it: streaming stores depend on the cache."};
  report.reproduction = {"hone profile rms_norm --dtype bf16 --seed 0", "hone optimize rms_norm",
                         "hone finalize rms_norm"};
  report.revert = {"git checkout -- kernels/rms_norm/rms_norm_settings.json"};
  report.plots = {"speed_forward.svg",    "speed_backward.svg", "memory.svg",
                  "share_of_ceiling.svg", "sweep_forward.svg",  "sweep_backward.svg"};
  return report;
}

Report sample_report_reverted() {
  Report report = sample_report_applied();
  report.applied = false;
  report.outcome = model::Outcome::reverted;
  report.reason = "reverted: the full gate failed at rows=7, size=4093 (error 1.8 of the bound); v1 failed too";
  report.changed_files.clear();
  report.correctness[1].passed = 430;
  report.correctness[1].failed = 2;
  report.correctness[1].largest_error_over_bound = 1.8;
  report.correctness[1].detail = "rows=7, size=4093 and rows=1, size=4093";
  report.three_way.clear();
  report.speedups.clear();
  report.plots = {"sweep_forward.svg", "sweep_backward.svg"};
  report.recommendations = {
      "Look at the masked tail of the last tile: both failures are at a size that is no multiple of 16."};
  report.revert.clear();
  return report;
}

Report sample_report_nothing_to_gain() {
  Report report = sample_report_applied();
  report.applied = false;
  report.outcome = model::Outcome::at_ceiling;
  report.reason = "nothing to gain: forward is at 97.2 % and backward at 96.4 % of the ceiling";
  report.winner = "v0";
  report.comparison.winner = "v0";
  report.comparison.winner_reason = "no variant was tried";
  report.comparison.stop_reason = "at 97.2 % of the ceiling: nothing to gain";
  report.comparison.variants.clear();
  report.comparison.sweep.clear();
  report.comparison.learnings.clear();
  report.comparison.evaluations = {};
  report.diff.clear();
  report.changed_files.clear();
  report.correctness = {{"smoke", 18, 0, 0.41, ""}};
  report.three_way.clear();
  report.speedups.clear();
  report.plots.clear();
  report.recommendations = {"Fuse rms_norm with the operation before it: only fewer bytes can make it faster here."};
  report.revert.clear();
  return report;
}

}  // namespace hone::test

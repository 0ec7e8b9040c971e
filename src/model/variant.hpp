// Variants, their notes, and the comparison over all of them (hone.comparison/1).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/profile.hpp"
#include "model/timing.hpp"
#include "model/values.hpp"

namespace hone::model {

// size -> settings as data: the rule with the largest `from_x` not above x holds. Few distinct settings, each with the
// reason it was chosen; never one hard-coded value.
struct SettingsRule {
  std::int64_t from_x = 0;
  Settings settings;
  std::string reason;
  bool operator==(const SettingsRule&) const = default;
};

struct SettingsFunction {
  std::string x_name;
  std::vector<SettingsRule> rules;  // ascending from_x; the first has from_x 0
  double worst_slowdown_pct = 0;    // bound against the best settings known at any size, sampled or held out
  std::string reason;
  const Settings& at(std::int64_t x) const;  // precondition: rules is not empty
  bool operator==(const SettingsFunction&) const = default;
};

// The whole changed text of one file of the kernel's source set.
struct SourceEdit {
  std::string file, content;
  bool operator==(const SourceEdit&) const = default;
};

// A changed kernel: settings by pass, changed source, or both, against a parent.
struct Variant {
  std::string id;        // "v0", "v1", ...
  std::string parent;    // "v0"; empty for v0 itself
  std::string strategy;  // a word of the strategy order
  std::string title;
  std::map<std::string, SettingsFunction> settings;  // by pass, "forward" and "backward"; missing: the shipped ones
  std::vector<SourceEdit> edits;
  bool operator==(const Variant&) const = default;
};

struct Prediction {
  std::string x_value, mode;
  double ratio = 1;  // expected candidate time / parent time
  std::string why;
  bool operator==(const Prediction&) const = default;
};

struct GuardrailCheck {
  std::string check, threshold, interval, status;  // status: "pass", "fail" or "unresolved"
  std::string detail;
  bool operator==(const GuardrailCheck&) const = default;
};

struct ResultRow {
  std::string x_value, mode, metric, unit;  // metric: "speed" in "ms" or "memory" in "MB"
  Quantiles baseline, candidate;            // in `unit`
  double ratio = 0, ci_low = 0, ci_high = 0;
  Verdict verdict = Verdict::unresolved;
  bool operator==(const ResultRow&) const = default;
};

// The lab notebook of one variant. Everything above `has_results` is written before anything runs.
struct Notes {
  std::string kernel, date, variant, parent, strategy;
  std::string hypothesis;  // target bottleneck, why it should help, what earlier variants taught
  std::string changes;     // each with its rationale
  std::string diff;        // unified
  std::vector<Prediction> predictions;

  bool has_results = false;
  std::vector<ResultRow> results;
  std::vector<GuardrailCheck> guardrails;
  VariantStatus status = VariantStatus::rejected;
  std::string reason, learnings;
  bool operator==(const Notes&) const = default;
};

struct VariantSummary {
  std::string id, parent, strategy, title;
  std::map<std::string, SettingsFunction> settings;
  VariantStatus status = VariantStatus::rejected;
  std::string reason;
  std::vector<GuardrailCheck> guardrails;
  std::vector<ResultRow> results;
  std::string notes_file;
  bool operator==(const VariantSummary&) const = default;
};

struct Evaluations {
  int planned = 0, distinct_binaries = 0, timed = 0;
  bool operator==(const Evaluations&) const = default;
};

// One configuration of the parameter sweep, for the heat map: ratio against v0 in the same session.
struct SweepPoint {
  std::string pass, x_value;
  Settings settings;
  double ratio = 0;
  bool finalist = false;
  bool operator==(const SweepPoint&) const = default;
};

struct ComparisonDocument {
  std::string kernel, created, device, profile_created, source_hash, dtype;
  std::vector<VariantSummary> variants;
  std::string winner;  // "v3"; "v0" when nothing was better
  std::string winner_reason, stop_reason, representative_x;
  std::vector<std::string> learnings;
  Evaluations evaluations;
  std::vector<SweepPoint> sweep;
  bool operator==(const ComparisonDocument&) const = default;
};

inline constexpr const char* kComparisonSchema = "hone.comparison/1";
std::string to_json(const ComparisonDocument& comparison);
base::Result<ComparisonDocument> parse_comparison(const std::string& json, const std::string& where);

// {kernel}_vN_settings.json: a variant as a file. Settings by pass and size; edits by file name and content.
inline constexpr const char* kVariantSchema = "hone.variant/1";
std::string to_json(const Variant& variant);
base::Result<Variant> parse_variant(const std::string& json, const std::string& where);

}  // namespace hone::model

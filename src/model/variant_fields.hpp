// The fields of variants and of the comparison over them (hone.variant/1, hone.comparison/1).
#pragma once

#include "model/profile_fields.hpp"
#include "model/variant.hpp"

namespace hone::model {

void fields(auto& archive, of<SettingsRule> auto& rule) {
  archive.required("from_x", rule.from_x);
  archive.required("settings", rule.settings);
  archive.optional("reason", rule.reason);
}

// Every size has settings, from one rule.
void check_rules(const FieldReader& reader, const std::vector<SettingsRule>& rules);

template <class Archive>
void fields(Archive& archive, of<SettingsFunction> auto& function) {
  archive.optional("x_name", function.x_name);
  archive.optional("reason", function.reason);
  archive.optional("worst_slowdown_pct", function.worst_slowdown_pct);
  archive.required("rules", function.rules);
  if constexpr (Archive::reads) check_rules(archive, function.rules);
}

void fields(auto& archive, of<SourceEdit> auto& edit) {
  archive.required("file", edit.file);
  archive.required("content", edit.content);
}

void fields(auto& archive, of<Variant> auto& variant) {
  archive.required("id", variant.id);
  archive.optional("parent", variant.parent);
  archive.optional("strategy", variant.strategy);
  archive.optional("title", variant.title);
  archive.optional("settings", variant.settings);
  archive.optional("edits", variant.edits);
  archive.check(!variant.id.empty(), "id", "the variant's name, such as v1", [] { return "an empty text"; });
}

template <class Archive>
void fields(Archive& archive, of<ResultRow> auto& row) {
  archive.required("x_value", row.x_value, As::x_value);
  archive.required("mode", row.mode);
  archive.required("metric", row.metric);
  if constexpr (Archive::reads) row.unit = row.metric == "memory" ? "MB" : "ms";
  archive.optional("unit", row.unit);
  interval_fields(archive, row);
  archive.required("verdict", row.verdict);
  archive.optional("baseline", row.baseline);
  archive.optional("candidate", row.candidate);
}

void fields(auto& archive, of<GuardrailCheck> auto& check) {
  archive.required("check", check.check);
  archive.optional("threshold", check.threshold);
  archive.optional("interval", check.interval);
  archive.required("status", check.status);
  archive.check(check.status == "pass" || check.status == "fail" || check.status == "unresolved", "status",
                "one of pass, fail, unresolved", [&] { return "'" + check.status.substr(0, 80) + "'"; });
  archive.optional("detail", check.detail);
}

void fields(auto& archive, of<VariantSummary> auto& variant) {
  archive.required("id", variant.id);
  archive.optional("parent", variant.parent);
  archive.required("strategy", variant.strategy);
  archive.optional("title", variant.title);
  archive.optional("settings", variant.settings);
  archive.required("status", variant.status);
  archive.optional("reason", variant.reason);
  archive.required("guardrails", variant.guardrails);
  archive.required("results", variant.results);
  archive.optional("notes_file", variant.notes_file);
}

void fields(auto& archive, of<Evaluations> auto& evaluations) {
  archive.optional("planned", evaluations.planned);
  archive.optional("distinct_binaries", evaluations.distinct_binaries);
  archive.optional("timed", evaluations.timed);
}

void fields(auto& archive, of<SweepPoint> auto& point) {
  archive.required("pass", point.pass);
  archive.required("x_value", point.x_value, As::x_value);
  archive.required("settings", point.settings);
  archive.required("ratio", point.ratio, As::not_negative);
  archive.optional("finalist", point.finalist);
}

// The winner is v0, the kernel as it is, or a variant that stands in the document.
void check_winner(const FieldReader& reader, const ComparisonDocument& comparison);

template <class Archive>
void fields(Archive& archive, of<ComparisonDocument> auto& comparison) {
  archive.required("kernel", comparison.kernel);
  archive.optional("created", comparison.created);
  archive.optional("device", comparison.device);
  archive.optional("dtype", comparison.dtype);
  archive.optional("profile_created", comparison.profile_created);
  archive.optional("source_hash", comparison.source_hash);
  archive.required("variants", comparison.variants);
  archive.required("winner", comparison.winner);
  archive.optional("winner_reason", comparison.winner_reason);
  archive.required("stop_reason", comparison.stop_reason);
  archive.optional("representative_x", comparison.representative_x, As::x_value);
  archive.optional("learnings", comparison.learnings);
  archive.required("evaluations", comparison.evaluations);
  archive.optional("sweep", comparison.sweep);
  if constexpr (Archive::reads) check_winner(archive, comparison);
}

}  // namespace hone::model

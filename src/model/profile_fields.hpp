// The fields of a profile (hone.profile/1).
#pragma once

#include <cmath>

#include "model/counters_fields.hpp"
#include "model/device_fields.hpp"
#include "model/profile.hpp"

namespace hone::model {

void fields(auto& archive, of<Located> auto& file) {
  archive.optional("exists", file.exists);
  archive.optional("note", file.note);
}

template <class Archive>
void fields(Archive& archive, of<Identity> auto& identity) {
  archive.required("kernel", identity.kernel);
  archive.required("repository", identity.repository);
  archive.optional("source_file", identity.source_file.path, As::null_if_empty);
  archive.optional("benchmark_script", identity.benchmark_script.path, As::null_if_empty);
  archive.optional("test_file", identity.test_file.path, As::null_if_empty);
  if constexpr (Archive::reads)
    for (Located* file : {&identity.source_file, &identity.benchmark_script, &identity.test_file})
      file->exists = !file->path.empty();
  archive.optional_object("checked", [&](auto& checked) {
    checked.optional("source_file", identity.source_file);
    checked.optional("benchmark_script", identity.benchmark_script);
    checked.optional("test_file", identity.test_file);
  });
  archive.optional("source_hash", identity.source_hash);
  archive.optional("tier", identity.tier);
  archive.check(identity.tier >= 1 && identity.tier <= 3, "tier", "1, 2 or 3",
                [&] { return std::to_string(identity.tier); });
  archive.optional("tier_description", identity.tier_description);
}

void fields(auto& archive, of<BaselineRow> auto& row) {
  archive.required("x_value", row.x_value, As::x_value);
  archive.required("mode", row.mode);
  archive.required("provider", row.provider);
  archive.required("metric", row.metric);
  archive.required("unit", row.unit);
  quantile_fields(archive, row);
  archive.optional("source", row.source);
  archive.optional("origin", row.origin, As::left_out_if_empty);
}

void fields(auto& archive, of<Observations> auto& seen) {
  archive.optional("slowest_mode", seen.slowest_mode);
  archive.optional("slowest_mode_reason", seen.slowest_mode_reason);
  archive.optional("largest_x_value", seen.largest_x_value, As::x_value);
  archive.optional("scaling_trend", seen.scaling_trend);
  archive.optional("warnings", seen.warnings);
}

void fields(auto& archive, of<Baseline> auto& baseline) {
  archive.required("x_name", baseline.x_name);
  archive.required("rows", baseline.rows);
  archive.required("observations", baseline.observations);
  archive.required("noise_floor", baseline.noise_floor);
}

template <class Archive>
void fields(Archive& archive, of<Headroom> auto& row) {
  archive.required("x_value", row.x_value, As::x_value);
  archive.required("mode", row.mode);
  archive.required("floor_ms", row.floor_ms, As::not_negative);
  archive.optional("physics_floor_ms", row.physics_floor_ms);
  archive.required("measured_ms", row.measured_ms, As::not_negative);
  archive.required("ratio", row.ratio, As::not_negative);
  constexpr double rounding = 0.01;  // a ratio rounded to two digits by another writer still agrees
  const double expected = row.floor_ms > 0 ? row.measured_ms / row.floor_ms : row.ratio;
  archive.check(std::fabs(row.ratio - expected) <= rounding * std::fabs(expected) + 0.005, "ratio",
                "measured_ms / floor_ms, " + shortest(expected), [&] { return shortest(row.ratio); });
  if constexpr (Archive::reads) row.share_of_ceiling_pct = row.ratio > 0 ? 100 / row.ratio : 0;
  archive.optional("share_of_ceiling_pct", row.share_of_ceiling_pct);
  archive.optional("bytes", row.bytes);
  archive.optional("flops", row.flops);
  archive.optional("ceiling", row.ceiling);
  archive.optional("paired", row.paired, As::null_if_empty);
}

void fields(auto& archive, of<EvidenceRow> auto& row) {
  archive.required("signal", row.signal);
  archive.required("observation", row.observation);
  archive.required("supports", row.supports);
  archive.required("source", row.source);
}

void fields(auto& archive, of<ClassOfPass> auto& pass) {
  archive.required("mode", pass.mode);
  archive.required("class", pass.cls);
  archive.optional("limiter", pass.limiter);
}

void fields(auto& archive, of<Bottleneck> auto& bottleneck) {
  archive.required("class", bottleneck.cls);
  archive.required("plain_rule_class", bottleneck.plain_rule_class);
  archive.required("confidence", bottleneck.confidence);
  archive.optional("limiter", bottleneck.limiter);
  archive.required("evidence", bottleneck.evidence);
  archive.check(!bottleneck.evidence.empty(), "evidence", "at least one row: a class without evidence is impossible",
                [] { return "none"; });
  archive.optional("reasoning", bottleneck.reasoning);
  archive.optional("refutation", bottleneck.refutation);
  archive.optional("by_pass", bottleneck.by_pass);
}

// `live` is true, false, or null where it is not known; `liveness` is the same as a word.
template <class Archive>
void fields(Archive& archive, of<Parameter> auto& parameter) {
  archive.required("name", parameter.name);
  archive.required("value", parameter.value, Archive::reads ? As::x_value : As::plain);
  archive.required("how_set", parameter.how_set);
  archive.optional("notes", parameter.notes);
  std::optional<bool> live;
  if (parameter.live != Liveness::unknown) live = parameter.live == Liveness::live;
  archive.optional("live", live);
  if constexpr (Archive::reads)
    if (live) parameter.live = *live ? Liveness::live : Liveness::dead;
  archive.optional("liveness", parameter.live);
  archive.check(!live || *live == (parameter.live == Liveness::live), "live",
                std::string("agreement with liveness, ") + word(parameter.live), [] { return "another value"; });
  archive.optional("live_evidence", parameter.live_evidence);
}

void fields(auto& archive, of<MemoryAccess> auto& memory) {
  archive.optional("stride_pattern", memory.stride_pattern);
  archive.optional("cache_modifiers", memory.cache_modifiers);
  archive.optional("in_place", memory.in_place);
  archive.optional("saved_vs_recomputed", memory.saved_vs_recomputed);
}

void fields(auto& archive, of<ComputePatterns> auto& compute) {
  archive.optional("precision_ops", compute.precision_ops);
  archive.optional("casting_mode", compute.casting_mode);
  archive.optional("algorithm", compute.algorithm);
  archive.optional("constexpr_parameters", compute.constexpr_parameters);
}

void fields(auto& archive, of<Configuration> auto& configuration) {
  archive.required("parameters", configuration.parameters);
  archive.required("memory_access", configuration.memory_access);
  archive.required("compute", configuration.compute);
}

void fields(auto& archive, of<Location> auto& place) {
  archive.required("file", place.file);
  archive.optional("line", place.line);
}

void fields(auto& archive, of<Opportunity> auto& opportunity) {
  archive.required("title", opportunity.title);
  archive.optional("detail", opportunity.detail);
  archive.optional("locations", opportunity.locations);
  archive.optional("strategy", opportunity.strategy);
  archive.optional("bound_pct", opportunity.bound_pct);
  archive.optional("risk", opportunity.risk);
}

void fields(auto& archive, of<StrategyStep> auto& step) {
  archive.required("strategy", step.strategy);
  archive.required("title", step.title);
  archive.optional("reason", step.reason);
  archive.optional("bound", step.bound);
  archive.optional("risk", step.risk);
}

void fields(auto& archive, of<EstimatedIterations> auto& iterations) {
  archive.optional("variants", iterations.variants);
  archive.optional("rationale", iterations.rationale);
}

void fields(auto& archive, of<Request> auto& request) {
  archive.optional("kernel", request.kernel);
  archive.optional("dtype", request.dtype);
  archive.optional("sizes", request.sizes, As::x_value);
  archive.optional("goal", request.goal);
  archive.optional("scope", request.scope);
  archive.optional("target_gpu", request.target_gpu);
  archive.optional("options", request.options);
  archive.optional("seed", request.seed);
  archive.optional("quick", request.quick);
  archive.optional("last_level_cache_bytes", request.last_level_cache_bytes);
}

// Parts of the document that speak of different things are a fault that no single field shows.
void check_agreement(const FieldReader& reader, const Profile& profile);

template <class Archive>
void fields(Archive& archive, of<Profile> auto& profile) {
  archive.required("kernel", profile.kernel);
  archive.required("created", profile.created);
  archive.required_object("hone", [&](auto& hone) {
    hone.required("version", profile.hone_version);
    hone.optional("commit", profile.hone_commit);
  });
  archive.required("command", profile.command);
  archive.optional("summary", profile.summary);
  archive.required("identity", profile.identity);
  archive.required("device", profile.device);
  archive.required("baseline", profile.baseline);
  archive.required("headroom", profile.headroom);
  archive.required("counters", profile.counters);
  archive.required("bottleneck", profile.bottleneck);
  archive.required("configuration", profile.configuration);
  archive.required("opportunities", profile.opportunities);
  archive.required("strategy_order", profile.strategy_order);
  archive.optional("plan_note", profile.plan_note);
  archive.required("estimated_iterations", profile.estimated_iterations);
  archive.optional("request", profile.request);
  if constexpr (Archive::reads) check_agreement(archive, profile);
}

}  // namespace hone::model

// Profile -> hone.profile/1. Reading it back is in profile_parse.cpp.
#include "model/json_parts.hpp"

namespace hone::model {

namespace {

Json nullable(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json json_of(const Identity& identity) {
  const auto checked = [](const Located& file) { return Json::object({{"exists", file.exists}, {"note", file.note}}); };
  return Json::object({{"kernel", identity.kernel},
                       {"repository", identity.repository},
                       {"source_file", nullable(identity.source_file.path)},
                       {"benchmark_script", nullable(identity.benchmark_script.path)},
                       {"test_file", nullable(identity.test_file.path)},
                       {"checked", Json::object({{"source_file", checked(identity.source_file)},
                                                 {"benchmark_script", checked(identity.benchmark_script)},
                                                 {"test_file", checked(identity.test_file)}})},
                       {"source_hash", identity.source_hash},
                       {"tier", identity.tier},
                       {"tier_description", identity.tier_description}});
}

Json json_of(const BaselineRow& row) {
  Json object = Json::object({{"x_value", x_value_json(row.x_value)},
                              {"mode", row.mode},
                              {"provider", row.provider},
                              {"metric", row.metric},
                              {"unit", row.unit},
                              {"p20", row.p20},
                              {"p50", row.p50},
                              {"p80", row.p80},
                              {"samples", row.samples},
                              {"source", word(row.source)}});
  if (!row.origin.empty()) object.add("origin", row.origin);
  return object;
}

Json json_of(const NoiseFloor& floor) {
  return Json::object({{"x_value", x_value_json(floor.x_value)},
                       {"mode", floor.mode},
                       {"smallest_effect_pct", floor.smallest_effect_pct},
                       {"comparison", json_of(floor.comparison)}});
}

Json json_of(const Baseline& baseline) {
  const Observations& seen = baseline.observations;
  return Json::object({{"x_name", baseline.x_name},
                       {"rows", Json::list(baseline.rows, [](const auto& row) { return json_of(row); })},
                       {"observations", Json::object({{"slowest_mode", seen.slowest_mode},
                                                      {"slowest_mode_reason", seen.slowest_mode_reason},
                                                      {"largest_x_value", x_value_json(seen.largest_x_value)},
                                                      {"scaling_trend", seen.scaling_trend},
                                                      {"warnings", model::json_of(seen.warnings)}})},
                       {"noise_floor", Json::list(baseline.noise_floor, [](const auto& f) { return json_of(f); })}});
}

Json json_of(const Request& request) {
  Json options = Json::object();
  for (const auto& [name, value] : request.options) options.add(name, value);
  return Json::object({{"kernel", request.kernel},
                       {"dtype", request.dtype},
                       {"sizes", Json::list(request.sizes, [](const std::string& size) { return x_value_json(size); })},
                       {"goal", request.goal},
                       {"scope", request.scope},
                       {"target_gpu", request.target_gpu},
                       {"options", std::move(options)},
                       {"seed", request.seed},
                       {"quick", request.quick},
                       {"last_level_cache_bytes", request.last_level_cache_bytes}});
}

}  // namespace

Json json_of(const PairedShare& share) {
  if (share.pairs == 0) return {};
  return Json::object({{"pairs", share.pairs}, {"low_pct", share.low_pct}, {"high_pct", share.high_pct}});
}

Json json_of(const Headroom& row) {
  return Json::object({{"x_value", x_value_json(row.x_value)},
                       {"mode", row.mode},
                       {"floor_ms", row.floor_ms},
                       {"physics_floor_ms", row.physics_floor_ms},
                       {"measured_ms", row.measured_ms},
                       {"ratio", row.ratio},
                       {"share_of_ceiling_pct", row.share_of_ceiling_pct},
                       {"bytes", row.bytes},
                       {"flops", row.flops},
                       {"ceiling", row.ceiling},
                       {"paired", json_of(row.paired)}});
}

Json json_of(const Bottleneck& bottleneck) {
  return Json::object(
      {{"class", word(bottleneck.cls)},
       {"plain_rule_class", bottleneck.plain_rule_class},
       {"confidence", word(bottleneck.confidence)},
       {"limiter", bottleneck.limiter},
       {"evidence", Json::list(bottleneck.evidence,
                               [](const EvidenceRow& row) {
                                 return Json::object({{"signal", row.signal},
                                                      {"observation", row.observation},
                                                      {"supports", row.supports},
                                                      {"source", word(row.source)}});
                               })},
       {"reasoning", bottleneck.reasoning},
       {"refutation", bottleneck.refutation},
       {"by_pass", Json::list(bottleneck.by_pass, [](const ClassOfPass& pass) {
          return Json::object({{"mode", pass.mode}, {"class", word(pass.cls)}, {"limiter", pass.limiter}});
        })}});
}

// `live` is true, false, or null where it is not known; `liveness` is the same as a word.
Json json_of(const Parameter& parameter) {
  return Json::object({{"name", parameter.name},
                       {"value", parameter.value},
                       {"how_set", word(parameter.how_set)},
                       {"notes", parameter.notes},
                       {"live", parameter.live == Liveness::unknown ? Json() : Json(parameter.live == Liveness::live)},
                       {"liveness", word(parameter.live)},
                       {"live_evidence", parameter.live_evidence}});
}

Json json_of(const Configuration& configuration) {
  const MemoryAccess& memory = configuration.memory_access;
  const ComputePatterns& compute = configuration.compute;
  return Json::object({{"parameters", Json::list(configuration.parameters, [](const auto& p) { return json_of(p); })},
                       {"memory_access", Json::object({{"stride_pattern", memory.stride_pattern},
                                                       {"cache_modifiers", memory.cache_modifiers},
                                                       {"in_place", memory.in_place},
                                                       {"saved_vs_recomputed", memory.saved_vs_recomputed}})},
                       {"compute", Json::object({{"precision_ops", compute.precision_ops},
                                                 {"casting_mode", compute.casting_mode},
                                                 {"algorithm", compute.algorithm},
                                                 {"constexpr_parameters", compute.constexpr_parameters}})}});
}

Json json_of(const Opportunity& opportunity) {
  return Json::object({{"title", opportunity.title},
                       {"detail", opportunity.detail},
                       {"locations", Json::list(opportunity.locations,
                                                [](const Location& place) {
                                                  return Json::object({{"file", place.file}, {"line", place.line}});
                                                })},
                       {"strategy", opportunity.strategy},
                       {"bound_pct", opportunity.bound_pct},
                       {"risk", opportunity.risk}});
}

Json json_of(const StrategyStep& step) {
  return Json::object({{"strategy", step.strategy},
                       {"title", step.title},
                       {"reason", step.reason},
                       {"bound", step.bound},
                       {"risk", step.risk}});
}

Json json_tree(const Profile& profile) {
  const auto each = [](const auto& rows) { return Json::list(rows, [](const auto& row) { return json_of(row); }); };
  return Json::object({{"schema", kProfileSchema},
                       {"kernel", profile.kernel},
                       {"created", profile.created},
                       {"hone", Json::object({{"version", profile.hone_version}, {"commit", profile.hone_commit}})},
                       {"command", profile.command},
                       {"summary", profile.summary},
                       {"identity", json_of(profile.identity)},
                       {"device", json_of(profile.device)},
                       {"baseline", json_of(profile.baseline)},
                       {"headroom", each(profile.headroom)},
                       {"counters", json_of(profile.counters)},
                       {"bottleneck", json_of(profile.bottleneck)},
                       {"configuration", json_of(profile.configuration)},
                       {"opportunities", each(profile.opportunities)},
                       {"strategy_order", each(profile.strategy_order)},
                       {"plan_note", profile.plan_note},
                       {"estimated_iterations", Json::object({{"variants", profile.estimated_iterations.variants},
                                                              {"rationale", profile.estimated_iterations.rationale}})},
                       {"request", json_of(profile.request)}});
}

std::string to_json(const Profile& profile) { return json_tree(profile).dump(); }

}  // namespace hone::model

// hone.profile/1 -> Profile. The text may be truncated, edited by hand or hostile: every fault is an Error that names the
// field, and a document whose parts contradict each other is refused as a whole.
#include <cmath>
#include <set>
#include <utility>

#include "model/json_parts.hpp"

namespace hone::model {

namespace {

Located read_located(const JsonFields& identity, const std::string& name) {
  Located file;
  file.path = identity.text_or(name, "");
  file.exists = !file.path.empty();
  if (!identity.has("checked") || !identity.object("checked").has(name)) return file;
  const JsonFields checked = identity.object("checked").object(name);
  file.exists = checked.boolean_or("exists", file.exists);
  file.note = checked.text_or("note", "");
  return file;
}

Identity read_identity(const JsonFields& fields) {
  Identity identity;
  identity.kernel = fields.text("kernel");
  identity.repository = fields.text("repository");
  identity.source_file = read_located(fields, "source_file");
  identity.benchmark_script = read_located(fields, "benchmark_script");
  identity.test_file = read_located(fields, "test_file");
  identity.source_hash = fields.text_or("source_hash", "");
  identity.tier = fields.count_or("tier", 0);
  if (identity.tier < 1 || identity.tier > 3) fields.refuse("tier", "1, 2 or 3", std::to_string(identity.tier));
  identity.tier_description = fields.text_or("tier_description", "");
  return identity;
}

Baseline read_baseline(const JsonFields& fields) {
  Baseline baseline;
  baseline.x_name = fields.text("x_name");
  for (const JsonFields& row : fields.objects("rows")) {
    const Quantiles q = read_quantiles(row);
    baseline.rows.push_back({row.x_value(), row.text("mode"), row.text("provider"), row.text("metric"),
                             row.text("unit"), q.p20, q.p50, q.p80, q.samples, row.word_or("source", Source::measured),
                             row.text_or("origin", "")});
  }
  const JsonFields seen = fields.object("observations");
  baseline.observations = {seen.text_or("slowest_mode", ""), seen.text_or("slowest_mode_reason", ""),
                           seen.has("largest_x_value") ? seen.x_value("largest_x_value") : "",
                           seen.text_or("scaling_trend", ""), seen.texts("warnings")};
  for (const JsonFields& row : fields.objects("noise_floor")) {
    NoiseFloor floor;
    floor.x_value = row.x_value();
    floor.mode = row.text("mode");
    floor.smallest_effect_pct = row.not_negative("smallest_effect_pct");
    if (row.has("comparison")) floor.comparison = read_comparison(row.object("comparison"));
    baseline.noise_floor.push_back(std::move(floor));
  }
  return baseline;
}

Headroom read_headroom(const JsonFields& fields) {
  Headroom row;
  row.x_value = fields.x_value();
  row.mode = fields.text("mode");
  row.floor_ms = fields.not_negative("floor_ms");
  row.physics_floor_ms = fields.number_or("physics_floor_ms", 0);
  row.measured_ms = fields.not_negative("measured_ms");
  row.ratio = fields.not_negative("ratio");
  row.bytes = fields.number_or("bytes", 0);
  row.flops = fields.number_or("flops", 0);
  row.ceiling = fields.text_or("ceiling", "");
  row.share_of_ceiling_pct = fields.number_or("share_of_ceiling_pct", row.ratio > 0 ? 100 / row.ratio : 0);
  if (fields.has("paired")) {
    const JsonFields paired = fields.object("paired");
    row.paired = {paired.not_negative("low_pct"), paired.not_negative("high_pct"), paired.count_or("pairs", 0)};
  }
  constexpr double rounding = 0.01;  // a ratio rounded to two digits by another writer still agrees
  const double expected = row.floor_ms > 0 ? row.measured_ms / row.floor_ms : row.ratio;
  if (!(std::fabs(row.ratio - expected) <= rounding * std::fabs(expected) + 0.005))
    fields.refuse("ratio", "measured_ms / floor_ms, " + shortest(expected), shortest(row.ratio));
  return row;
}

Bottleneck read_bottleneck(const JsonFields& fields) {
  Bottleneck bottleneck;
  bottleneck.cls = fields.word<BottleneckClass>("class");
  bottleneck.plain_rule_class = fields.text("plain_rule_class");
  bottleneck.confidence = fields.word<Confidence>("confidence");
  bottleneck.limiter = fields.text_or("limiter", "");
  for (const JsonFields& row : fields.objects("evidence"))
    bottleneck.evidence.push_back(
        {row.text("signal"), row.text("observation"), row.text("supports"), row.word<Source>("source")});
  if (bottleneck.evidence.empty())
    fields.refuse("evidence", "at least one row: a class without evidence is impossible", "none");
  bottleneck.reasoning = fields.text_or("reasoning", "");
  bottleneck.refutation = fields.text_or("refutation", "");
  if (fields.has("by_pass"))
    for (const JsonFields& pass : fields.objects("by_pass"))
      bottleneck.by_pass.push_back(
          {pass.text("mode"), pass.word<BottleneckClass>("class"), pass.text_or("limiter", "")});
  return bottleneck;
}

Parameter read_parameter(const JsonFields& fields) {
  Parameter parameter;
  parameter.name = fields.text("name");
  parameter.value = fields.x_value("value");
  parameter.how_set = fields.word<HowSet>("how_set");
  parameter.notes = fields.text_or("notes", "");
  if (fields.has("liveness"))
    parameter.live = fields.word<Liveness>("liveness");
  else if (fields.has("live"))
    parameter.live = fields.boolean_or("live", false) ? Liveness::live : Liveness::dead;
  const bool contradicts = fields.has("liveness") && fields.has("live") &&
                           fields.boolean_or("live", false) != (parameter.live == Liveness::live);
  if (contradicts)
    fields.refuse("live", std::string("agreement with liveness, ") + word(parameter.live), "another value");
  parameter.live_evidence = fields.text_or("live_evidence", "");
  return parameter;
}

Configuration read_configuration(const JsonFields& fields) {
  Configuration configuration;
  for (const JsonFields& one : fields.objects("parameters")) configuration.parameters.push_back(read_parameter(one));
  const JsonFields memory = fields.object("memory_access");
  configuration.memory_access = {memory.text_or("stride_pattern", ""), memory.text_or("cache_modifiers", ""),
                                 memory.text_or("in_place", ""), memory.text_or("saved_vs_recomputed", "")};
  const JsonFields compute = fields.object("compute");
  configuration.compute = {compute.text_or("precision_ops", ""), compute.text_or("casting_mode", ""),
                           compute.text_or("algorithm", ""), compute.text_or("constexpr_parameters", "")};
  return configuration;
}

Opportunity read_opportunity(const JsonFields& fields) {
  Opportunity opportunity;
  opportunity.title = fields.text("title");
  opportunity.detail = fields.text_or("detail", "");
  if (fields.has("locations"))
    for (const JsonFields& place : fields.objects("locations"))
      opportunity.locations.push_back({place.text("file"), place.count_or("line", 0)});
  opportunity.strategy = fields.text_or("strategy", "");
  opportunity.bound_pct = fields.number_or("bound_pct", 0);
  opportunity.risk = fields.text_or("risk", "");
  return opportunity;
}

Request read_request(const JsonFields& fields) {
  Request request;
  request.kernel = fields.text_or("kernel", "");
  request.dtype = fields.text_or("dtype", "");
  request.sizes = fields.x_values("sizes");
  request.goal = fields.text_or("goal", request.goal);
  request.scope = fields.text_or("scope", request.scope);
  request.target_gpu = fields.text_or("target_gpu", request.target_gpu);
  request.options = fields.text_map("options");
  request.seed = fields.seed_or("seed", 0);
  request.quick = fields.boolean_or("quick", false);
  request.last_level_cache_bytes = fields.integer_or("last_level_cache_bytes", 0);
  return request;
}

// What no single field shows: parts of the document that speak of different things.
void check_agreement(const JsonFields& document, const Profile& profile) {
  std::set<std::pair<std::string, std::string>> rows;
  for (const BaselineRow& row : profile.baseline.rows) rows.emplace(row.x_value, row.mode);
  const auto check = [&](const std::string& field, const std::string& x_value, const std::string& mode) {
    if (rows.count({x_value, mode}) == 0)
      document.refuse(field, "an x_value and mode that a baseline row has", "'" + x_value + "', '" + mode + "'");
  };
  for (std::size_t i = 0; i < profile.baseline.noise_floor.size(); ++i)
    check("baseline.noise_floor[" + std::to_string(i) + "].x_value", profile.baseline.noise_floor[i].x_value,
          profile.baseline.noise_floor[i].mode);
  for (std::size_t i = 0; i < profile.headroom.size(); ++i)
    check("headroom[" + std::to_string(i) + "].x_value", profile.headroom[i].x_value, profile.headroom[i].mode);
  if (profile.identity.kernel != profile.kernel)
    document.refuse("identity.kernel", "the document's kernel, '" + profile.kernel + "'",
                    "'" + profile.identity.kernel + "'");
  if (!profile.request.kernel.empty() && profile.request.kernel != profile.kernel)
    document.refuse("request.kernel", "the document's kernel, '" + profile.kernel + "'",
                    "'" + profile.request.kernel + "'");
}

Profile read_profile(const JsonFields& document) {
  Profile profile;
  profile.kernel = document.text("kernel");
  profile.created = document.text("created");
  const JsonFields hone = document.object("hone");
  profile.hone_version = hone.text("version");
  profile.hone_commit = hone.text_or("commit", "");
  profile.command = document.text("command");
  profile.summary = document.text_or("summary", "");
  profile.identity = read_identity(document.object("identity"));
  profile.device = read_device(document.object("device"));
  profile.baseline = read_baseline(document.object("baseline"));
  for (const JsonFields& row : document.objects("headroom")) profile.headroom.push_back(read_headroom(row));
  profile.counters = read_counters(document.object("counters"));
  profile.bottleneck = read_bottleneck(document.object("bottleneck"));
  profile.configuration = read_configuration(document.object("configuration"));
  for (const JsonFields& one : document.objects("opportunities"))
    profile.opportunities.push_back(read_opportunity(one));
  for (const JsonFields& step : document.objects("strategy_order"))
    profile.strategy_order.push_back({step.text("strategy"), step.text("title"), step.text_or("reason", ""),
                                      step.text_or("bound", ""), step.text_or("risk", "")});
  profile.plan_note = document.text_or("plan_note", "");
  const JsonFields iterations = document.object("estimated_iterations");
  profile.estimated_iterations = {iterations.count_or("variants", 0), iterations.text_or("rationale", "")};
  if (document.has("request")) profile.request = read_request(document.object("request"));
  check_agreement(document, profile);
  return profile;
}

}  // namespace

base::Result<Profile> parse_profile(const std::string& json, const std::string& where) {
  std::string remedy = "run 'hone profile KERNEL' again";
  HONE_TRY(tree, parse_json(json, where, remedy));
  JsonFault fault;
  const JsonFields document(&*tree, "", fault);
  const std::string schema = document.text("schema");
  if (!fault.any() && schema != kProfileSchema)
    document.refuse("schema", kProfileSchema, "'" + schema.substr(0, 80) + "'");
  if (fault.any()) return fault.error(where, remedy);
  if (const Json* kernel = tree->find("kernel"); kernel != nullptr && kernel->text() != nullptr)
    if (!kernel->text()->empty() && kernel->text()->size() <= 80)
      remedy = "run 'hone profile " + *kernel->text() + "' again";
  Profile profile = read_profile(document);
  if (fault.any()) return fault.error(where, remedy);
  return profile;
}

}  // namespace hone::model

// The comparison over all variants (hone.comparison/1).
#include <set>

#include "model/json_parts.hpp"

namespace hone::model {

namespace {

Json json_of(const VariantSummary& variant) {
  const auto each = [](const auto& rows) {
    return Json::list(rows, [](const auto& row) { return model::json_of(row); });
  };
  return Json::object({{"id", variant.id},
                       {"parent", variant.parent},
                       {"strategy", variant.strategy},
                       {"title", variant.title},
                       {"settings", model::json_of(variant.settings)},
                       {"status", word(variant.status)},
                       {"reason", variant.reason},
                       {"guardrails", each(variant.guardrails)},
                       {"results", each(variant.results)},
                       {"notes_file", variant.notes_file}});
}

Json json_of(const SweepPoint& point) {
  return Json::object({{"pass", point.pass},
                       {"x_value", x_value_json(point.x_value)},
                       {"settings", model::json_of(point.settings)},
                       {"ratio", point.ratio},
                       {"finalist", point.finalist}});
}

VariantSummary read_variant(const JsonFields& fields) {
  VariantSummary variant;
  variant.id = fields.text("id");
  variant.parent = fields.text_or("parent", "");
  variant.strategy = fields.text("strategy");
  variant.title = fields.text_or("title", "");
  variant.settings = read_settings_by_pass(fields, "settings");
  variant.status = fields.word<VariantStatus>("status");
  variant.reason = fields.text_or("reason", "");
  for (const JsonFields& check : fields.objects("guardrails")) variant.guardrails.push_back(read_guardrail(check));
  for (const JsonFields& row : fields.objects("results")) variant.results.push_back(read_result_row(row));
  variant.notes_file = fields.text_or("notes_file", "");
  return variant;
}

// The winner is v0, the kernel as it is, or a variant that stands in the document and was accepted.
void check_winner(const JsonFields& document, const ComparisonDocument& comparison) {
  std::set<std::string> ids;
  bool stands = comparison.winner == "v0";
  for (std::size_t i = 0; i < comparison.variants.size(); ++i) {
    const VariantSummary& variant = comparison.variants[i];
    if (!ids.insert(variant.id).second)
      document.refuse("variants[" + std::to_string(i) + "].id", "an id of its own", "'" + variant.id + "' again");
    stands = stands || variant.id == comparison.winner;
  }
  if (!stands)
    document.refuse("winner", "v0 or the id of one of the variants", "'" + comparison.winner.substr(0, 80) + "'");
}

}  // namespace

Json json_tree(const ComparisonDocument& c) {
  const auto each = [](const auto& rows) { return Json::list(rows, [](const auto& row) { return json_of(row); }); };
  return Json::object({{"schema", kComparisonSchema},
                       {"kernel", c.kernel},
                       {"created", c.created},
                       {"device", c.device},
                       {"dtype", c.dtype},
                       {"profile_created", c.profile_created},
                       {"source_hash", c.source_hash},
                       {"variants", each(c.variants)},
                       {"winner", c.winner},
                       {"winner_reason", c.winner_reason},
                       {"stop_reason", c.stop_reason},
                       {"representative_x", x_value_json(c.representative_x)},
                       {"learnings", json_of(c.learnings)},
                       {"evaluations", Json::object({{"planned", c.evaluations.planned},
                                                     {"distinct_binaries", c.evaluations.distinct_binaries},
                                                     {"timed", c.evaluations.timed}})},
                       {"sweep", each(c.sweep)}});
}

std::string to_json(const ComparisonDocument& comparison) { return json_tree(comparison).dump(); }

base::Result<ComparisonDocument> parse_comparison(const std::string& json, const std::string& where) {
  const std::string remedy = "run 'hone optimize KERNEL' again";
  HONE_TRY(tree, parse_json(json, where, remedy));
  JsonFault fault;
  const JsonFields document(&*tree, "", fault);
  const std::string schema = document.text("schema");
  if (!fault.any() && schema != kComparisonSchema)
    document.refuse("schema", kComparisonSchema, "'" + schema.substr(0, 80) + "'");
  if (fault.any()) return fault.error(where, remedy);

  ComparisonDocument c;
  c.kernel = document.text("kernel");
  c.created = document.text_or("created", "");
  c.device = document.text_or("device", "");
  c.dtype = document.text_or("dtype", "");
  c.profile_created = document.text_or("profile_created", "");
  c.source_hash = document.text_or("source_hash", "");
  for (const JsonFields& variant : document.objects("variants")) c.variants.push_back(read_variant(variant));
  c.winner = document.text("winner");
  c.winner_reason = document.text_or("winner_reason", "");
  c.stop_reason = document.text("stop_reason");
  c.representative_x = document.has("representative_x") ? document.x_value("representative_x") : "";
  c.learnings = document.texts("learnings");
  const JsonFields evaluations = document.object("evaluations");
  c.evaluations = {evaluations.count_or("planned", 0), evaluations.count_or("distinct_binaries", 0),
                   evaluations.count_or("timed", 0)};
  if (document.has("sweep"))
    for (const JsonFields& point : document.objects("sweep"))
      c.sweep.push_back({point.text("pass"), point.x_value(), point.integers("settings"), point.not_negative("ratio"),
                         point.boolean_or("finalist", false)});
  check_winner(document, c);
  if (fault.any()) return fault.error(where, remedy);
  return c;
}

}  // namespace hone::model

// The documents of a run, as texts: what each holds is said by its fields.
#include <array>
#include <set>
#include <utility>

#include "model/report.hpp"
#include "model/variant_fields.hpp"

namespace hone::model {

namespace {

// Always written, null where a device has no such ceiling; others follow as they come.
constexpr std::array fixed_ceilings{"copy_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s", "fma_flops_per_s"};

}  // namespace

void write_medians(FieldWriter& writer, const Ceilings& ceilings) {
  for (const char* name : fixed_ceilings)
    if (ceilings.by_name.count(name) == 0) writer.written(name, {});
  for (const auto& [name, ceiling] : ceilings.by_name) writer.written(name, ceiling.p50);
}

void read_medians(FieldReader& reader, Ceilings& ceilings) {
  // Other names would be those of other fields.
  const auto is_rate_or_time = [](const std::string& name) {
    return name.ends_with("_per_s") || name.ends_with("_ns");
  };
  for (const auto& [name, ceiling] : ceilings.by_name) {
    double median = 0;
    reader.check(is_rate_or_time(name), "spread", "names of rates and times, ..._per_s and ..._ns",
                 [name = name] { return "'" + name.substr(0, 80) + "'"; });
    reader.required(name, median, As::not_negative);
    reader.check(median == ceiling.p50, name, "the p50 of its spread, " + shortest(ceiling.p50),
                 [&] { return shortest(median); });
  }
  // A document from elsewhere may give the numbers alone: a ceiling of one sample, without spread.
  for (const auto& [name, value] : *reader.object().members()) {
    if (!is_rate_or_time(name) || value.is_null() || ceilings.by_name.count(name) != 0) continue;
    double median = 0;
    reader.required(name, median, As::not_negative);
    ceilings.by_name[name] = {median, median, median, 1};
  }
}

void check_rules(const FieldReader& reader, const std::vector<SettingsRule>& rules) {
  reader.check(!rules.empty(), "rules", "at least one rule", [] { return "none"; });
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const bool in_place = i == 0 ? rules[i].from_x == 0 : rules[i - 1].from_x < rules[i].from_x;
    reader.check(in_place, "rules[" + std::to_string(i) + "].from_x",
                 i == 0 ? "0, so that every size has settings" : "rules in ascending order",
                 [&] { return std::to_string(rules[i].from_x); });
  }
}

void check_agreement(const FieldReader& reader, const Profile& profile) {
  std::set<std::pair<std::string, std::string>> rows;
  for (const BaselineRow& row : profile.baseline.rows) rows.emplace(row.x_value, row.mode);
  const auto check_rows = [&](const std::string& name, const auto& others) {
    for (std::size_t i = 0; i < others.size(); ++i)
      reader.check(rows.count({others[i].x_value, others[i].mode}) != 0, name + "[" + std::to_string(i) + "].x_value",
                   "an x_value and mode that a baseline row has",
                   [&] { return "'" + others[i].x_value + "', '" + others[i].mode + "'"; });
  };
  check_rows("baseline.noise_floor", profile.baseline.noise_floor);
  check_rows("headroom", profile.headroom);
  const auto check_kernel = [&](const char* name, const std::string& kernel) {
    reader.check(kernel == profile.kernel, name, "the document's kernel, '" + profile.kernel + "'",
                 [&] { return "'" + kernel + "'"; });
  };
  check_kernel("identity.kernel", profile.identity.kernel);
  if (!profile.request.kernel.empty()) check_kernel("request.kernel", profile.request.kernel);
}

void check_winner(const FieldReader& reader, const ComparisonDocument& comparison) {
  std::set<std::string> ids;
  bool stands = comparison.winner == "v0";
  for (std::size_t i = 0; i < comparison.variants.size(); ++i) {
    const std::string& id = comparison.variants[i].id;
    reader.check(ids.insert(id).second, "variants[" + std::to_string(i) + "].id", "an id of its own",
                 [&] { return "'" + id + "' again"; });
    stands = stands || id == comparison.winner;
  }
  reader.check(stands, "winner", "v0 or the id of one of the variants",
               [&] { return "'" + comparison.winner.substr(0, 80) + "'"; });
}

std::string to_json(const Profile& profile) { return write_document(kProfileSchema, profile).dump(); }

base::Result<Profile> parse_profile(const std::string& json, const std::string& where) {
  std::string remedy = "run 'hone profile KERNEL' again";
  HONE_TRY(tree, parse_json(json, where, remedy));
  if (const Json* kernel = tree->find("kernel"); kernel != nullptr && kernel->text() != nullptr)
    if (!kernel->text()->empty() && kernel->text()->size() <= 80)
      remedy = "run 'hone profile " + *kernel->text() + "' again";
  return read_document<Profile>(*tree, kProfileSchema, where, remedy);
}

std::string to_json(const ComparisonDocument& comparison) {
  return write_document(kComparisonSchema, comparison).dump();
}

base::Result<ComparisonDocument> parse_comparison(const std::string& json, const std::string& where) {
  return parse_document<ComparisonDocument>(json, kComparisonSchema, where, "run 'hone optimize KERNEL' again");
}

std::string to_json(const Variant& variant) { return write_document(kVariantSchema, variant).dump(); }

base::Result<Variant> parse_variant(const std::string& json, const std::string& where) {
  return parse_document<Variant>(json, kVariantSchema, where,
                                 "run 'hone optimize KERNEL' again, or choose another variant with --variant N");
}

// Nothing reads a report back but its head (stages/records.hpp).
void fields(auto& archive, of<GateCount> auto& gate) {
  archive.required("name", gate.name);
  archive.required("passed", gate.passed);
  archive.required("failed", gate.failed);
  archive.required("largest_error_over_bound", gate.largest_error_over_bound);
  archive.required("detail", gate.detail);
}

void fields(auto& archive, of<ThreeWayRow> auto& row) {
  archive.required("x_value", row.x_value, As::x_value);
  archive.required("mode", row.mode);
  archive.required("provider", row.provider);
  archive.required("metric", row.metric);
  archive.required("unit", row.unit);
  quantile_fields(archive, row.value);
  archive.required("share_of_ceiling_pct", row.share_of_ceiling_pct);
  archive.required("source", row.source);
  archive.required("paired", row.paired, As::null_if_empty);
}

void fields(auto& archive, of<Report> auto& report) {
  archive.required("kernel", report.kernel);
  archive.required("created", report.created);
  archive.required_object("hone", [&](auto& hone) {
    hone.required("version", report.hone_version);
    hone.required("commit", report.hone_commit);
  });
  archive.required("command", report.command);
  archive.required("applied", report.applied);
  archive.required("outcome", report.outcome);
  archive.required("reason", report.reason);
  archive.required("winner", report.winner);
  archive.required("three_way", report.three_way);
  archive.required("speedups", report.speedups);
  archive.required("correctness", report.correctness);
  archive.required("changed_files", report.changed_files);
  archive.required("diff", report.diff);
  archive.required("recommendations", report.recommendations);
  archive.required("reproduction", report.reproduction);
  archive.required("revert", report.revert);
  archive.required("plots", report.plots);
  archive.written("profile", write_document(kProfileSchema, report.profile));
  archive.written("comparison", write_document(kComparisonSchema, report.comparison));
}

std::string to_json(const Report& report) { return write_document(kReportSchema, report).dump(); }

}  // namespace hone::model

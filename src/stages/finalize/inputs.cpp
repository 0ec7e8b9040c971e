#include "stages/finalize/inputs.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "stages/optimize/optimize.hpp"
#include "stages/trial/scope.hpp"

namespace hone::stages {

namespace {

constexpr std::size_t kFallbacks = 2;

const model::VariantSummary* find(const model::ComparisonDocument& comparison, const std::string& id) {
  for (const model::VariantSummary& v : comparison.variants) {
    if (v.id == id) return &v;
  }
  return nullptr;
}

// Geometric mean of the speed ratios of the passes in scope, against v0.
double overall_ratio(const model::VariantSummary& variant, const std::vector<std::string>& passes) {
  double sum = 0;
  int count = 0;
  for (const model::ResultRow& row : variant.results) {
    if (row.metric != "speed" || !(row.ratio > 0) || std::find(passes.begin(), passes.end(), row.mode) == passes.end())
      continue;
    sum += std::log(row.ratio);
    ++count;
  }
  return count == 0 ? 1 : std::exp(sum / count);
}

base::Result<std::string> choose(const model::ComparisonDocument& comparison, const std::string& wanted) {
  if (wanted.empty()) return comparison.winner;
  const std::string id = wanted.front() == 'v' ? wanted : "v" + wanted;
  if (id == "v0") return id;
  const model::VariantSummary* variant = find(comparison, id);
  std::vector<std::string> usable;
  for (const model::VariantSummary& v : comparison.variants) {
    if (v.status == model::VariantStatus::accepted || v.status == model::VariantStatus::mixed) usable.push_back(v.id);
  }
  const std::string remedy = usable.empty() ? "no variant was accepted; 'hone optimize' makes new ones"
                                            : "choose one of " + base::join_text(usable, ", ");
  if (variant == nullptr)
    return base::Error{base::ErrorKind::usage, "a variant of comparison.json", id, "--variant", remedy};
  if (std::find(usable.begin(), usable.end(), id) == usable.end()) {
    return base::Error{base::ErrorKind::usage, "a variant that was accepted, at least in part",
                       id + " was " + model::word(variant->status) + ": " + variant->reason, "--variant", remedy};
  }
  return id;
}

std::vector<std::string> fallbacks(const model::ComparisonDocument& comparison, const std::string& chosen,
                                   const std::vector<std::string>& passes) {
  std::vector<const model::VariantSummary*> accepted;
  for (const model::VariantSummary& v : comparison.variants) {
    if (v.status == model::VariantStatus::accepted && v.id != chosen) accepted.push_back(&v);
  }
  std::stable_sort(accepted.begin(), accepted.end(),
                   [&](const auto* a, const auto* b) { return overall_ratio(*a, passes) < overall_ratio(*b, passes); });
  std::vector<std::string> ids;
  for (const model::VariantSummary* v : accepted) {
    if (ids.size() < kFallbacks) ids.push_back(v->id);
  }
  return ids;
}

}  // namespace

base::Result<FinalizeInputs> load_inputs(const repository::Described& session, const Workspace& workspace,
                                         const std::string& wanted) {
  base::FileSystem& files = workspace.files();
  std::vector<std::string> missing = workspace.missing_snapshot(session.snapshot());
  for (const char* name : {"profile.json", "comparison.json"}) {
    if (!files.exists(workspace.at(name))) missing.push_back(name);
  }
  FinalizeInputs inputs;
  if (files.exists(workspace.at("comparison.json"))) {
    HONE_TRY(comparison, workspace.load_comparison());
    inputs.comparison = std::move(*comparison);
    HONE_TRY(chosen, choose(inputs.comparison, wanted));
    inputs.chosen = *chosen;
    if (inputs.chosen != "v0") {
      for (const std::string& name : {workspace.settings_name(inputs.chosen), workspace.notes_name(inputs.chosen)}) {
        if (!files.exists(workspace.at(name))) missing.push_back(name);
      }
    }
  }
  if (!missing.empty()) {
    return base::Error{base::ErrorKind::preflight, "the inputs of finalize",
                       "missing: " + base::join_text(missing, ", "), workspace.folder(),
                       fmt::format("'hone profile {0}' and 'hone optimize {0}' make them", workspace.kernel())};
  }
  HONE_TRY(profile, workspace.load_profile());
  inputs.profile = std::move(*profile);
  HONE_PROPAGATE(check_device(session, inputs.profile));
  if (inputs.comparison.profile_created != inputs.profile.created ||
      inputs.comparison.source_hash != inputs.profile.identity.source_hash) {
    return base::Error{base::ErrorKind::preflight, "a comparison made from this profile",
                       "one made from the profile of " + inputs.comparison.profile_created,
                       workspace.at("comparison.json"), "run 'hone optimize " + workspace.kernel() + "' again"};
  }
  if (inputs.chosen == "v0") return inputs;
  HONE_TRY(variant, workspace.load_variant(inputs.chosen));
  inputs.variants.push_back(std::move(*variant));
  for (const std::string& id :
       fallbacks(inputs.comparison, inputs.chosen, passes_in_scope(session.modes(), inputs.profile.request.scope))) {
    if (!files.exists(workspace.at(workspace.settings_name(id)))) continue;
    HONE_TRY(fallback, workspace.load_variant(id));
    inputs.variants.push_back(std::move(*fallback));
  }
  return inputs;
}

}  // namespace hone::stages

#include "render/results_table.hpp"

#include <cmath>

#include "model/speedup.hpp"
#include "render/format.hpp"
#include "render/profile_view.hpp"

namespace hone::render {

using model::ResultRow;
using model::Verdict;

Table results_table(const std::vector<ResultRow>& rows, const std::string& metric, const std::string& x_name,
                    const std::string& baseline, const std::string& candidate) {
  std::string unit = metric == "memory" ? "MB" : "ms";
  for (const ResultRow& row : rows)
    if (row.metric == metric && !row.unit.empty()) unit = row.unit;
  Table table({{x_name.empty() ? "x value" : x_name, Align::right},
               {"Mode"},
               {baseline + " (" + unit + ")", Align::right},
               {"p20 to p80", Align::right},
               {candidate + " (" + unit + ")", Align::right},
               {"p20 to p80", Align::right},
               {"Ratio [interval]", Align::right},
               {"Change", Align::right},
               {"Verdict"}});
  for (const ResultRow& row : rows) {
    if (row.metric != metric) continue;
    table.add_row({row.x_value, row.mode, figure(row.baseline.p50), spread(row.baseline.p20, row.baseline.p80),
                   figure(row.candidate.p50), spread(row.candidate.p20, row.candidate.p80),
                   metric == "speed" ? speed_ratio(row.ratio, row.ci_low, row.ci_high)
                                     : ratio_interval(row.ratio, row.ci_low, row.ci_high),
                   claimed_change(row, true),
                   metric == "memory" && row.verdict == Verdict::faster   ? "less"
                   : metric == "memory" && row.verdict == Verdict::slower ? "more"
                                                                          : model::word(row.verdict)},
                  ink_of(row.verdict));
  }
  return table;
}

Table short_results_table(const std::vector<ResultRow>& rows, const std::string& x_name) {
  Table table({{x_name.empty() ? "x value" : x_name, Align::right},
               {"mode"},
               {"original (ms)", Align::right},
               {"optimized (ms)", Align::right},
               {"ratio [interval]", Align::right},
               {"change"}});
  for (const ResultRow& row : rows)
    if (row.metric == "speed")
      table.add_row({row.x_value, row.mode, figure(row.baseline.p50), figure(row.candidate.p50),
                     speed_ratio(row.ratio, row.ci_low, row.ci_high), claimed_change(row, false)},
                    ink_of(row.verdict));
  return table;
}

std::string verdict_word(model::VariantStatus status) {
  using model::VariantStatus;
  switch (status) {
    case VariantStatus::accepted: return "ACCEPTED";
    case VariantStatus::rejected: return "REJECTED";
    case VariantStatus::mixed: return "MIXED";
    case VariantStatus::failed_to_compile: return "REJECTED (failed to compile)";
    case VariantStatus::failed_gate: return "REJECTED (failed a gate)";
    case VariantStatus::same_binary: return "REJECTED (same machine code as its parent)";
    case VariantStatus::over_floor: return "REJECTED (faster than the physical bound)";
  }
  return "REJECTED";
}

const ResultRow* find_result(const std::vector<ResultRow>& rows, const std::string& x_value, const std::string& mode,
                             const std::string& metric) {
  for (const ResultRow& row : rows)
    if (row.x_value == x_value && row.mode == mode && row.metric == metric) return &row;
  return nullptr;
}

std::string change_text(double ratio, const std::string& metric) {
  if (metric != "memory") return model::speed_change(ratio);
  if (!std::isfinite(ratio)) return "not a number";
  const double pct = 100 * (1 - ratio);
  if (std::fabs(pct) < 0.05) return "same";
  return percent(std::fabs(pct)) + (pct > 0 ? " less" : " more");
}

std::string claimed_change(const ResultRow& row, bool whole) {
  switch (row.verdict) {
    case Verdict::faster:
    case Verdict::slower: return whole ? change_text(row.ratio, row.metric) : model::speed_factor(row.ratio);
    case Verdict::same: return "none shown";
    case Verdict::unresolved: return "not resolved";
  }
  return "not resolved";
}

Ink ink_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster: return Ink::good;
    case Verdict::slower: return Ink::bad;
    case Verdict::same: return Ink::plain;
    case Verdict::unresolved: return Ink::warning;
  }
  return Ink::plain;
}

std::vector<std::string> settings_rules(const std::map<std::string, model::SettingsFunction>& settings) {
  std::vector<std::string> lines;
  for (const auto& [pass, function] : settings) {
    for (const model::SettingsRule& rule : function.rules)
      lines.push_back(pass + ", " + x_text(function.x_name, "from " + std::to_string(rule.from_x)) + ": " +
                      settings_text(rule.settings) + (rule.reason.empty() ? "" : " (" + rule.reason + ")"));
    if (!function.reason.empty()) lines.push_back(pass + ": " + function.reason);
  }
  return lines;
}

}  // namespace hone::render

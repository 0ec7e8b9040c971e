#include "stages/optimize/notebook.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "stages/trial/settings_function.hpp"

namespace hone::stages {

namespace {

constexpr double kAsPredicted = 0.02;  // a prediction within two percent of the outcome was right

std::string compare_with(const model::Prediction& p, const model::Comparison& c) {
  if (!(c.ci_low > 0)) return "it could not be judged: " + c.reason;
  const bool holds_prediction = c.ci_low <= p.ratio && p.ratio <= c.ci_high,
             holds_no_change = c.ci_low <= 1 && 1 <= c.ci_high;
  const bool wide = c.ci_high - c.ci_low > 4 * kAsPredicted;
  if (wide && holds_no_change && holds_prediction)
    return "not decided, the interval holds both the prediction and no change";
  if (std::abs(c.ratio - p.ratio) <= kAsPredicted) return "as predicted";
  if (holds_prediction) return wide ? "in line with the prediction, within a wide interval" : "as predicted";
  if (p.ratio < 1 && c.ci_low > 1) return "the opposite of what was predicted";
  if (p.ratio < 1 && holds_no_change) return "no effect shown where a gain was predicted";
  return c.ratio < p.ratio ? "more than predicted" : "less than predicted";
}

std::string advice(const model::Notes& notes) {
  switch (notes.status) {
    case model::VariantStatus::accepted: return "Build on it: " + notes.strategy + " helps here.";
    case model::VariantStatus::mixed: return "It helps in part: combine the part that gained, leave the rest.";
    case model::VariantStatus::same_binary:
      return "Nothing was learnt about speed: the compiler makes the same code of it.";
    case model::VariantStatus::failed_to_compile: return "The idea was not tested: its text does not compile.";
    case model::VariantStatus::failed_gate: return "Avoid it: its results are wrong, so its time means nothing.";
    case model::VariantStatus::over_floor:
      return "Avoid it: faster than the device can move the bytes means that work is missing or the measurement is "
             "wrong.";
    case model::VariantStatus::rejected: return "Avoid " + notes.strategy + " in this form here.";
  }
  return "";
}

std::vector<std::string> rule_lines(const model::Variant& variant) {
  std::vector<std::string> lines;
  for (const auto& [pass, function] : variant.settings) {
    for (const model::SettingsRule& rule : function.rules)
      lines.push_back(fmt::format("{} from {}: {}", pass, rule.from_x, settings_text(rule.settings)));
  }
  return lines;
}

}  // namespace

model::Notes open_notes(const Lab& lab, const model::Variant& variant, const std::string& hypothesis,
                        const std::string& changes, const std::string& diff,
                        const std::vector<model::Prediction>& predictions) {
  model::Notes notes;
  notes.kernel = lab.profile().kernel;
  notes.variant = variant.id, notes.parent = variant.parent, notes.strategy = variant.strategy;
  notes.hypothesis = hypothesis, notes.changes = changes, notes.diff = diff;
  notes.predictions = predictions;
  return notes;
}

std::vector<std::string> predictions_against_outcome(const std::vector<model::Prediction>& predictions,
                                                     const Evaluation& evaluation) {
  std::vector<std::string> lines;
  for (const model::Prediction& p : predictions) {
    for (const CellResult& r : evaluation.against_parent) {
      if (r.cell.mode != p.mode || r.cell.x_value != p.x_value) continue;
      lines.push_back(fmt::format("{} at {}: predicted {:.3f}, measured {} of the parent's time: {}", p.mode, p.x_value,
                                  p.ratio, interval_text(r.comparison), compare_with(p, r.comparison)));
    }
  }
  return lines;
}

void close_notes(model::Notes& notes, const Evaluation& evaluation) {
  notes.has_results = true;
  notes.results = result_rows(evaluation);
  notes.guardrails = evaluation.guardrails;
  notes.status = evaluation.ruling.status;
  notes.reason = evaluation.ruling.reason;
  const std::vector<std::string> lines = predictions_against_outcome(notes.predictions, evaluation);
  notes.learnings =
      lines.empty() ? (notes.predictions.empty() ? "No prediction was given. "
                                                 : "The prediction was not put to the test: no cell of it was timed. ")
                    : base::join_text(lines, "\n") + "\n";
  notes.learnings += advice(notes);
}

std::vector<model::Prediction> sweep_predictions(const model::Profile& profile,
                                                 const std::vector<std::string>& passes) {
  std::vector<model::Prediction> predictions;
  for (const model::Headroom& row : profile.headroom) {
    if (std::find(passes.begin(), passes.end(), row.mode) == passes.end() || !(row.ratio > 0)) continue;
    const double left = std::max(0.0, 1 - 1 / row.ratio);
    predictions.push_back({row.x_value, row.mode, 1 - left / 2,
                           fmt::format("{:.0f} % of the ceiling today, so at most {:.1f} % of the time can go; "
                                       "settings alone are expected to bring half of that",
                                       100 / row.ratio, 100 * left)});
  }
  return predictions;
}

std::string settings_diff(const model::Variant& before, const model::Variant& after) {
  const std::vector<std::string> old_lines = rule_lines(before), new_lines = rule_lines(after);
  std::string diff;
  for (const std::string& line : old_lines) {
    if (std::find(new_lines.begin(), new_lines.end(), line) == new_lines.end()) diff += "-" + line + "\n";
  }
  for (const std::string& line : new_lines) {
    if (std::find(old_lines.begin(), old_lines.end(), line) == old_lines.end()) diff += "+" + line + "\n";
  }
  return diff;
}

model::VariantSummary summary_of(const model::Notes& notes, const model::Variant& variant,
                                 const std::string& notes_file) {
  model::VariantSummary summary;
  summary.id = variant.id, summary.parent = variant.parent, summary.strategy = variant.strategy,
  summary.title = variant.title;
  summary.settings = variant.settings;
  summary.status = notes.status, summary.reason = notes.reason;
  summary.guardrails = notes.guardrails, summary.results = notes.results;
  summary.notes_file = notes_file;
  return summary;
}

}  // namespace hone::stages

#include "render/terminal/terminal.hpp"

#include "base/text.hpp"
#include "render/documents/comparison_table.hpp"
#include "render/documents/markdown.hpp"
#include "render/documents/report_tables.hpp"
#include "render/format.hpp"
#include "render/outcome.hpp"
#include "render/profile_view.hpp"
#include "render/results_table.hpp"

namespace hone::render {

namespace {

constexpr std::size_t label_width = 10;

std::string labelled(const std::string& label, const std::string& text, const Style& style, Ink ink = Ink::plain) {
  return render::labelled(label, text, style, label_width, ink);
}

// As much of a text as fits on one labelled line; the documents have the whole of it.
std::string on_one_line(const std::string& text, const Style& style) {
  const std::size_t width = style.width > label_width + 20 ? style.width - label_width : 20;
  const std::string plain = printable(text);
  if (wrap(plain, width).size() <= 1) return text;
  std::string head = wrap(plain, width - 4).front();
  if (!head.empty() && (head.back() == '.' || head.back() == ',')) head.pop_back();
  return head + " ...";
}

std::string title(const std::string& text, const Style& style, Ink ink = Ink::bold) {
  return style.paint(printable(text), ink) + "\n";
}

// A row for each size and pass; the noise floor where it has been measured.
std::string points_text(const model::Profile& profile, const Style& style) {
  const std::string own = own_provider(profile);
  const std::vector<std::string> others = other_providers(profile);
  const bool noise = !profile.baseline.noise_floor.empty();
  std::vector<Column> columns{
      {known(profile.baseline.x_name, "x value"), Align::right}, {"mode"}, {own + " (ms)", Align::right}};
  if (!others.empty()) columns.push_back({others.front() + " (ms)", Align::right});
  columns.push_back({"of ceiling", Align::right});
  if (noise) columns.push_back({"noise floor", Align::right});
  Table table(columns);
  for (const Point& point : points_of(profile, "speed")) {
    const auto median = [&](const std::string& provider) {
      const model::BaselineRow* row = find_row(profile, point.x_value, point.mode, provider, "speed");
      return row == nullptr ? std::string("-") : figure(row->p50);
    };
    std::vector<std::string> cells{point.x_value, point.mode, median(own)};
    if (!others.empty()) cells.push_back(median(others.front()));
    const model::Headroom* room = find_headroom(profile, point.x_value, point.mode);
    cells.push_back(room == nullptr ? "-" : percent(room->share_of_ceiling_pct));
    if (noise) {
      const model::NoiseFloor* floor = find_noise(profile, point.x_value, point.mode);
      cells.push_back(floor == nullptr ? "-" : percent(floor->smallest_effect_pct));
    }
    table.add_row(cells);
  }
  return table.empty() ? "no pass was timed\n" : table.terminal(style);
}

Ink outcome_ink(const model::Report& report) {
  if (report.applied) return Ink::good;
  return outcome_word(report) == "REVERTED" ? Ink::bad : Ink::warning;
}

}  // namespace

std::string profile_summary(const model::Profile& all, const Style& style) {
  model::Profile profile = all;
  profile.baseline.rows = of_origin(all, "").baseline.rows;  // those recorded elsewhere are in profile.md
  std::string text = title(profile.kernel + " on " + known(profile.device.name, "an unnamed device"), style);
  text += labelled("summary", known(profile.summary, "none recorded"), style);
  std::string bottleneck =
      std::string(model::word(profile.bottleneck.cls)) + ", confidence " + model::word(profile.bottleneck.confidence);
  for (const model::ClassOfPass& pass : profile.bottleneck.by_pass)
    bottleneck += "; " + pass.mode + " " + model::word(pass.cls);
  text += labelled("class", bottleneck, style);
  if (profile.counters.status != "available")
    text +=
        labelled("counters", "unavailable: " + known(profile.counters.reason, "the reason was not recorded"), style);
  text += "\n";
  text += points_text(profile, style);
  if (const std::size_t recorded = all.baseline.rows.size() - profile.baseline.rows.size(); recorded > 0)
    text += std::to_string(recorded) + " rows recorded elsewhere are in profile.md\n";
  for (const std::string& warning : profile.baseline.observations.warnings)
    text += labelled("note", warning, style, Ink::warning);
  return text + "\n" + plan_summary(all, style);
}

std::string baseline_summary(const model::Profile& profile, const Style& style) {
  return title(profile.kernel + " on " + known(profile.device.name, "an unnamed device") + ", as measured first",
               style) +
         points_text(profile, style) + "\n";
}

std::string plan_summary(const model::Profile& profile, const Style& style) {
  std::string text;
  int number = 0;
  for (const model::StrategyStep& step : profile.strategy_order) {
    const std::string label = number == 0 ? "plan" : "";
    ++number;
    const std::string line =
        std::to_string(number) + ". " + step.title + ": " + known(step.reason, "no reason recorded");
    text += labelled(label, on_one_line(line, style), style);
  }
  if (number == 0) text += labelled("plan", "nothing to gain that could be measured here", style);
  if (!profile.plan_note.empty()) text += labelled("", profile.plan_note, style, Ink::dim);
  return text;
}

std::string comparison_summary(const model::ComparisonDocument& comparison, const Style& style) {
  const bool better = comparison.winner != "v0" && !comparison.winner.empty();
  std::string text =
      title(comparison.kernel + ": " + (better ? "winner " + comparison.winner : "no variant is better than v0"), style,
            better ? Ink::good : Ink::warning);
  text += labelled("because", known(comparison.winner_reason, "the reason was not recorded"), style);
  text += labelled("stopped", known(comparison.stop_reason, "the reason was not recorded"), style);
  text += labelled("tried", evaluations_text(comparison.evaluations), style);
  const Table table = comparison_table(comparison);
  if (!table.empty()) text += "\n" + table.terminal(style);
  return text;
}

std::string report_summary(const model::Report& report, const Style& style) {
  std::string text = title(report.kernel + ": " + outcome_word(report), style, outcome_ink(report));
  text += labelled("outcome", outcome_text(report), style);
  const Table speed = short_results_table(report.speedups, report.profile.baseline.x_name);
  if (!speed.empty()) text += "\n" + speed.terminal(style) + "\n";
  const int failed = gates_failed(report), passed = gates_passed(report);
  text += labelled("gates",
                   std::to_string(passed) + " passed, " + std::to_string(failed) + " failed" +
                       (passed + failed == 0 ? ": none ran" : ""),
                   style, failed > 0 || passed == 0 ? Ink::bad : Ink::plain);
  for (const model::GateCount& gate : report.correctness)
    if (gate.failed > 0)
      text += labelled("", gate.name + ": " + known(gate.detail, "no detail recorded"), style, Ink::bad);
  text += labelled("files", known(base::join_text(report.changed_files, ", "), "production is as it was"), style);
  for (const std::string& command : report.revert)  // whole, so that it can be pasted
    text += style.paint("undo", Ink::dim) + std::string(label_width - 4, ' ') + printable(command) + "\n";
  for (const std::string& advice : report.recommendations) text += labelled("next", on_one_line(advice, style), style);
  return text;
}

}  // namespace hone::render

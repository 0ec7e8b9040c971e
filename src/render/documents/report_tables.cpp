#include "render/documents/report_tables.hpp"

#include <algorithm>

#include "render/documents/markdown.hpp"
#include "render/format.hpp"
#include "render/profile_view.hpp"
#include "render/results_table.hpp"

namespace hone::render {

using model::Report;
using model::ThreeWayRow;

Table correctness_table(const Report& report) {
  Table table({{"Gate"},
               {"Passed", Align::right},
               {"Failed", Align::right},
               {"Largest error over bound", Align::right},
               {"Result"},
               {"Detail"}});
  for (const model::GateCount& gate : report.correctness) {
    const bool none_ran = gate.passed + gate.failed == 0;
    const bool has_error = gate.largest_error_over_bound > 0;
    table.add_row({gate.name, std::to_string(gate.passed), std::to_string(gate.failed),
                   has_error ? figure(gate.largest_error_over_bound) : "no numbers compared",
                   none_ran          ? "failed: none ran"
                   : gate.failed > 0 ? "failed"
                                     : "passed",
                   known(gate.detail, "none")},
                  none_ran || gate.failed > 0 ? Ink::bad : Ink::good);
  }
  return table;
}

namespace {

// A median of so few samples is said to be one.
constexpr int kFewSamples = 5;

std::string time_of(const ThreeWayRow& row) {
  std::string text = figure(row.value.p50);
  if (row.metric == "speed" && row.value.samples < kFewSamples)
    text += " (" + count_of(row.value.samples, "sample") + ")";
  if (row.source == model::Source::recorded) text += " (profile)";
  return text;
}

}  // namespace

std::string three_way_note(const Report& report) {
  const auto& rows = report.three_way;
  const bool recorded = std::any_of(rows.begin(), rows.end(),
                                    [](const ThreeWayRow& row) { return row.source == model::Source::recorded; });
  if (!recorded) return "All providers were interleaved round by round in one session.";
  return "Original, optimized and quick baselines were interleaved round by round in one session. A baseline that "
         "takes several times as long was not timed again: (profile) marks its row of the profile.";
}

std::vector<std::string> providers_of(const Report& report, const std::string& metric) {
  std::vector<std::string> names;
  for (const ThreeWayRow& row : report.three_way)
    if (row.metric == metric && std::find(names.begin(), names.end(), row.provider) == names.end())
      names.push_back(row.provider);
  return names;
}

Table three_way_table(const Report& report, const std::string& metric) {
  const std::vector<std::string> providers = providers_of(report, metric);
  const std::string unit = metric == "memory" ? "MB" : "ms";
  std::vector<Column> columns{{known(report.profile.baseline.x_name, "x value"), Align::right}, {"Mode"}};
  for (const std::string& provider : providers) {
    columns.push_back({provider + " (" + unit + ")", Align::right});
    if (metric == "speed") columns.push_back({"p20 to p80", Align::right});
  }
  if (metric == "speed") columns.push_back({"Share of ceiling, optimized", Align::right});
  Table table(columns);
  std::vector<Point> points;
  for (const ThreeWayRow& row : report.three_way) {
    const bool seen = std::any_of(points.begin(), points.end(),
                                  [&](const Point& p) { return p.x_value == row.x_value && p.mode == row.mode; });
    if (row.metric == metric && !seen) points.push_back({row.x_value, row.mode});
  }
  for (const Point& point : points) {
    std::vector<std::string> cells{point.x_value, point.mode};
    std::string share = "not known";
    for (const std::string& provider : providers) {
      const auto row = std::find_if(report.three_way.begin(), report.three_way.end(), [&](const ThreeWayRow& one) {
        return one.metric == metric && one.provider == provider && one.x_value == point.x_value &&
               one.mode == point.mode;
      });
      const bool found = row != report.three_way.end();
      cells.push_back(found ? time_of(*row) : "not measured");
      if (metric == "speed") cells.push_back(found ? spread(row->value.p20, row->value.p80) : "not measured");
      if (found && provider == "optimized" && row->share_of_ceiling_pct > 0)
        share = share_interval(row->share_of_ceiling_pct, row->paired);
    }
    if (metric == "speed") cells.push_back(share);
    table.add_row(cells);
  }
  return table;
}

Table profile_facts(const model::Profile& profile) {
  Table table({{"Finding"}, {"Value"}});
  table.add_row({"Summary", known(profile.summary, "none recorded")});
  table.add_row(
      {"Device", profile.device.name.empty()
                     ? "not known"
                     : profile.device.name + ", " + known(profile.device.architecture, "architecture not known")});
  table.add_row(
      {"Class", std::string(model::word(profile.bottleneck.cls)) +
                    (profile.bottleneck.limiter.empty() ? "" : ", limited by " + profile.bottleneck.limiter)});
  for (const model::ClassOfPass& pass : profile.bottleneck.by_pass)
    table.add_row(
        {pass.mode, std::string(model::word(pass.cls)) + (pass.limiter.empty() ? "" : ", limited by " + pass.limiter)});
  table.add_row({"Slowest mode", known(profile.baseline.observations.slowest_mode, "not known")});
  double worst = 0, best = 0;
  for (const model::Headroom& row : profile.headroom) {
    worst = worst == 0 ? row.share_of_ceiling_pct : std::min(worst, row.share_of_ceiling_pct);
    best = std::max(best, row.share_of_ceiling_pct);
  }
  table.add_row(
      {"Share of ceiling before", profile.headroom.empty() ? "not known" : percent(worst) + " to " + percent(best)});
  return table;
}

std::vector<std::string> rejected_lines(const model::ComparisonDocument& comparison) {
  std::vector<std::string> lines;
  for (const model::VariantSummary& variant : comparison.variants)
    if (variant.status != model::VariantStatus::accepted)
      lines.push_back(variant.id + ", " + known(variant.title, variant.strategy) + " (" + model::word(variant.status) +
                      "): " + sentence(known(variant.reason, "no reason recorded")));
  return lines;
}

}  // namespace hone::render

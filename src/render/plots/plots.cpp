#include "render/plots/plots.hpp"

#include <algorithm>
#include <cctype>

#include "render/documents/markdown.hpp"
#include "render/documents/report_tables.hpp"
#include "render/plots/chart.hpp"
#include "render/plots/roofline.hpp"

namespace hone::render {

namespace {

using model::Report;
using model::ThreeWayRow;

std::vector<std::string> modes_with(const Report& report, const std::string& metric) {
  std::vector<std::string> modes;
  for (const ThreeWayRow& row : report.three_way)
    if (row.metric == metric && std::find(modes.begin(), modes.end(), row.mode) == modes.end())
      modes.push_back(row.mode);
  return modes;
}

std::string where(const Report& report) {
  std::string text = known(report.profile.device.name, "device not known");
  if (!report.comparison.dtype.empty()) text += ", " + report.comparison.dtype;
  return text;
}

// The optimized kernel is the blue of every plot; the original the vermilion.
Tone tone_of(const std::string& provider, int index) {
  if (provider == "optimized") return Tone::series_1;
  if (provider == "original") return Tone::series_2;
  return series_tone(2 + index % 4);
}

std::vector<Series> series_of(const Report& report, const std::string& metric, const std::string& mode) {
  std::vector<Series> all;
  int index = 0;
  for (const std::string& provider : providers_of(report, metric)) {
    Series series;
    series.name = provider;
    series.tone = tone_of(provider, index);
    series.shape = index++;
    for (const ThreeWayRow& row : report.three_way)
      if (row.metric == metric && row.mode == mode && row.provider == provider)
        series.points.push_back({row.x_value, row.value});
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  return all;
}

Chart chart(const Report& report, const std::string& title, const std::string& subtitle, const std::string& y_title,
            const std::string& unit) {
  Chart made;
  made.title = title;
  made.subtitle = subtitle;
  made.x_title = known(report.profile.baseline.x_name, "x value");
  made.y_title = y_title;
  made.unit = unit;
  return made;
}

// A pass as part of a file name: letters, digits, '-' and '_' only.
std::string file_word(const std::string& mode) {
  std::string word;
  for (const char c : mode.substr(0, 60))
    word += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ? c : '_';
  return word.empty() ? "pass" : word;
}

}  // namespace

std::string speed_plot(const Report& report, const std::string& mode) {
  Chart made = chart(report, report.kernel + " " + mode + ": time by size",
                     where(report) + "; medians, bars from p20 to p80; lower is faster", "time in ms", "ms");
  made.series = series_of(report, "speed", mode);
  return draw(made);
}

std::string memory_plot(const Report& report) {
  const std::vector<std::string> modes = modes_with(report, "memory");
  const std::string mode = modes.empty() ? "full" : modes.front();
  Chart made = chart(report, report.kernel + " " + mode + ": peak memory by size",
                     where(report) + "; the kernel's own peak over its inputs; lower is better", "memory in MB", "MB");
  made.series = series_of(report, "memory", mode);
  return draw(made);
}

std::string share_of_ceiling_plot(const Report& report) {
  Chart made = chart(report, report.kernel + ": share of the ceiling by size",
                     where(report) + "; 100 % is the time that minimum traffic and measured ceilings allow",
                     "share of ceiling in %", "%");
  made.reference = 100;
  made.reference_label = "ceiling";
  int index = 0;
  for (const std::string& mode : modes_with(report, "speed")) {
    for (const std::string provider : {"original", "optimized"}) {
      Series series;
      series.name = mode + ", " + provider;
      series.tone = series_tone(index);
      series.shape = provider == "original" ? 5 : index;
      series.dashed = provider == "original";
      for (const ThreeWayRow& row : report.three_way)
        if (row.metric == "speed" && row.mode == mode && row.provider == provider && row.share_of_ceiling_pct > 0)
          series.points.push_back(
              {row.x_value,
               {row.share_of_ceiling_pct, row.share_of_ceiling_pct, row.share_of_ceiling_pct, row.value.samples}});
      if (!series.points.empty()) made.series.push_back(std::move(series));
    }
    ++index;
  }
  return draw(made);
}

std::vector<Plot> report_plots(const Report& report) {
  std::vector<Plot> plots;
  for (const std::string& mode : modes_with(report, "speed"))
    plots.push_back({"speed_" + file_word(mode) + ".svg", "Time of " + mode + " by size", speed_plot(report, mode)});
  if (!modes_with(report, "memory").empty())
    plots.push_back({"memory.svg", "Peak memory by size", memory_plot(report)});
  const bool has_share = std::any_of(report.three_way.begin(), report.three_way.end(),
                                     [](const ThreeWayRow& row) { return row.share_of_ceiling_pct > 0; });
  if (has_share)
    plots.push_back({"share_of_ceiling.svg", "Share of the ceiling by size", share_of_ceiling_plot(report)});
  std::vector<std::string> passes;
  for (const model::SweepPoint& point : report.comparison.sweep)
    if (std::find(passes.begin(), passes.end(), point.pass) == passes.end()) passes.push_back(point.pass);
  for (const std::string& pass : passes)
    plots.push_back({"sweep_" + file_word(pass) + ".svg", "Sweep of " + pass,
                     sweep_plot(report.comparison, report.profile.baseline.x_name, pass)});
  for (Plot& plot : profile_plots(report.profile)) plots.push_back(std::move(plot));
  return plots;
}

}  // namespace hone::render

#include "cli/documents.hpp"

#include <ostream>

#include "model/benchmark_csv.hpp"
#include "render/documents/comparison_markdown.hpp"
#include "render/documents/notes_markdown.hpp"
#include "render/documents/profile_markdown.hpp"
#include "render/documents/pull_request_markdown.hpp"
#include "render/documents/report_html.hpp"
#include "render/documents/report_markdown.hpp"
#include "render/plots/plots.hpp"
#include "render/plots/roofline.hpp"
#include "render/terminal/terminal.hpp"

namespace hone::cli {

base::Result<void> RenderedDocuments::write_profile(const stages::Workspace& workspace, const model::Profile& profile) {
  if (auto written =
          workspace.write("benchmarks/v0_baseline.csv", model::write_benchmark_csv(model::baseline_rows(profile)));
      !written)
    return written;
  for (const render::Plot& plot : render::profile_plots(profile))
    if (auto written = workspace.write(plot.file_name, plot.svg); !written) return written;
  return workspace.write("profile.md", render::profile_markdown(profile));
}

base::Result<void> RenderedDocuments::write_notes(const stages::Workspace& workspace, const model::Profile& profile,
                                                  const model::Notes& notes) {
  if (notes.has_results) {
    const std::string rows =
        model::write_benchmark_csv(model::result_rows(profile, notes.variant, notes.date, notes.results));
    if (auto written = workspace.write(workspace.results_name(notes.variant), rows); !written) return written;
  }
  return workspace.write(workspace.notes_name(notes.variant), render::notes_markdown(notes));
}

base::Result<void> RenderedDocuments::write_comparison(const stages::Workspace& workspace,
                                                       const model::ComparisonDocument& comparison) {
  return workspace.write("comparison.md", render::comparison_markdown(comparison));
}

base::Result<std::vector<std::string>> RenderedDocuments::write_plots(const stages::Workspace& workspace,
                                                                      const model::Report& report) {
  const bool converter = processes_.find("rsvg-convert").has_value();
  std::vector<std::string> names;
  for (const render::Plot& plot : render::report_plots(report)) {
    HONE_PROPAGATE(workspace.write(plot.file_name, plot.svg));
    names.push_back(plot.file_name);
    if (!converter) continue;
    const std::string png = plot.file_name.substr(0, plot.file_name.rfind('.')) + ".png";
    base::Command command;
    command.arguments = {"rsvg-convert", "--zoom", "2", "--background-color", "white"};
    command.input = plot.svg;
    auto converted = processes_.run(command);
    // The SVG is the figure; a PNG that can not be made is left out and the list of plots does not name it.
    if (!converted || converted->exit_status != 0 || converted->output_cut) continue;
    HONE_PROPAGATE(workspace.write(png, converted->output));
    names.push_back(png);
  }
  return names;
}

base::Result<void> RenderedDocuments::write_report(const stages::Workspace& workspace, const model::Report& report) {
  if (auto written = workspace.write("report.md", render::report_markdown(report)); !written) return written;
  if (auto written = workspace.write("report.html", render::report_html(report)); !written) return written;
  return workspace.write("pr.md", render::pull_request_markdown(report));
}

void RenderedDocuments::show(std::ostream& out, const std::string& text) {
  before_();
  out << text << std::flush;
}

void RenderedDocuments::show_baseline(const model::Profile& profile) {
  show(early_, render::baseline_summary(profile, style_));
}

void RenderedDocuments::show_profile(const stages::Workspace& workspace, const model::Profile& profile) {
  show(people_, render::profile_summary(profile, style_) + "profile   " + workspace.at("profile.md") + "\n");
}

void RenderedDocuments::show_plan(const model::Profile& profile) {
  show(people_, render::plan_summary(profile, style_));
}

void RenderedDocuments::show_comparison(const stages::Workspace& workspace,
                                        const model::ComparisonDocument& comparison) {
  show(people_, render::comparison_summary(comparison, style_) + "comparison  " + workspace.at("comparison.md") + "\n");
}

void RenderedDocuments::show_report(const stages::Workspace& workspace, const model::Report& report) {
  show(people_, render::report_summary(report, style_) + "report    " + workspace.at("report.md") + "\n");
}

}  // namespace hone::cli

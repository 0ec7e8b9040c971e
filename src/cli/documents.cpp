#include "cli/documents.hpp"

#include "render/comparison_markdown.hpp"
#include "render/notes_markdown.hpp"
#include "render/profile_markdown.hpp"
#include "render/pull_request_markdown.hpp"
#include "render/report_markdown.hpp"

namespace hone::cli {

base::Result<void> RenderedDocuments::write_profile(const stages::Workspace& workspace, const model::Profile& profile) {
  return workspace.write("profile.md", render::profile_markdown(profile));
}

base::Result<void> RenderedDocuments::write_notes(const stages::Workspace& workspace, const model::Profile&, const model::Notes& notes) {
  return workspace.write(workspace.notes_name(notes.variant), render::notes_markdown(notes));
}

base::Result<void> RenderedDocuments::write_comparison(const stages::Workspace& workspace, const model::ComparisonDocument& comparison) {
  return workspace.write("comparison.md", render::comparison_markdown(comparison));
}

base::Result<std::vector<std::string>> RenderedDocuments::write_plots(const stages::Workspace&, const model::Report&) {
  return std::vector<std::string>{};
}

base::Result<void> RenderedDocuments::write_report(const stages::Workspace& workspace, const model::Report& report) {
  if (auto written = workspace.write("report.md", render::report_markdown(report)); !written) return written;
  return workspace.write("pr.md", render::pull_request_markdown(report));
}

}  // namespace hone::cli

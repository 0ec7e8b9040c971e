// How a stage hands its values to whoever makes documents for people. Stages write the JSON themselves; Markdown, CSV, HTML
// and plots come from an implementation given by cli, because stages know no renderer.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/profile.hpp"
#include "model/report.hpp"
#include "model/variant.hpp"
#include "stages/workspace.hpp"

namespace hone::stages {

// A write_* call writes whole files below the workspace, under the names Workspace gives, and may be repeated. A show_* call tells
// the person who waits the same values in a few lines, as soon as they are known and above the question about them.
class DocumentWriter {
 public:
  virtual ~DocumentWriter() = default;
  // profile.md and benchmarks/v0_baseline.csv.
  virtual base::Result<void> write_profile(const Workspace& workspace, const model::Profile& profile) = 0;
  // {kernel}_vN_notes.md; with results also benchmarks/vN_results.csv. Called before a variant runs and again after it.
  virtual base::Result<void> write_notes(const Workspace& workspace, const model::Profile& profile,
                                         const model::Notes& notes) = 0;
  // comparison.md.
  virtual base::Result<void> write_comparison(const Workspace& workspace,
                                              const model::ComparisonDocument& comparison) = 0;
  // Plots as SVG, and as PNG where a converter is installed; returns the file names, to stand in the report.
  virtual base::Result<std::vector<std::string>> write_plots(const Workspace& workspace,
                                                             const model::Report& report) = 0;
  // report.md, report.html and pr.md.
  virtual base::Result<void> write_report(const Workspace& workspace, const model::Report& report) = 0;

  virtual void show_baseline(const model::Profile&) {}  // times and shares of the ceiling, before the diagnosis
  virtual void show_profile(const Workspace&, const model::Profile&) {}
  virtual void show_plan(const model::Profile&) {}  // after a person changed it
  virtual void show_comparison(const Workspace&, const model::ComparisonDocument&) {}
  virtual void show_report(const Workspace&, const model::Report&) {}
};

}  // namespace hone::stages

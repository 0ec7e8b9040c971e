#include "render/documents/report_markdown.hpp"

#include "base/text.hpp"
#include "render/documents/comparison_table.hpp"
#include "render/documents/markdown.hpp"
#include "render/documents/report_tables.hpp"
#include "render/format.hpp"
#include "render/outcome.hpp"
#include "render/results_table.hpp"

namespace hone::render {

namespace {

using model::Report;

void write_summary(Markdown& page, const Report& report) {
  page.heading(2, "1. Summary");
  page.formatted("**" + outcome_word(report) + "**: " + markdown_text(outcome_text(report)));
  page.facts({{"Kernel", report.kernel + (report.comparison.dtype.empty() ? "" : ", " + report.comparison.dtype)},
              {"Outcome", report.reason},
              {"Winner", report.winner == "v0" ? "v0, the kernel as it was" : report.winner},
              {"Files changed", known(base::join_text(report.changed_files, ", "), "none")},
              {"Correctness",
               std::to_string(gates_passed(report)) + " passed, " + std::to_string(gates_failed(report)) + " failed"},
              {"Device", report.profile.device.name},
              {"Date", report.created},
              {"hone", report.hone_version + " (" + known(report.hone_commit, "commit not known") + ")"},
              {"Command", report.command.empty() ? "" : markdown_code(report.command)}});
  const std::string x_name = report.profile.baseline.x_name;
  page.table(results_table(report.speedups, "speed", x_name, "original", "optimized"));
  page.table(results_table(report.speedups, "memory", x_name, "original", "optimized"));
  if (report.speedups.empty())
    page.paragraph("There is no speed table: nothing new stands in production, so nothing was measured anew.");
  else
    page.paragraph(
        "Ratios are optimized time over original time, from pairs taken in one session; a change is claimed only where "
        "the whole interval lies on one side of 1. Where both are the same machine code there is nothing to pair: that "
        "row has one time.");
}

void write_three_way(Markdown& page, const Report& report) {
  const Table speed = three_way_table(report, "speed");
  if (speed.empty()) return;
  page.heading(3, "Three-way comparison");
  page.table(speed);
  page.table(three_way_table(report, "memory"));
  const Table kernels = three_way_table(report, "kernels");
  if (!kernels.empty()) {
    page.paragraph("The kernels alone, without what the framework does beside them in a pass:");
    page.table(kernels);
  }
  page.paragraph(three_way_note(report));
}

void write_changes(Markdown& page, const Report& report) {
  page.heading(2, "4. Winning changes");
  for (const model::VariantSummary& variant : report.comparison.variants) {
    if (variant.id != report.winner) continue;
    page.paragraph(variant.id + ", " + known(variant.title, variant.strategy) + ": " +
                   sentence(known(variant.reason, "no reason recorded")));
    page.bullets(settings_rules(variant.settings));
  }
  if (report.diff.empty())
    page.paragraph("No file was changed.");
  else {
    page.paragraph(report.applied ? "The change as it stands in the production files:"
                                  : "The change that was tried and taken back:");
    page.block(report.diff, "diff");
  }
}

void write_plots(Markdown& page, const Report& report) {
  page.heading(2, "6. Plots");
  if (report.plots.empty()) return page.paragraph("None: without new measurements there is nothing to draw.");
  for (const std::string& plot : report.plots) {
    std::string title = plot.substr(0, plot.rfind('.'));
    for (char& c : title) c = c == '_' ? ' ' : c;
    page.formatted("![" + markdown_text(title) + "](" + plot + ")");
  }
}

void write_reproduction(Markdown& page, const Report& report) {
  page.heading(2, "9. Reproduction");
  if (report.reproduction.empty())
    page.paragraph("No commands were recorded.");
  else
    page.block(base::join_text(report.reproduction, "\n"), "sh");
  page.facts({{"hone", report.hone_version + " (" + known(report.hone_commit, "commit not known") + ")"},
              {"Device", report.profile.device.name},
              {"Driver or system", report.profile.device.driver},
              {"Compiler", report.profile.device.compiler},
              {"Seed", std::to_string(report.profile.request.seed)},
              {"Source hash", report.profile.identity.source_hash}});
  if (report.revert.empty())
    return page.paragraph("Nothing has to be taken back: the production files are as they were.");
  page.paragraph("To take the change back:");
  page.block(base::join_text(report.revert, "\n"), "sh");
}

}  // namespace

std::string report_markdown(const Report& report) {
  Markdown page;
  page.heading(1, report.kernel + ": " + outcome_word(report));
  write_summary(page, report);
  page.heading(2, "2. Baseline profile");
  page.table(profile_facts(report.profile));
  page.heading(2, "3. Variant comparison");
  if (report.comparison.variants.empty()) page.paragraph("No variant was tried.");
  page.table(comparison_table(report.comparison));
  page.paragraph(
      "The loop stopped because: " + sentence(known(report.comparison.stop_reason, "the reason was not recorded")) +
      " " + sentence(evaluations_text(report.comparison.evaluations)));
  write_three_way(page, report);
  write_changes(page, report);
  page.heading(2, "5. Rejected approaches");
  const std::vector<std::string> rejected = rejected_lines(report.comparison);
  if (rejected.empty()) page.paragraph("None: no variant was rejected.");
  page.bullets(rejected);
  page.bullets(report.comparison.learnings);
  write_plots(page, report);
  page.heading(2, "7. Correctness");
  if (report.correctness.empty()) page.paragraph("No gate ran, so nothing may be applied.");
  page.table(correctness_table(report));
  page.heading(2, "8. Recommendations");
  if (report.recommendations.empty()) page.paragraph("None.");
  page.bullets(report.recommendations);
  write_reproduction(page, report);
  return page.str();
}

}  // namespace hone::render

#include "render/documents/pull_request_markdown.hpp"

#include "base/text.hpp"
#include "render/documents/markdown.hpp"
#include "render/documents/report_tables.hpp"
#include "render/format.hpp"
#include "render/outcome.hpp"
#include "render/results_table.hpp"

namespace hone::render {

using model::Report;

namespace {

std::string title(const Report& report) {
  if (!report.applied) return report.kernel + ": no change to merge (" + outcome_word(report) + ")";
  for (const model::VariantSummary& variant : report.comparison.variants)
    if (variant.id == report.winner && !variant.title.empty()) return report.kernel + ": " + variant.title;
  return report.kernel + ": apply " + known(report.winner, "the winner");
}

void write_what_and_why(Markdown& page, const Report& report, const std::string& heading) {
  page.heading(2, heading);
  page.paragraph(outcome_text(report));
  page.paragraph("Before: " + sentence(known(report.profile.summary, "no profile summary was recorded")));
  for (const model::VariantSummary& variant : report.comparison.variants)
    if (variant.id == report.winner) page.bullets(settings_rules(variant.settings));
  std::vector<std::string> files;
  for (const std::string& file : report.changed_files) files.push_back(markdown_code(file));
  if (!files.empty()) page.formatted("Files changed: " + base::join_text(files, ", ") + ".");
}

void write_measured(Markdown& page, const Report& report, int level) {
  page.heading(level, "How it was measured");
  const model::DeviceInfo& device = report.profile.device;
  page.bullets({"Device: " + known(device.name, "not known") + ", " + known(device.driver, "driver not known") + ", " +
                    known(device.compiler, "compiler not known") + ".",
                "Original and optimized kernel alternate in one session on the same inputs; ratios carry their "
                "interval, and a change is "
                "claimed only where the whole interval lies on one side of 1.",
                "Kernel time, caches cold, inputs restored before each run; the noise floor comes from the original "
                "against a byte copy of "
                "itself.",
                "hone " + report.hone_version + " (" + known(report.hone_commit, "commit not known") + "), " +
                    known(report.created, "date not known") + "."});
}

void write_results(Markdown& page, const Report& report, int level) {
  page.heading(level, "Results");
  const std::string x_name = report.profile.baseline.x_name;
  if (report.speedups.empty()) page.paragraph("None: nothing new stands in production.");
  page.table(results_table(report.speedups, "speed", x_name, "original", "optimized"));
  page.table(results_table(report.speedups, "memory", x_name, "original", "optimized"));
}

void write_reproduction(Markdown& page, const Report& report, int level) {
  page.heading(level, "Reproduction");
  if (report.reproduction.empty())
    page.paragraph("No commands were recorded.");
  else
    page.block(base::join_text(report.reproduction, "\n"), "sh");
}

// The sections of Liger-Kernel's template for pull requests. Its boxes stand for runs of the whole suite, which hone does not
// make: it runs the operation's own tests, and leaves the boxes to the author.
std::string in_form_of_liger(const Report& report) {
  Markdown page;
  page.heading(1, title(report));
  write_what_and_why(page, report, "Summary");
  page.heading(2, "Details");
  write_results(page, report, 3);
  const Table kernels = three_way_table(report, "kernels");
  if (!kernels.empty()) {
    page.paragraph("The kernels alone, without what PyTorch does beside them in a pass:");
    page.table(kernels);
  }
  write_measured(page, report, 3);
  write_reproduction(page, report, 3);
  page.heading(2, "Testing Done");
  if (report.correctness.empty()) page.paragraph("No gate ran: do not merge.");
  page.table(correctness_table(report));
  page.formatted("- Hardware Type: " + markdown_text(known(report.profile.device.name, "not known")) +
                 "\n- [ ] run `make test` to ensure correctness (of it the operation's own file was run, see above)"
                 "\n- [ ] run `make checkstyle` to ensure code style (of it the changed file was checked, see above)"
                 "\n- [ ] run `make test-convergence` to ensure convergence");
  return page.str();
}

}  // namespace

std::string pull_request_markdown(const Report& report) {
  if (report.profile.identity.repository == "liger") return in_form_of_liger(report);
  Markdown page;
  page.heading(1, title(report));
  write_what_and_why(page, report, "What changed and why");
  write_results(page, report, 2);
  page.heading(2, "Correctness");
  if (report.correctness.empty()) page.paragraph("No gate ran: do not merge.");
  page.table(correctness_table(report));
  write_measured(page, report, 2);
  write_reproduction(page, report, 2);
  return page.str();
}

}  // namespace hone::render

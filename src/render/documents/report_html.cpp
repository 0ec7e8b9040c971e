#include "render/documents/report_html.hpp"

#include "base/text.hpp"
#include "render/documents/comparison_table.hpp"
#include "render/documents/markdown.hpp"
#include "render/documents/report_tables.hpp"
#include "render/format.hpp"
#include "render/outcome.hpp"
#include "render/plots/plots.hpp"
#include "render/plots/svg.hpp"
#include "render/results_table.hpp"

namespace hone::render {

namespace {

using model::Report;

const char* const page_style =
    R"(:root{color-scheme:light dark;--ink:#1b1f24;--muted:#59636e;--line:#d9dde2;--paper:#fff;--panel:#f6f7f9;
--good:#0a6b4f;--bad:#b23b00;--wait:#7a5c00;--add:#e3f4ec;--del:#fbe9e2}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8eb;--muted:#9aa4af;--line:#343a41;--paper:#16191d;--panel:#1e2227;
--good:#4cc79d;--bad:#f08a3c;--wait:#d9b24a;--add:#12342a;--del:#3d2216}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:2rem 1.25rem 4rem;background:var(--paper);color:var(--ink);
font:16px/1.55 'Inter','Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif}
h1{font-size:1.7rem;margin:0 0 .5rem}h2{font-size:1.2rem;margin:2.5rem 0 .75rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.5rem 0 .5rem}p{margin:.5rem 0;max-width:60rem}ul{padding-left:1.25rem}
.outcome{border-left:4px solid var(--muted);background:var(--panel);padding:.75rem 1rem;margin:1rem 0}
.outcome b{letter-spacing:.04em}.applied{border-color:var(--good)}.applied b{color:var(--good)}
.reverted{border-color:var(--bad)}.reverted b{color:var(--bad)}.none{border-color:var(--wait)}.none b{color:var(--wait)}
.table{overflow-x:auto;margin:.75rem 0}table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .75rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{color:var(--muted);font-weight:600;vertical-align:bottom}td.figure,th.figure{text-align:right}td.figure{white-space:nowrap}
pre{background:var(--panel);padding:.75rem 1rem;overflow-x:auto;font:13px/1.5 ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}
pre .add{background:var(--add);display:block}pre .del{background:var(--del);display:block}pre .same{display:block}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem}
figure{margin:0;border:1px solid var(--line)}figure svg{display:block;width:100%;height:auto}
footer{margin-top:3rem;color:var(--muted);font-size:.875rem}
)";

std::string heading(int level, const std::string& text) {
  const std::string tag = "h" + std::to_string(level);
  return "<" + tag + ">" + escape_xml(text) + "</" + tag + ">\n";
}

std::string paragraph(const std::string& text) { return text.empty() ? "" : "<p>" + escape_xml(text) + "</p>\n"; }

std::string bullets(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items)
    if (!item.empty()) text += "<li>" + escape_xml(item) + "</li>\n";
  return text.empty() ? "" : "<ul>\n" + text + "</ul>\n";
}

std::string facts(const std::vector<std::pair<std::string, std::string>>& rows) {
  Table table({{"Field"}, {"Value"}});
  for (const auto& [name, value] : rows) table.add_row({name, known(value, "not known")});
  return table.html();
}

std::string html(const Table& table) { return table.empty() ? "" : table.html(); }

std::string block(const std::vector<std::string>& lines) {
  return "<pre>" + escape_xml(base::join_text(lines, "\n")) + "</pre>\n";
}

std::string diff_block(const std::string& diff) {
  std::string text = "<pre>";
  for (const std::string& line : base::split(base::trim(diff), '\n')) {
    const bool head = base::starts_with(line, "+++") || base::starts_with(line, "---");
    const char* kind = head                           ? "same"
                       : base::starts_with(line, "+") ? "add"
                       : base::starts_with(line, "-") ? "del"
                                                      : "same";
    text += std::string("<span class=\"") + kind + "\">" + escape_xml(line.empty() ? " " : line) + "</span>";
  }
  return text + "</pre>\n";
}

std::string summary(const Report& report) {
  const std::string word = outcome_word(report);
  const char* look = report.applied ? "applied" : word == "REVERTED" ? "reverted" : "none";
  std::string text = "<div class=\"outcome " + std::string(look) + "\"><b>" + word + "</b><br>" +
                     escape_xml(outcome_text(report)) + "</div>\n";
  text += heading(2, "1. Summary");
  text += facts({{"Kernel", report.kernel + (report.comparison.dtype.empty() ? "" : ", " + report.comparison.dtype)},
                 {"Winner", report.winner == "v0" ? "v0, the kernel as it was" : report.winner},
                 {"Files changed", known(base::join_text(report.changed_files, ", "), "none")},
                 {"Correctness", std::to_string(gates_passed(report)) + " passed, " +
                                     std::to_string(gates_failed(report)) + " failed"},
                 {"Device", report.profile.device.name},
                 {"Date", report.created},
                 {"Command", report.command}});
  const std::string x_name = report.profile.baseline.x_name;
  text += html(results_table(report.speedups, "speed", x_name, "original", "optimized"));
  text += html(results_table(report.speedups, "memory", x_name, "original", "optimized"));
  return text +
         (report.speedups.empty()
              ? paragraph("There is no speed table: nothing new stands in production, so nothing was measured anew.")
              : "");
}

std::string comparison(const Report& report) {
  std::string text = heading(2, "3. Variant comparison");
  if (report.comparison.variants.empty()) text += paragraph("No variant was tried.");
  text += html(comparison_table(report.comparison));
  text += paragraph(
      "The loop stopped because: " + sentence(known(report.comparison.stop_reason, "the reason was not recorded")) +
      " " + sentence(evaluations_text(report.comparison.evaluations)));
  const Table speed = three_way_table(report, "speed");
  if (!speed.empty())
    text += heading(3, "Three-way comparison") + speed.html() + html(three_way_table(report, "memory")) +
            paragraph(three_way_note(report));
  const Table kernels = three_way_table(report, "kernels");
  if (!kernels.empty())
    text += paragraph("The kernels alone, without what the framework does beside them in a pass:") + kernels.html();
  return text;
}

std::string changes(const Report& report) {
  std::string text = heading(2, "4. Winning changes");
  for (const model::VariantSummary& variant : report.comparison.variants)
    if (variant.id == report.winner)
      text += paragraph(variant.id + ", " + known(variant.title, variant.strategy) + ": " +
                        sentence(known(variant.reason, "no reason recorded"))) +
              bullets(settings_rules(variant.settings));
  if (report.diff.empty()) return text + paragraph("No file was changed.");
  text += paragraph(report.applied ? "The change as it stands in the production files:"
                                   : "The change that was tried and taken back:");
  return text + diff_block(report.diff);
}

std::string plots(const Report& report) {
  std::string text = heading(2, "6. Plots");
  const std::vector<Plot> drawn = report_plots(report);
  if (drawn.empty()) return text + paragraph("None: without new measurements there is nothing to draw.");
  text += "<div class=\"plots\">\n";
  for (const Plot& plot : drawn) text += "<figure>\n" + plot.svg + "</figure>\n";
  return text + "</div>\n";
}

std::string reproduction(const Report& report) {
  std::string text = heading(2, "9. Reproduction");
  text += report.reproduction.empty() ? paragraph("No commands were recorded.") : block(report.reproduction);
  text += facts({{"hone", report.hone_version + " (" + known(report.hone_commit, "commit not known") + ")"},
                 {"Device", report.profile.device.name},
                 {"Driver or system", report.profile.device.driver},
                 {"Compiler", report.profile.device.compiler},
                 {"Seed", std::to_string(report.profile.request.seed)},
                 {"Source hash", report.profile.identity.source_hash}});
  if (report.revert.empty())
    return text + paragraph("Nothing has to be taken back: the production files are as they were.");
  return text + paragraph("To take the change back:") + block(report.revert);
}

}  // namespace

std::string report_html(const Report& report) {
  const std::string title = report.kernel + ": " + outcome_word(report);
  std::string text =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      escape_xml(title) + "</title>\n<style>\n" + page_style + svg_style_sheet() + "</style>\n</head>\n<body>\n";
  text += heading(1, report.kernel);
  text += summary(report);
  text += heading(2, "2. Baseline profile") + profile_facts(report.profile).html();
  text += comparison(report);
  text += changes(report);
  text += heading(2, "5. Rejected approaches");
  const std::vector<std::string> rejected = rejected_lines(report.comparison);
  text += rejected.empty() ? paragraph("None: no variant was rejected.") : bullets(rejected);
  text += bullets(report.comparison.learnings);
  text += plots(report);
  text += heading(2, "7. Correctness");
  text += report.correctness.empty() ? paragraph("No gate ran, so nothing may be applied.")
                                     : correctness_table(report).html();
  text += heading(2, "8. Recommendations");
  text += report.recommendations.empty() ? paragraph("None.") : bullets(report.recommendations);
  text += reproduction(report);
  text += "<footer>" + escape_xml("hone " + report.hone_version + ", " + known(report.created, "date not known")) +
          "</footer>\n";
  return text + "</body>\n</html>\n";
}

}  // namespace hone::render

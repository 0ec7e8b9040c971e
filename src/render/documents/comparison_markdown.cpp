#include "render/documents/comparison_markdown.hpp"

#include <algorithm>

#include "render/documents/comparison_table.hpp"
#include "render/documents/markdown.hpp"
#include "render/format.hpp"
#include "render/results_table.hpp"

namespace hone::render {

namespace {

using model::ComparisonDocument;
using model::ResultRow;
using model::VariantSummary;

std::vector<std::string> modes_of(const ComparisonDocument& comparison) {
  std::vector<std::string> modes;
  for (const VariantSummary& variant : comparison.variants)
    for (const ResultRow& row : variant.results)
      if (row.metric == "speed" && std::find(modes.begin(), modes.end(), row.mode) == modes.end())
        modes.push_back(row.mode);
  return modes;
}

const ResultRow* any_memory(const VariantSummary& variant, const std::string& x_value) {
  for (const ResultRow& row : variant.results)
    if (row.metric == "memory" && row.x_value == x_value) return &row;
  return nullptr;
}

void write_variant(Markdown& page, const VariantSummary& variant) {
  page.heading(3, variant.id + ": " + known(variant.title, variant.strategy));
  page.formatted("**" + verdict_word(variant.status) +
                 "**: " + markdown_text(sentence(known(variant.reason, "no reason recorded"))) +
                 (variant.notes_file.empty() ? "" : " Notes: " + markdown_code(variant.notes_file) + "."));
  page.bullets(settings_rules(variant.settings));
  page.table(results_table(variant.results, "speed", "x value", "v0", variant.id));
}

}  // namespace

Table comparison_table(const ComparisonDocument& comparison) {
  const std::vector<std::string> modes = modes_of(comparison);
  std::vector<Column> columns{{"Variant"}, {"Parent", Align::left, 2}, {"Strategy"}};
  for (const std::string& mode : modes) columns.push_back({mode + " at " + comparison.representative_x, Align::right});
  columns.push_back({"Memory", Align::right, 1});
  columns.push_back({"Status"});
  Table table(columns);
  for (const VariantSummary& variant : comparison.variants) {
    std::vector<std::string> cells{variant.id + (variant.id == comparison.winner ? " (winner)" : ""),
                                   known(variant.parent, "v0"), known(variant.strategy, "none")};
    for (const std::string& mode : modes) {
      const ResultRow* row = find_result(variant.results, comparison.representative_x, mode, "speed");
      cells.push_back(row == nullptr ? "not timed" : speed_ratio(row->ratio, row->ci_low, row->ci_high));
    }
    const ResultRow* memory = any_memory(variant, comparison.representative_x);
    cells.push_back(memory == nullptr ? "not measured" : change_text(memory->ratio, "memory"));
    cells.push_back(model::word(variant.status));
    table.add_row(cells, variant.id == comparison.winner ? Ink::good : Ink::plain);
  }
  return table;
}

std::string evaluations_text(const model::Evaluations& evaluations) {
  return count_of(evaluations.planned, "configuration") + " planned, " +
         (evaluations.distinct_binaries == 1 ? "1 distinct binary"
                                             : std::to_string(evaluations.distinct_binaries) + " distinct binaries") +
         ", " + std::to_string(evaluations.timed) + " timed";
}

std::string comparison_markdown(const ComparisonDocument& comparison) {
  Markdown page;
  page.heading(1, comparison.kernel + ": comparison of variants");
  page.formatted("**Winner: " + markdown_text(comparison.winner) + "**, " +
                 markdown_text(sentence(known(comparison.winner_reason, "the reason was not recorded"))));
  page.facts({{"Kernel", comparison.kernel + (comparison.dtype.empty() ? "" : ", " + comparison.dtype)},
              {"Date", comparison.created},
              {"Device", comparison.device},
              {"Profile of", comparison.profile_created},
              {"Source hash", comparison.source_hash},
              {"Why the loop stopped", known(comparison.stop_reason, "not recorded")},
              {"Evaluations", evaluations_text(comparison.evaluations)}});
  page.heading(2, "All variants");
  if (comparison.variants.empty())
    page.paragraph("No variant was tried: " + sentence(known(comparison.stop_reason, "the reason was not recorded")));
  page.table(comparison_table(comparison));
  if (!comparison.variants.empty())
    page.paragraph(
        "Ratios are time over v0's with the interval of their paired runs, so smaller is faster and v0 itself is 1. "
        "Configurations with the machine code of another are not timed again.");
  if (!comparison.variants.empty()) page.heading(2, "Variant by variant");
  for (const VariantSummary& variant : comparison.variants) write_variant(page, variant);
  page.heading(2, "What was learnt");
  if (comparison.learnings.empty()) page.paragraph("Nothing was written down.");
  page.bullets(comparison.learnings);
  return page.str();
}

}  // namespace hone::render

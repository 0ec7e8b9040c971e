#include "render/documents/notes_markdown.hpp"

#include "base/text.hpp"
#include "render/documents/markdown.hpp"
#include "render/format.hpp"
#include "render/results_table.hpp"

namespace hone::render {

namespace {

using model::Notes;

// Paragraphs between empty lines; lines that start with "- " are a list.
void write_prose(Markdown& page, const std::string& text) {
  std::string paragraph;
  std::vector<std::string> items;
  const auto flush = [&] {
    page.paragraph(paragraph);
    page.bullets(items);
    paragraph.clear();
    items.clear();
  };
  for (const std::string& line : base::split(text, '\n')) {
    const bool item = base::starts_with(line, "- ");
    if (line.empty() || item != !items.empty()) flush();
    if (item)
      items.push_back(line.substr(2));
    else if (!line.empty())
      paragraph += (paragraph.empty() ? "" : " ") + line;
  }
  flush();
}

void write_before(Markdown& page, const Notes& notes) {
  page.heading(1, notes.kernel + " " + notes.variant + ": notes");
  page.facts({{"Kernel", notes.kernel},
              {"Date", notes.date},
              {"Variant", notes.variant},
              {"Parent variant", known(notes.parent, "none: this is the kernel as shipped")},
              {"Strategy", notes.strategy}});
  page.heading(2, "Hypothesis");
  write_prose(page, known(notes.hypothesis, "None was written."));
  page.heading(2, "Changes");
  write_prose(page, known(notes.changes, "None was described."));
  if (!notes.diff.empty()) page.block(notes.diff, "diff");
  page.heading(2, "Expected Outcome");
  if (notes.predictions.empty())
    return page.paragraph("No figure was predicted, so the results can not confirm the hypothesis.");
  Table table({{"x value", Align::right},
               {"Mode"},
               {"Predicted ratio", Align::right},
               {"Predicted change", Align::right},
               {"Why"}});
  for (const model::Prediction& one : notes.predictions)
    table.add_row({one.x_value, one.mode, ratio(one.ratio), change_text(one.ratio, "speed"),
                   known(one.why, "no reason written")});
  page.table(table);
  page.paragraph("Ratios are time of " + notes.variant + " over time of " + known(notes.parent, "v0") +
                 ", written before anything ran.");
}

}  // namespace

std::string notes_markdown(const Notes& notes) {
  Markdown page;
  write_before(page, notes);
  if (!notes.has_results) return page.str();

  page.heading(2, "Actual Results");
  const Table speed = results_table(notes.results, "speed", "x value", "v0", notes.variant);
  if (speed.empty())
    page.paragraph("Nothing was timed: " + sentence(known(notes.reason, "the reason was not recorded")));
  page.table(speed);
  const Table memory = results_table(notes.results, "memory", "x value", "v0", notes.variant);
  if (memory.empty() && !speed.empty()) page.paragraph("Memory was not measured for this variant.");
  page.table(memory);
  page.heading(2, "Guardrail Checks");
  Table guardrails({{"Check"}, {"Threshold"}, {"Interval"}, {"Status"}, {"Detail"}});
  for (const model::GuardrailCheck& one : notes.guardrails)
    guardrails.add_row({one.check, known(one.threshold, "none"), known(one.interval, "not measured"), one.status,
                        known(one.detail, "none")});
  if (guardrails.empty()) page.paragraph("None was reached: the variant ended before its guardrails.");
  page.table(guardrails);
  page.heading(2, "Verdict");
  page.formatted("**" + verdict_word(notes.status) +
                 "**: " + markdown_text(sentence(known(notes.reason, "no reason recorded"))));
  page.heading(2, "Learnings");
  // One line for each prediction against its outcome, then the advice.
  const std::vector<std::string> lines = base::split(known(notes.learnings, "None was written."), '\n');
  if (lines.size() == 1)
    page.paragraph(lines.front());
  else
    page.bullets(lines);
  return page.str();
}

}  // namespace hone::render

// hone explain [WORD]: what a word of hone's documents means, how it is decided, what to do, and who says so.
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "counters/launch_record.hpp"
#include "diagnose/glossary.hpp"
#include "model/json_value.hpp"
#include "render/terminal/style.hpp"

namespace hone::cli {

namespace {

using diagnose::Term;
using model::Json;

std::vector<std::string> words_of_kind(const std::string& kind) {
  std::vector<std::string> words;
  for (const Term& term : diagnose::glossary())
    if (term.kind == kind) words.push_back(term.word);
  return words;
}

// By hone's words, or by the names that Nsight Compute gives its metrics.
std::vector<const Term*> terms_of(const std::string& word) {
  std::vector<const Term*> found = diagnose::find_terms(word);
  if (!found.empty()) return found;
  const std::string name = counters::profile_name_of(word);
  return name.empty() ? found : diagnose::find_terms(name);
}

base::Error unknown(const std::string& word) {
  std::vector<std::string> known;
  for (const Term& term : diagnose::glossary()) {
    if (std::find(known.begin(), known.end(), term.word) == known.end()) known.push_back(term.word);
    if (term.kind != "metric") continue;
    for (std::string& name : counters::metrics_of(term.word)) known.push_back(std::move(name));
  }
  const std::vector<std::string> near = base::nearest(word, known);
  return {base::ErrorKind::usage,
          "a class, limiter, strategy, metric, stall reason, verdict or word of hone's documents", "'" + word + "'",
          "hone explain",
          (near.empty() ? "" : "did you mean " + base::join_text(near, " or ") + "? ") +
              std::string("'hone explain' lists all of them")};
}

Json json_of(const Term& term) {
  Json made = Json::object({{"word", term.word},
                            {"kind", term.kind},
                            {"meaning", term.meaning},
                            {"decided", term.decided},
                            {"to_do", term.to_do}});
  const auto text = [](const std::string& item) { return Json(item); };
  made.add("other_names",
           Json::list(term.kind == "metric" ? counters::metrics_of(term.word) : std::vector<std::string>(), text));
  made.add("sources", Json::list(term.sources, text));
  return made;
}

void print_block(std::ostream& out, const std::string& label, const std::string& text, const render::Style& style) {
  if (text.empty()) return;
  constexpr std::size_t kLabel = 14;
  const std::size_t width = style.width > kLabel + 20 ? style.width - kLabel : 20;
  bool first = true;
  for (const std::string& line : render::wrap(text, width)) {
    out << style.paint(fmt::format("  {:<{}}", first ? label : "", kLabel - 2), render::Ink::dim) << line << "\n";
    first = false;
  }
}

void print(std::ostream& out, const Term& term, const render::Style& style) {
  out << style.paint(term.word, render::Ink::bold) << "  (" << term.kind << ")\n";
  print_block(out, "meaning", term.meaning, style);
  print_block(out, "decided by", term.decided, style);
  print_block(out, "to do", term.to_do, style);
  if (term.kind == "metric") print_block(out, "also", base::join_text(counters::metrics_of(term.word), ", "), style);
  print_block(out, "sources", base::join_text(term.sources, "; "), style);
}

}  // namespace

int run_explain(const CommandContext& context) {
  const std::string word = base::join_text(context.typed.arguments, " ");  // "tail wave" needs no quotes
  std::vector<const Term*> terms;
  if (word.empty()) {
    for (const Term& term : diagnose::glossary()) terms.push_back(&term);
  } else {
    terms = terms_of(word);
    if (terms.empty()) return fail(context, unknown(word));
  }
  if (context.meant.talk.json) {
    Json made = Json::object({{"schema", "hone.explain/1"}, {"word", word}});
    made.add("terms", Json::list(terms, [](const Term* term) { return json_of(*term); }));
    context.out << made.dump() << "\n";
    return 0;
  }
  const render::Style& style = context.style();
  if (word.empty()) {
    for (const std::string& kind : diagnose::kinds_of_terms()) {
      context.out << style.paint(kind, render::Ink::bold) << "\n";
      print_block(context.out, "", base::join_text(words_of_kind(kind), ", "), style);
    }
    return 0;
  }
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (i > 0) context.out << "\n";
    print(context.out, *terms[i], style);
  }
  return 0;
}

}  // namespace hone::cli

#include "stages/plan.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/text.hpp"

namespace hone::stages {

namespace {

std::string known(const std::string& text, const char* otherwise) { return text.empty() ? otherwise : text; }

std::string places(const std::vector<model::Location>& locations) {
  std::vector<std::string> all;
  for (const model::Location& place : locations) all.push_back(place.file + ":" + std::to_string(place.line));
  return all.empty() ? "" : " (" + base::join_text(all, ", ") + ")";
}

// What was found for this step; where nothing was, what the class of the kernel rests on.
std::vector<std::string> evidence_of(const model::Profile& profile, const model::StrategyStep& step) {
  std::vector<std::string> found;
  for (const model::Opportunity& one : profile.opportunities)
    if (one.strategy == step.strategy) found.push_back(one.title + ": " + one.detail + places(one.locations));
  if (!found.empty()) return found;
  for (const model::EvidenceRow& one : profile.bottleneck.evidence)
    found.push_back(one.signal + ": " + one.observation);
  return found;
}

std::vector<std::string> titles(const model::Profile& profile) {
  std::vector<std::string> all;
  for (const model::StrategyStep& step : profile.strategy_order) all.push_back(step.title);
  return all;
}

base::Error unreadable(const std::string& found, std::size_t steps) {
  return {base::ErrorKind::usage, "numbers of the steps to keep, from 1 to " + std::to_string(steps) + ", each once",
          found, "", "such as \"2 1\", or \"drop 2\""};
}

Question question_about(const model::Profile& profile, bool alone) {
  Question question;
  question.headline = alone ? "Keep this plan for optimize?" : "Go on to optimize with this plan?";
  question.items = plan_items(profile);
  question.editable = question.items.size() > 1;
  question.accept = alone ? "keep this plan for optimize" : "go on to optimize with this plan";
  question.stop = "stop here; the profile is kept";
  return question;
}

struct Planned {
  std::string steps;
};

void fields(auto& archive, model::of<Planned> auto& planned) { archive.required("steps", planned.steps); }

base::Result<void> write_plan(const model::Profile& profile, const Workspace& workspace, const Ports& ports,
                              Journal& journal, const std::string& key) {
  if (auto written = workspace.write("profile.json", model::to_json(profile)); !written) return written;
  if (auto written = ports.documents.write_profile(workspace, profile); !written) return written;
  std::vector<std::string> steps;
  for (const model::StrategyStep& step : profile.strategy_order) steps.push_back(step.strategy);
  return journal.append(kPlanned, key, Planned{base::join_text(steps, ", ")});
}

}  // namespace

std::vector<Item> plan_items(const model::Profile& profile) {
  std::vector<Item> items;
  for (const model::StrategyStep& step : profile.strategy_order) {
    Item item{std::to_string(items.size() + 1), step.title, {{"reason", known(step.reason, "none recorded")}}};
    for (const std::string& one : evidence_of(profile, step)) item.details.emplace_back("evidence", one);
    item.details.emplace_back("bound", known(step.bound, "not known"));
    item.details.emplace_back("risk", known(step.risk, "none stated"));
    items.push_back(std::move(item));
  }
  return items;
}

base::Result<std::vector<std::size_t>> parse_order(const std::string& text, std::size_t steps) {
  std::string words = text;
  std::replace(words.begin(), words.end(), ',', ' ');
  const bool drops = base::starts_with(base::trim(words), "drop");
  if (drops) words = base::trim(words).substr(4);
  std::vector<std::size_t> named, kept;
  std::istringstream reader(words);
  for (std::string word; reader >> word;) {
    std::size_t step = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), step);
    if (error != std::errc() || end != word.data() + word.size() || step < 1 || step > steps)
      return unreadable("'" + word + "'", steps);
    if (std::find(named.begin(), named.end(), step - 1) != named.end()) return unreadable(word + " twice", steps);
    named.push_back(step - 1);
  }
  if (named.empty()) return unreadable("no step", steps);
  if (!drops) return named;
  for (std::size_t step = 0; step < steps; ++step)
    if (std::find(named.begin(), named.end(), step) == named.end()) kept.push_back(step);
  if (kept.empty()) return unreadable("every step dropped", steps);
  return kept;
}

void reorder(model::Profile& profile, const std::vector<std::size_t>& order, const std::string& at) {
  if (profile.plan_note.empty())
    profile.plan_note = "The order was changed at the checkpoint on " + at +
                        "; recommended was: " + base::join_text(titles(profile), ", ");
  std::vector<model::StrategyStep> steps;
  for (const std::size_t step : order) steps.push_back(profile.strategy_order.at(step));
  profile.strategy_order = std::move(steps);
}

base::Result<Decision> confirm_plan(model::Profile& profile, const Workspace& workspace, const Ports& ports,
                                    base::Clock& clock, const Asking& asking) {
  if (auto decision = decided_unasked(ports, asking)) return *decision;
  HONE_TRY(journal, Journal::open(ports.files, clock, workspace.at("journal.jsonl"), run_identity(profile)));
  const std::string key = "profile|" + profile.created;
  while (true) {
    auto decision = ask(ports, *journal, key, question_about(profile, asking.alone), asking);
    if (!decision || decision->choice != Choice::edit) return decision;
    reorder(profile, decision->order, clock.utc());
    HONE_PROPAGATE(write_plan(profile, workspace, ports, *journal, key));
    ports.documents.show_plan(profile);
  }
}

}  // namespace hone::stages

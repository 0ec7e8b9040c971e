#include "stages/checkpoint.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace hone::stages {

namespace {

constexpr const char* kWords[] = {"accept", "another", "edit", "stop"};
constexpr const char* kSpent = "spent";

std::string word(Choice choice) { return kWords[static_cast<int>(choice)]; }

bool names_one(const Question& question, const std::string& alternative) {
  const auto& known = question.alternatives;
  return std::find(known.begin(), known.end(), alternative) != known.end();
}

// Some of the question's items, each at most once.
bool is_order(const Question& question, const std::vector<std::size_t>& order) {
  std::vector<std::size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  return question.editable && !order.empty() && sorted.back() < question.items.size() &&
         std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

// The answer that an earlier run was given, as far as it led that run on.
std::optional<Reply> answered_before(const Journal& journal, const std::string& key, const Question& question) {
  const Record* record = journal.find(kAnswered, key);
  if (record == nullptr) return std::nullopt;
  Reply reply;
  reply.alternative = record->text_at("alternative");
  if (record->text_at("choice") == word(Choice::accept)) return reply.choice = Choice::accept, reply;
  if (record->text_at("choice") == word(Choice::another) && names_one(question, reply.alternative))
    return reply.choice = Choice::another, reply;
  return std::nullopt;
}

base::Result<void> keep(Journal& journal, const std::string& key, const Question& question, const Reply& reply) {
  if (!reply.given || reply.choice == Choice::edit) return {};  // an edited plan has a record of its own
  Record record;
  record.event = kAnswered;
  record.text = {{"question", question.headline}, {"choice", word(reply.choice)}};
  if (reply.choice == Choice::another) record.text["alternative"] = reply.alternative;
  return journal.append(key, std::move(record));
}

}  // namespace

std::optional<Decision> decided_unasked(const Ports& ports, const Asking& asking) {
  Decision decision;
  decision.next_command = asking.next_command;
  if (asking.autonomous) return decision;
  if (ports.interaction.available()) return std::nullopt;
  decision.ended = true;
  return decision;
}

base::Result<Decision> ask(const Ports& ports, Journal& journal, const std::string& key, const Question& question,
                           const Asking& asking) {
  Reply reply;
  if (const auto before = answered_before(journal, key, question)) {
    reply = *before;
    const std::string what = reply.choice == Choice::accept ? question.accept : "choose " + reply.alternative;
    ports.progress.message("answered on " + journal.find(kAnswered, key)->text_at("at") + ", not asked again: " + what);
  } else {
    reply = ports.interaction.ask(question);
    // An answer that names nothing offered must never pass as consent.
    if ((reply.choice == Choice::another && !names_one(question, reply.alternative)) ||
        (reply.choice == Choice::edit && !is_order(question, reply.order)))
      reply = {};
    HONE_PROPAGATE(keep(journal, key, question, reply));
  }
  return Decision{reply.choice, reply.alternative, reply.order, false, asking.next_command};
}

base::Result<void> forget_answer(Journal& journal, const std::string& key) {
  const Record* record = journal.find(kAnswered, key);
  if (record == nullptr || record->text_at("choice") == kSpent) return {};
  Record spent;
  spent.event = kAnswered;
  spent.text = {{"choice", kSpent}};
  return journal.append(key, std::move(spent));
}

std::string key_of(const std::string& stage, const Question& question) {
  std::string text = question.headline;
  for (const std::string& line : question.lines) text += "\n" + line;
  for (const Item& item : question.items)
    for (const auto& [label, detail] : item.details) text += "\n" + item.name + " " + label + " " + detail;
  return stage + "|" + base::content_hash(text);
}

}  // namespace hone::stages

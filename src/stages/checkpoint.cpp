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

struct Answered {
  std::string question, choice, alternative;
  std::string at = {};  // the journal's own
};

template <class Archive>
void fields(Archive& archive, model::of<Answered> auto& answered) {
  archive.optional("question", answered.question, model::As::left_out_if_empty);
  archive.optional("choice", answered.choice);
  archive.optional("alternative", answered.alternative, model::As::left_out_if_empty);
  if constexpr (Archive::reads) archive.optional("at", answered.at);
}

// As far as the answer that an earlier run was given led that run on.
std::optional<Reply> reply_of(const Answered& answered, const Question& question) {
  Reply reply;
  reply.alternative = answered.alternative;
  if (answered.choice == word(Choice::accept)) return reply.choice = Choice::accept, reply;
  if (answered.choice == word(Choice::another) && names_one(question, reply.alternative))
    return reply.choice = Choice::another, reply;
  return std::nullopt;
}

base::Result<void> keep(Journal& journal, const std::string& key, const Question& question, const Reply& reply) {
  if (!reply.given || reply.choice == Choice::edit) return {};  // an edited plan has a record of its own
  const std::string alternative = reply.choice == Choice::another ? reply.alternative : "";
  return journal.append(kAnswered, key, Answered{question.headline, word(reply.choice), alternative});
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
  const auto answered = journal.find<Answered>(kAnswered, key);
  if (const auto before = answered ? reply_of(*answered, question) : std::nullopt) {
    reply = *before;
    const std::string what = reply.choice == Choice::accept ? question.accept : "choose " + reply.alternative;
    ports.progress.message("answered on " + answered->at + ", not asked again: " + what);
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
  const auto answered = journal.find<Answered>(kAnswered, key);
  if (!answered || answered->choice == kSpent) return {};
  return journal.append(kAnswered, key, Answered{"", kSpent, ""});
}

std::string key_of(const std::string& stage, const Question& question) {
  std::string text = question.headline;
  for (const std::string& line : question.lines) text += "\n" + line;
  for (const Item& item : question.items)
    for (const auto& [label, detail] : item.details) text += "\n" + item.name + " " + label + " " + detail;
  return stage + "|" + base::content_hash(text);
}

}  // namespace hone::stages

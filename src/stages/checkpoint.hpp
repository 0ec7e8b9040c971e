// A checkpoint: a stage puts its result before a person, who goes on, chooses otherwise, changes the plan or stops. What was
// answered stands in the journal, and a run that goes on after a kill does not ask it again.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "stages/journal.hpp"
#include "stages/ports.hpp"

namespace hone::stages {

struct Asking {
  bool autonomous = false;
  bool alone = false;        // no stage follows in this command
  std::string next_command;  // what goes on after the stage
};

// `ended`: nobody could be asked, the stage ends here and `next_command` goes on.
struct Decision {
  Choice choice = Choice::accept;
  std::string alternative;
  std::vector<std::size_t> order;
  bool ended = false;
  std::string next_command;
};

// Autonomous runs accept; without a terminal the stage ends with the next command to type. Nothing: a person is asked.
std::optional<Decision> decided_unasked(const Ports& ports, const Asking& asking);

// Asks, and keeps the answer under `key`; an answer that an earlier run kept there is taken instead, unless it ended that run. An
// error only where the journal can not be written.
base::Result<Decision> ask(const Ports& ports, Journal& journal, const std::string& key, const Question& question,
                           const Asking& asking);

// The answer under `key` has had its effect: the next time the question comes up it is asked.
base::Result<void> forget_answer(Journal& journal, const std::string& key);

// A key for a question whose figures come from the journal: the same question is the same text.
std::string key_of(const std::string& stage, const Question& question);

}  // namespace hone::stages

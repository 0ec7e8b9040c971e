#include "stages/ports.hpp"

#include <algorithm>

namespace hone::stages {

base::Result<void> check_interrupt(const Ports& ports, const std::string& next_command) {
  if (!ports.interrupted.load()) return {};
  return base::Error{base::ErrorKind::interrupted, "to run to the end",
                     "stopped by the user; what was measured is kept", "", "'" + next_command + "' goes on from here"};
}

Decision checkpoint(const Ports& ports, bool autonomous, const Question& question, const std::string& next_command) {
  Decision decision;
  decision.next_command = next_command;
  if (autonomous) return decision;
  if (!ports.interaction.available()) {
    decision.ended = true;
    return decision;
  }
  const Reply reply = ports.interaction.ask(question);
  decision.choice = reply.choice;
  decision.alternative = reply.alternative;
  const auto& known = question.alternatives;
  // An answer that names nothing offered must never pass as consent.
  if (reply.choice == Choice::another && std::find(known.begin(), known.end(), reply.alternative) == known.end()) {
    decision.choice = Choice::stop;
  }
  return decision;
}

}  // namespace hone::stages

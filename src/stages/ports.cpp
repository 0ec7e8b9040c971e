#include "stages/ports.hpp"

#include <algorithm>

namespace hone::stages {

base::Result<void> check_interrupt(const Ports& ports, const std::string& next_command, AfterInterrupt after) {
  if (!ports.interrupted.load()) return {};
  const bool goes_on = after == AfterInterrupt::goes_on;
  return base::Error{base::ErrorKind::interrupted, "to run to the end",
                     goes_on ? "stopped by the user; what was measured is kept"
                             : "stopped by the user; nothing was changed and nothing of this run is kept",
                     "", "'" + next_command + "' " + (goes_on ? "goes on from here" : "begins anew")};
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

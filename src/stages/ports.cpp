#include "stages/ports.hpp"

namespace hone::stages {

base::Result<void> check_interrupt(const Ports& ports, const std::string& next_command, AfterInterrupt after) {
  if (!ports.interrupted.load()) return {};
  const bool goes_on = after == AfterInterrupt::goes_on;
  return base::Error{base::ErrorKind::interrupted, "to run to the end",
                     goes_on ? "stopped by the user; what was measured is kept"
                             : "stopped by the user; nothing was changed and nothing of this run is kept",
                     "", "'" + next_command + "' " + (goes_on ? "goes on from here" : "begins anew")};
}

}  // namespace hone::stages

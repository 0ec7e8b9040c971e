// Stage 3: the winner into production, through gates that can take it back, and the report a reviewer asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/protocol.hpp"
#include "model/report.hpp"
#include "stages/checkpoint.hpp"
#include "stages/ports.hpp"
#include "stages/trial/kernel.hpp"

namespace hone::stages {

struct FinalizeOptions : Asking {
  std::string variant;  // "3" or "v3"; empty: the comparison's winner
  std::uint64_t seed = 0;
  measure::Budget table{8, 40, 600'000'000, 1, 0.7};
  measure::Budget verdict{10, 200, 900'000'000, 2, 0.5};
  std::string command;           // as typed
  std::string optimize_command;  // of the stage before this one, for the report
};

enum class Ending {
  applied,          // production is the new one, every gate passed
  already_applied,  // this variant is in production since an earlier run
  nothing_to_gain,  // v0 is the winner: nothing was changed
  inconclusive,     // what could be measured here does not tell (exit code 4): production is what it was
  reverted          // a gate failed, it is not faster, or the person said no: production is what it was
};

struct FinalizeOutcome {
  Ending ending = Ending::nothing_to_gain;
  bool gate_failed =
      false;  // of a reverted one: exit code 5; a gain that was not confirmed, or a no at the checkpoint, is none
  model::Report report;
  Decision decision;
};

// Takes back what a killed run installed and did not verify; says what it did, nothing when there was nothing. To be called
// before a session is opened on this workspace's kernel, by every command: a session must not take it for the original.
base::Result<std::optional<std::string>> recover_installation(const Workspace& workspace, base::Clock& clock);

// Errors: inputs missing (all of them listed) or production changed since the snapshot and nobody accepted it (pre-flight); a
// variant that does not exist (usage); a full disk, a stop. Once production was touched they end with "production is restored",
// and no report stays. What can not be measured is no error: the report says inconclusive.
base::Result<FinalizeOutcome> finalize(const Kernel& kernel, const FinalizeOptions& options, const Workspace& workspace,
                                       const Ports& ports);

}  // namespace hone::stages

// `hone compare A B`: two variants of one kernel against each other, paired, at every cell.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "measure/protocol.hpp"
#include "model/profile.hpp"
#include "model/variant.hpp"
#include "repository/cell.hpp"
#include "stages/ports.hpp"
#include "stages/trial/kernel.hpp"

namespace hone::stages {

struct CompareRequest {
  // "v0", "v3", the path of a variant file (.json), or of a text of the kernel's main source; a commit where `texts` has its
  // text.
  std::string baseline, candidate;
  measure::Budget budget;
  std::uint64_t seed = 0;
  std::string command;                       // as typed
  std::map<std::string, std::string> texts;  // main source texts that are no files: by the name they go by
};

struct ComparedCell {
  repository::Cell cell;
  model::Comparison comparison;
};

struct CompareOutcome {
  std::string kernel, device, baseline, candidate;
  std::vector<ComparedCell> cells;
};

// v0 is the source and the settings that `profile` was taken of, and every variant is built on them: they must be in force
// still. Errors: they are not, or the device is another one (pre-flight); a variant that does not exist (usage), does not compile,
// fails its smoke gate or is faster than the physical bound (gate); a stop by the user. A cell that can not be judged is
// unresolved with the reason.
base::Result<CompareOutcome> compare(const Kernel& kernel, const model::Profile& profile, const CompareRequest& request,
                                     const Workspace& workspace, const Ports& ports);

std::string to_json(const CompareOutcome& outcome);  // hone.compare/1

}  // namespace hone::stages

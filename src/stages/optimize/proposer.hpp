// An outside program that proposes source variants (--proposer CMD). It gets a folder with the profile, all notes, the original
// source and request.json, and writes variant.* and hypothesis.md there, or exits 10 for "nothing more to propose". It never
// sees references, inputs or timers. Whatever it does is an answer; nothing it does ends the run.
#pragma once

#include <string>
#include <vector>

#include "model/variant.hpp"
#include "repository/changeable.hpp"
#include "stages/trial/lab.hpp"

namespace hone::stages {

struct ProposerAnswer {
  enum class Kind { proposal, nothing_more, failed };
  Kind kind = Kind::failed;
  std::string reason;  // of a failure, or what the exit meant
  repository::Proposal proposal;
};

// What was tried, for request.json.
struct TriedVariant {
  std::string id, parent, strategy, status, reason;
};

// request.json (hone.proposal/1).
struct ProposalRequest {
  std::string kernel, best, original, variant_file, bottleneck;
  std::vector<TriedVariant> tried;
};
std::string request_json(const ProposalRequest& request);

// Asks once. `number` names the folder proposer/{number}; an answer that is in the journal is not asked for again. Errors only
// for hone's own files and a stop by the user.
base::Result<ProposerAnswer> ask_proposer(Lab& lab, repository::Changeable& changeable, int number,
                                          const model::Variant& best, const std::vector<TriedVariant>& tried,
                                          const std::vector<std::string>& notes_files);

// Lines "predict MODE @ X = RATIO" of a hypothesis, at cells that exist.
std::vector<model::Prediction> predictions_of(const std::string& hypothesis,
                                              const std::vector<repository::Cell>& cells);

}  // namespace hone::stages

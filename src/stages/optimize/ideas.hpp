// What to try next: combinations of parts that were measured, the outside proposer, then the profile's strategies in order. The
// parameter sweep has its place among these; where it is the first, it comes before everything else.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "repository/changeable.hpp"
#include "stages/optimize/proposer.hpp"
#include "stages/trial/evaluate.hpp"
#include "stages/trial/lab.hpp"

namespace hone::stages {

inline constexpr char kSweepStrategy[] = "parameter-sweep";

struct Idea {
  bool sweep = false;             // the parameter sweep; otherwise
  repository::Proposal proposal;  // a change, never one that was tried before
};

class Ideas {
 public:
  Ideas(Lab& lab, repository::Changeable& changeable) : lab_(lab), changeable_(changeable) {}

  // The next change against `best`; nothing when all sources are used up.
  base::Result<std::optional<Idea>> next(const model::Variant& best, const std::vector<TriedVariant>& tried,
                                         const std::vector<std::string>& notes_files);
  // A mixed variant leaves its winning part for a combination with the best so far.
  void offer_parts(const Evaluation& mixed) { parts_.push_back(mixed); }

  const std::vector<std::string>& findings() const { return findings_; }

 private:
  std::optional<repository::Proposal> combination(const model::Variant& best);
  std::optional<Idea> from_strategies(const model::Variant& best);
  bool sweep_is_due();  // once
  bool is_new(const model::Variant& variant) { return tried_.insert(signature(variant)).second; }

  Lab& lab_;
  repository::Changeable& changeable_;
  std::set<std::string> tried_;
  std::deque<Evaluation> parts_;
  std::size_t strategy_ = 0;  // index into the profile's strategy order
  int of_strategy_ = 0;       // proposals taken from it
  int asked_ = 0;             // questions to the proposer
  bool proposer_done_ = false;
  std::vector<std::string> findings_;
};

// The settings of `mixed` at the sizes where it was significantly faster, those of `best` elsewhere. Nothing when no pass has
// such a part or the variant changes source.
std::optional<repository::Proposal> combine(const Evaluation& mixed, const model::Variant& best,
                                            const std::string& x_name, const std::vector<std::string>& sizes);

}  // namespace hone::stages

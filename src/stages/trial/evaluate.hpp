// One variant through the whole gauntlet: compile, same machine code?, smoke gate, paired measurement on every cell, guardrails,
// verdict. Whatever fails is the variant's result; only a broken baseline, a full disk or the user end the run.
#pragma once

#include <vector>

#include "model/variant.hpp"
#include "stages/trial/guardrails.hpp"
#include "stages/trial/lab.hpp"

namespace hone::stages {

// A variant with what the compiler made of it.
struct Contestant {
  model::Variant variant;
  repository::Built built;
};

struct Evaluation {
  Contestant contestant;
  Ruling ruling;
  std::vector<CellResult> against_v0, against_parent;  // against_parent: passes in scope and cells with a prediction
  std::vector<MemoryResult> memory;                    // against v0
  std::vector<model::GuardrailCheck> guardrails;
  Gain gain;              // over the passes in scope, against the parent
  bool measured = false;  // got as far as its timings
};

// Compiles what must exist: v0 and the variants on which others build.
base::Result<Contestant> contestant_of(Lab& lab, const model::Variant& variant);

base::Result<Evaluation> evaluate(Lab& lab, const Contestant& original, const Contestant& parent,
                                  const model::Variant& variant, const std::vector<model::Prediction>& predictions);

Aim aim_of(Lab& lab);

// The same machine code and launches at the cell: nothing to time there, the ratio is 1 by construction.
bool same_code(const std::vector<std::string>& modes, const repository::Built& a, const repository::Built& b,
               const repository::Cell& cell);

// Rows of results as documents show them: speed at every cell and memory at every size, against v0.
std::vector<model::ResultRow> result_rows(const Evaluation& evaluation);

}  // namespace hone::stages
